//! A fabric joins nodes by name: what one sends, the other gets, and who comes, goes, dies or lies is noticed.

#![cfg(feature = "zenoh")]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use kinesphere::link::zenoh::{Fabric, FabricError, FabricSettings, Locator, NodeCertificates, NodeTrust, Passwords};
use kinesphere::link::{Channel, Inbox, LinkEvent, LinkId, LinkLimits, Links, NodeName, Outbox, Party, Transport};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tokio::time::timeout;
use zenoh::qos::CongestionControl;

/// Nothing here takes longer, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn label(name: &str) -> NodeName {
    name.parse().unwrap()
}

/// A free endpoint on this machine.
fn free() -> Locator {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("127.0.0.1:{}", listener.local_addr().unwrap().port()).parse().unwrap()
}

fn settings(node: &str, listen: &[&Locator], connect: &[&Locator]) -> FabricSettings {
    let all = |endpoints: &[&Locator]| endpoints.iter().map(|&endpoint| endpoint.clone()).collect();
    FabricSettings {
        world: label("hall"),
        node: label(node),
        listen: all(listen),
        connect: all(connect),
        patience: Some(PATIENCE),
        // No node freezes here, and on a machine that stalls none may be taken for frozen.
        lease: PATIENCE,
        introductions: false,
        trust: NodeTrust::Anyone,
    }
}

/// A node and what it hears.
struct Member {
    fabric: Fabric,
    inbox: Inbox,
}

impl Member {
    async fn open(settings: &FabricSettings) -> Member {
        Member::within(settings, LinkLimits::between_nodes()).await
    }

    async fn within(settings: &FabricSettings, limits: LinkLimits) -> Member {
        let (links, inbox) = Links::new(limits);
        let fabric = Fabric::open(settings, links).await.unwrap();
        Member { fabric, inbox }
    }

    async fn next(&mut self) -> LinkEvent {
        timeout(PATIENCE, self.inbox.next()).await.expect("something happens").expect("links are there")
    }

    /// The next to come.
    async fn comer(&mut self) -> (NodeName, LinkId, Outbox) {
        match self.next().await {
            LinkEvent::Opened { link, peer: Party::Node(node), transport: Transport::Zenoh, outbox } => {
                (node, link, outbox)
            }
            other => panic!("expected a node to come: {other:?}"),
        }
    }

    async fn message(&mut self) -> (LinkId, Channel, Bytes) {
        match self.next().await {
            LinkEvent::Received { link, channel, bytes, .. } => (link, channel, bytes),
            other => panic!("expected a message: {other:?}"),
        }
    }

    async fn goer(&mut self) -> LinkId {
        loop {
            if let LinkEvent::Closed { link, .. } = self.next().await {
                return link;
            }
        }
    }

    /// Whether nothing happens for a while.
    async fn hears_nothing(&mut self) -> bool {
        timeout(Duration::from_millis(500), self.inbox.next()).await.is_err()
    }
}

/// Why the node is not let in, within a time limit.
async fn refusal(settings: FabricSettings, patience_ms: u64) -> String {
    let (links, _inbox) = Links::new(LinkLimits::between_nodes());
    let settings = FabricSettings { patience: Some(Duration::from_millis(patience_ms)), ..settings };
    Fabric::open(&settings, links).await.map(|_| ()).unwrap_err().to_string()
}

async fn two() -> (Member, Member) {
    let endpoint = free();
    let ann = Member::open(&settings("ann", &[&endpoint], &[])).await;
    let bob = Member::open(&settings("bob", &[], &[&endpoint])).await;
    (ann, bob)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_come_whole_and_in_order_on_both_channels() {
    let (mut ann, mut bob) = two().await;
    let (node, link, to_bob) = ann.comer().await;
    assert_eq!(node, label("bob"));
    let (node, _, to_ann) = bob.comer().await;
    assert_eq!(node, label("ann"));
    let sizes = [1, 1_000, 65_535, 65_536, 300_000, 1 << 20, 2];
    for (number, &size) in (0..).zip(&sizes) {
        to_ann.send(Channel::Stream, Bytes::from(vec![number; size])).unwrap();
    }
    for (number, &size) in (0..).zip(&sizes) {
        assert_eq!(ann.message().await, (link, Channel::Stream, Bytes::from(vec![number; size])));
    }
    for (size, filling) in [(1, 7), (1_100, 8), (1 << 18, 9)] {
        // One at a time, and again if it is dropped, as it may be where a queue stays full for a moment.
        let (channel, bytes) = loop {
            to_bob.send(Channel::Datagram, Bytes::from(vec![filling; size])).unwrap();
            if let Ok((_, channel, bytes)) = timeout(PATIENCE / 10, bob.message()).await
                && bytes[0] == filling
            {
                break (channel, bytes);
            }
        };
        assert_eq!((channel, bytes), (Channel::Datagram, Bytes::from(vec![filling; size])));
    }
    assert!(to_bob.send(Channel::Datagram, Bytes::from(vec![7; (1 << 18) + 1])).is_err());

    to_ann.send(Channel::Stream, Bytes::from_static(b"goodbye")).unwrap();
    bob.fabric.close().await;
    assert_eq!(ann.message().await.2, "goodbye");
    assert_eq!(ann.goer().await, link);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_comes_late_is_introduced_to_all_and_one_that_comes_back_has_a_new_link() {
    let (first, second) = (free(), free());
    let introduced = |mut settings: FabricSettings| {
        settings.introductions = true;
        settings
    };
    let mut ann = Member::open(&introduced(settings("ann", &[&first], &[]))).await;
    let bob = Member::open(&introduced(settings("bob", &[&second], &[&first]))).await;
    let (_, old, _) = ann.comer().await;
    // It knows of one, and hears of the other.
    let mut carl = Member::open(&introduced(settings("carl", &[], &[&first]))).await;
    let mut met = [carl.comer().await.0, carl.comer().await.0];
    met.sort();
    assert_eq!(met, [label("ann"), label("bob")]);
    assert_eq!(ann.comer().await.0, label("carl"));

    drop(bob);
    assert_eq!(ann.goer().await, old);
    let _bob = Member::open(&introduced(settings("bob", &[], &[&first]))).await;
    let (node, new, _) = ann.comer().await;
    assert_eq!(node, label("bob"));
    assert_ne!(new, old);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worlds_do_not_hear_of_each_other_and_names_are_not_shared() {
    let endpoint = free();
    let mut ann = Member::open(&settings("ann", &[&endpoint], &[])).await;
    let elsewhere = FabricSettings { world: label("garden"), ..settings("bob", &[], &[&endpoint]) };
    let mut bob = Member::open(&elsewhere).await;
    assert!(ann.hears_nothing().await && bob.hears_nothing().await);

    let (links, _inbox) = Links::new(LinkLimits::between_nodes());
    let again = Fabric::open(&settings("ann", &[], &[&endpoint]), links).await;
    assert!(matches!(again.map(|_| ()), Err(FabricError::NameTaken(name)) if name == label("ann")));
}

/// The reader sleeps: its link ends with a reason, the sender's memory stays bounded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_costs_no_more_than_was_agreed() {
    let endpoint = free();
    let limits = LinkLimits { reliable_bytes_max: 10_000, unread_max: 4, ..LinkLimits::between_nodes() };
    let mut ann = Member::within(&settings("ann", &[&endpoint], &[]), limits).await;
    let mut bob = Member::open(&settings("bob", &[], &[&endpoint])).await;
    let (_, _, to_ann) = bob.comer().await;
    // Ann may not have seen Bob yet, and keeps a few of his messages until then: what is more of them ends a link in
    // another way.
    let (_, link, _) = ann.comer().await;
    for _ in 0..100 {
        to_ann.send(Channel::Datagram, Bytes::from(vec![1; 100])).unwrap();
        to_ann.send(Channel::Stream, Bytes::from(vec![2; 1_000])).unwrap();
    }
    let (mut states, mut event_bytes) = (0, 0);
    // Nothing is read before the flood is over: all of it was sent by then, or the link is closed.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut held = Vec::new();
    loop {
        match ann.next().await {
            LinkEvent::Received { channel, bytes, room, .. } => {
                held.push(room);
                match channel {
                    Channel::Datagram => states += 1,
                    Channel::Stream => event_bytes += bytes.len(),
                }
            }
            LinkEvent::Closed { link: closed, why } => {
                assert_eq!(closed, link);
                assert!(why.contains("wait"), "{why}");
                break;
            }
            LinkEvent::Opened { .. } => panic!("it opens once"),
        }
    }
    assert!(states <= 4 && event_bytes <= 10_000, "{states} states, {event_bytes} bytes of events");
}

/// The bug that this keeps out: a link that one side had closed was closed for good, as the other lived on. The other
/// kept its own open, and sent into it what nobody heard until one of the two was started again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_one_side_closed_begins_anew_at_both() {
    let (mut ann, mut bob) = two().await;
    let (_, mut ann_link, mut to_bob) = ann.comer().await;
    let (_, mut bob_link, mut to_ann) = bob.comer().await;
    to_ann.send(Channel::Stream, Bytes::from_static(b"hello")).unwrap();
    assert_eq!(ann.message().await.2, "hello");
    for round in 0..3_u8 {
        // What the other says into the closed link is not heard on the next one.
        to_bob.close();
        assert_eq!(ann.goer().await, ann_link);
        for _ in 0..10 {
            let _ = to_ann.send(Channel::Stream, Bytes::from_static(b"nobody hears this"));
        }
        let (node, link, outbox) = ann.comer().await;
        assert!(node == label("bob") && link != ann_link);
        (ann_link, to_bob) = (link, outbox);
        assert_eq!(bob.goer().await, bob_link);
        let (node, link, outbox) = bob.comer().await;
        assert!(node == label("ann") && link != bob_link);
        (bob_link, to_ann) = (link, outbox);
        for number in 0..5 {
            to_ann.send(Channel::Stream, Bytes::from(vec![round, number])).unwrap();
            to_bob.send(Channel::Stream, Bytes::from(vec![number, round])).unwrap();
        }
        for number in 0..5 {
            assert_eq!(ann.message().await, (ann_link, Channel::Stream, Bytes::from(vec![round, number])));
            assert_eq!(bob.message().await, (bob_link, Channel::Stream, Bytes::from(vec![number, round])));
        }
        loop {
            to_ann.send(Channel::Datagram, Bytes::from_static(b"a datagram")).unwrap();
            if let Ok((link, channel, bytes)) = timeout(PATIENCE / 10, ann.message()).await {
                assert_eq!((link, channel, &bytes[..]), (ann_link, Channel::Datagram, &b"a datagram"[..]));
                break;
            }
        }
    }
}

/// A reader that was too slow once is heard, and hears, when it reads again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_was_parted_with_for_a_flood_is_welcome_again() {
    let endpoint = free();
    let limits = LinkLimits { reliable_bytes_max: 10_000, ..LinkLimits::between_nodes() };
    let mut ann = Member::within(&settings("ann", &[&endpoint], &[]), limits).await;
    let mut bob = Member::open(&settings("bob", &[], &[&endpoint])).await;
    let (_, _, to_ann) = bob.comer().await;
    for _ in 0..100 {
        to_ann.send(Channel::Stream, Bytes::from(vec![2; 1_000])).unwrap();
    }
    // It reads nothing for a while.
    tokio::time::sleep(Duration::from_secs(1)).await;
    ann.comer().await;
    ann.goer().await;
    let (_, link, _) = ann.comer().await;
    bob.goer().await;
    let (_, _, to_ann) = bob.comer().await;
    to_ann.send(Channel::Stream, Bytes::from_static(b"here again")).unwrap();
    assert_eq!(ann.message().await, (link, Channel::Stream, Bytes::from_static(b"here again")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_who_knows_a_password_comes_in_and_says_nothing_under_another_name() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        NodeTrust::Passwords(Passwords::read(&file).unwrap())
    };
    let right = write("right", "ann:one\nbob:two\ncarl:three\n");
    let wrong = write("wrong", "ann:one\nbob:guessed\n");
    let endpoint = free();
    let with = |trust: &NodeTrust, settings: FabricSettings| FabricSettings { trust: trust.clone(), ..settings };
    let mut ann = Member::open(&with(&right, settings("ann", &[&endpoint], &[]))).await;

    for trust in [&wrong, &NodeTrust::Anyone] {
        let error = refusal(with(trust, settings("bob", &[], &[&endpoint])), 2_000).await;
        assert!(error.contains("does not let bob in"), "{error}");
    }
    assert!(ann.hears_nothing().await);

    let mut bob = Member::open(&with(&right, settings("bob", &[], &[&endpoint]))).await;
    let (_, _, to_ann) = bob.comer().await;
    let (_, link, _) = ann.comer().await;
    to_ann.send(Channel::Stream, Bytes::from_static(b"mine")).unwrap();
    assert_eq!(ann.message().await, (link, Channel::Stream, Bytes::from_static(b"mine")));

    // A liar: Zenoh alone, with bob's password and carl's keys.
    bob.fabric.close().await;
    assert_eq!(ann.goer().await, link);
    let file = folder.path().join("right").display().to_string();
    let liar = liar(
        &endpoint,
        &[("transport/auth/usrpwd", format!(r#"{{ user: "bob", password: "two", dictionary_file: "{file}" }}"#))],
    )
    .await;
    only_bob_is_heard(&liar, &mut ann).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_is_shown_by_both_ends_and_its_name_is_the_only_one() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "authority");
    let stranger = Authority::new(folder.path(), "stranger");
    let members = ["ann", "bob", "carl"].map(label);
    let trust = |by: &Authority, name: &str| {
        let (certificate, key) = by.sign(name);
        NodeTrust::Certificates(NodeCertificates {
            authority: authority.file.clone(),
            certificate,
            key,
            members: members.to_vec(),
        })
    };
    let endpoint = free();
    let with = |trust: NodeTrust, settings: FabricSettings| FabricSettings { trust, ..settings };
    let mut ann = Member::open(&with(trust(&authority, "ann"), settings("ann", &[&endpoint], &[]))).await;

    let error = refusal(with(trust(&stranger, "bob"), settings("bob", &[], &[&endpoint])), 2_000).await;
    assert!(error.contains("does not let bob in"), "{error}");
    assert!(ann.hears_nothing().await);

    let mut bob = Member::open(&with(trust(&authority, "bob"), settings("bob", &[], &[&endpoint]))).await;
    let (_, _, to_ann) = bob.comer().await;
    let (_, link, to_bob) = ann.comer().await;
    to_ann.send(Channel::Stream, Bytes::from_static(b"mine")).unwrap();
    assert_eq!(ann.message().await, (link, Channel::Stream, Bytes::from_static(b"mine")));
    to_bob.send(Channel::Datagram, Bytes::from_static(b"yours")).unwrap();
    assert_eq!(bob.message().await.2, "yours");

    bob.fabric.close().await;
    assert_eq!(ann.goer().await, link);
    let (certificate, key) = authority.sign("bob");
    let tls = format!(
        r#"{{ root_ca_certificate: "{}", connect_certificate: "{}", connect_private_key: "{}", enable_mtls: true }}"#,
        authority.file.display(),
        certificate.display(),
        key.display()
    );
    let encrypted: Locator = format!("tls/{endpoint}").parse().unwrap();
    let liar = liar(&encrypted, &[("transport/link/tls", tls)]).await;
    only_bob_is_heard(&liar, &mut ann).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_work_is_refused_in_words() {
    let nobody = free();
    let error = refusal(settings("ann", &[], &[&nobody]), 500).await;
    assert_eq!(error, format!("no node answers at {nobody}"));

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint: Locator = format!("127.0.0.1:{}", taken.local_addr().unwrap().port()).parse().unwrap();
    let open = |settings: FabricSettings| refusal(settings, 30_000);
    let error = open(settings("ann", &[&endpoint], &[])).await;
    assert!(error.starts_with(&format!("cannot listen for other nodes on {endpoint}: ")), "{error}");
    assert!(!error.contains(".rs"), "places in somebody's source: {error}");

    let tls: Locator = "tls/127.0.0.1:1".parse().unwrap();
    let error = open(settings("ann", &[], &[&tls])).await;
    assert!(error.contains("need certificates"), "{error}");

    let none = PathBuf::from("nowhere.pem");
    let files = NodeCertificates { authority: none.clone(), certificate: none.clone(), key: none, members: Vec::new() };
    let with = FabricSettings { trust: NodeTrust::Certificates(files), ..settings("ann", &[], &[]) };
    let error = open(with).await;
    assert!(error.contains("cannot read nowhere.pem"), "{error}");
}

/// A liar with bob's proof is heard as bob, and under no other name.
async fn only_bob_is_heard(liar: &zenoh::Session, ann: &mut Member) {
    // First the truth, until it is heard: after that what is not heard is refused, and not merely under way.
    be_there(liar, "bob").await;
    let (node, link, _) = ann.comer().await;
    assert_eq!(node, label("bob"));
    timeout(PATIENCE, async {
        loop {
            speak(liar, "bob", "a word").await;
            if !ann.hears_nothing().await {
                break;
            }
        }
    })
    .await
    .expect("bob is heard");

    be_there(liar, "carl").await;
    speak(liar, "carl", "a lie").await;
    speak(liar, "bob", "the last word").await;
    loop {
        let (from, _, bytes) = ann.message().await;
        assert_eq!(from, link, "carl was heard, and was not there");
        match &bytes[..] {
            b"a word" => {}
            b"the last word" => break,
            other => panic!("nobody said that: {other:?}"),
        }
    }
    assert!(ann.hears_nothing().await, "carl was heard, and was not there");
}

/// Zenoh without a fabric around it.
async fn liar(endpoint: &Locator, more: &[(&str, String)]) -> zenoh::Session {
    let text = endpoint.to_string();
    let locator = if text.contains('/') { text } else { format!("tcp/{text}") };
    let mut config = zenoh::Config::default();
    let values = [
        ("listen/endpoints", "[]".to_owned()),
        ("connect/endpoints", format!("[\"{locator}\"]")),
        ("scouting/multicast/enabled", "false".to_owned()),
        ("scouting/gossip/enabled", "false".to_owned()),
    ];
    for (key, value) in values.iter().chain(more) {
        config.insert_json5(key, value).unwrap();
    }
    let session = zenoh::open(config).await.unwrap();
    let until = std::time::Instant::now() + PATIENCE;
    while session.info().peers_zid().await.next().is_none() {
        assert!(std::time::Instant::now() < until, "it knows the password");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    session
}

async fn be_there(session: &zenoh::Session, name: &str) {
    let token = session.liveliness().declare_token(format!("ks/hall/live/{name}")).await.unwrap();
    // It stays until the session goes.
    std::mem::forget(token);
}

/// In the order of speaking, and not dropped where a queue is full.
async fn speak(session: &zenoh::Session, name: &str, word: &'static str) {
    let put = session.put(format!("ks/hall/b/{name}/ann/event"), word);
    put.congestion_control(CongestionControl::Block).await.unwrap();
}

struct Authority {
    folder: PathBuf,
    name: &'static str,
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    fn new(folder: &Path, name: &'static str) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.self_signed(&key).unwrap();
        let file = folder.join(format!("{name}.pem"));
        fs::write(&file, certificate.pem()).unwrap();
        Authority { folder: folder.to_owned(), name, issuer: Issuer::new(params, key), file }
    }

    /// A certificate and its key.
    fn sign(&self, name: &str) -> (PathBuf, PathBuf) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let files = ["chain", "key"].map(|kind| self.folder.join(format!("{}-{name}-{kind}.pem", self.name)));
        fs::write(&files[0], certificate.pem()).unwrap();
        fs::write(&files[1], key.serialize_pem()).unwrap();
        let [chain, key] = files;
        (chain, key)
    }
}
