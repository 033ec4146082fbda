//! Joining, moving, leaving, coming back, and being turned away: real processes and sockets, on this machine.

mod serving;
mod shell;

use std::time::Duration;

use bytes::Bytes;
use client::ClientSettings;
use futures_util::{SinkExt, StreamExt};
use kinesphere::fetch::{Address, fetch};
use kinesphere::link::client::{Connector, Introduction, ServerAddress};
use kinesphere::link::{Channel, LinkEvent, LinkLimits, Links};
use kinesphere::visit::{Visit, VisitError};
use serving::{PATIENCE, Serving};
use shell::{kinesphere, stderr, stdout};
use tokio_tungstenite::tungstenite::Message;
use wire::{CloseReason, Hello, InputStep, ToClient, ToServer};

fn named(name: &str) -> ClientSettings {
    ClientSettings::named(name)
}

/// The user heard under this name, and its confirmed place.
fn heard(client: &client::Client, name: &str) -> Option<space::GridPoint> {
    client.others().iter().find(|(_, other)| other.entered.name == name).map(|(_, other)| other.confirmed.1)
}

#[tokio::test]
async fn one_joins_moves_and_leaves_and_others_see_it() {
    let server = Serving::start("--in-memory --crowd 0");
    let mut ann = Visit::join(&server.url(), named("Ann")).await.unwrap();
    let mut bob = Visit::join(&server.url(), named("Bob")).await.unwrap();
    assert!(bob.run_until(PATIENCE, |bob| heard(bob, "Ann").is_some()).await, "Bob does not hear of Ann");
    let before = heard(bob.client(), "Ann").unwrap();
    ann.client().intend(InputStep { velocity: [512, 0, 512], ..InputStep::default() });
    let both = async {
        tokio::join!(ann.run_for(Duration::from_secs(3)), bob.run_for(Duration::from_secs(3)));
    };
    both.await;
    let after = heard(bob.client(), "Ann").expect("she is near");
    assert!(after.position().distance(before.position()) > 0.5, "Ann walked, Bob saw {before:?} and {after:?}");
    ann.leave().await;
    assert!(bob.run_until(PATIENCE, |bob| heard(bob, "Ann").is_none()).await, "Ann has left, Bob still hears of her");
    bob.leave().await;
}

#[tokio::test]
async fn a_cut_connection_is_taken_up_again_without_a_second_avatar() {
    let server = Serving::start("--in-memory --crowd 0");
    let mut ann = Visit::join(&server.url(), named("Ann")).await.unwrap();
    let own = ann.client().welcome().unwrap().own;
    ann.cut().await;
    ann.connect(&server.url()).await.unwrap();
    let welcome = ann.client().welcome().unwrap();
    assert!(welcome.is_resumed);
    assert_eq!(welcome.own, own);
}

/// Stopped as one should, and then as one should not: users find their places again either way.
#[tokio::test]
async fn a_world_and_its_users_outlive_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = format!("--data {} --crowd 5 --flush-ms 50 --resume-seconds 60", folder.path().display());
    let mut server = Serving::start(&arguments);
    let mut ann = Visit::join(&server.url(), named("Ann")).await.unwrap();
    let own = ann.client().welcome().unwrap().own;
    ann.client().intend(InputStep { velocity: [512, 0, 0], ..InputStep::default() });
    for is_gentle in [true, false] {
        ann.run_for(Duration::from_secs(2)).await;
        let (tick, was) = (ann.client().newest_tick(), ann.client().own().unwrap().confirmed().pos);
        if is_gentle {
            // She hears the farewell meanwhile.
            let stopping = tokio::task::spawn_blocking(move || server.interrupt());
            ann.run_for(Duration::from_secs(1)).await;
            let said = stopping.await.unwrap();
            assert!(said.contains("the world is kept"), "{said}");
        } else {
            server.kill();
            ann.cut().await;
        }
        server = Serving::start(&arguments);
        ann.connect(&server.url()).await.unwrap();
        let welcome = ann.client().welcome().unwrap();
        assert!(welcome.is_resumed, "gently: {is_gentle}");
        assert_eq!(welcome.own, own);
        // A kill costs 50 ms, an interval, and what the machine was late by.
        let is = welcome.place.position().as_dvec3();
        assert!(is.distance(was) < 3.0, "she was at {was}, after the restart at {is}");
        assert!(welcome.tick + 60 > tick, "tick {tick} was heard of, the world went on from {}", welcome.tick);
    }
}

/// The server's answer to such a hello.
async fn refusal(server: &Serving, settings: ClientSettings) -> (CloseReason, String) {
    match Visit::join(&server.url(), settings).await {
        Err(VisitError::Refused(refused)) => (refused.reason, refused.sentence),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was let in"),
    }
}

#[tokio::test]
async fn whoever_is_turned_away_is_told_why() {
    let server = Serving::start("--in-memory --crowd 0 --clients-max 2");
    let _ann = Visit::join(&server.url(), named("Ann")).await.unwrap();
    let (reason, sentence) = refusal(&server, named("ANN")).await;
    assert_eq!(reason, CloseReason::NicknameTaken);
    assert!(sentence.contains("choose another name"), "{sentence}");
    assert_eq!(refusal(&server, named("two\u{202e}words")).await.0, CloseReason::Nickname);
    assert_eq!(refusal(&server, ClientSettings { avatar: 200, ..named("Bob") }).await.0, CloseReason::Avatar);
    let _bob = Visit::join(&server.url(), named("Bob")).await.unwrap();
    let (reason, sentence) = refusal(&server, named("Cat")).await;
    assert_eq!(reason, CloseReason::Full);
    assert!(sentence.contains("full"), "{sentence}");

    let hello = ToServer::Hello(Hello { version: 999, nickname: "Dan".to_owned(), ..Hello::default() });
    let ToClient::Refused(refused) = answer(&server, &hello.encode()).await else { panic!("a version of its own") };
    assert_eq!(refused.reason, CloseReason::Version);
    assert!(refused.sentence.contains("999"), "{}", refused.sentence);
}

#[tokio::test]
async fn one_can_ask_why() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let server = Serving::start(&format!("--data {data} --crowd 0 --flush-ms 20"));
    let _ann = Visit::join(&server.url(), named("Ann")).await.unwrap();
    let mut bob = Visit::join(&server.url(), named("Bob")).await.unwrap();
    assert!(bob.run_until(PATIENCE, |bob| heard(bob, "Ann").is_some()).await);
    let url = server.url();
    let proof = server.operator_file.clone();
    let ask =
        move |arguments: &str| kinesphere(&format!("why {arguments} --server {url} --operator-token-file {proof}"));
    let (near, nobody) = tokio::task::spawn_blocking(move || (ask("bob ANN"), ask("bob eve"))).await.unwrap();
    assert!(stdout(&near).contains("Bob hears of Ann"), "{}{}", stdout(&near), stderr(&near));
    assert!(stdout(&near).contains("told of it"), "what the budget had room for: {}", stdout(&near));
    assert!(stderr(&nobody).contains("Nobody is called \"eve\""), "{}", stderr(&nobody));
    bob.run_for(Duration::from_millis(300)).await;
    server.kill();
    let kept = shell::document(&format!("why bob ann --journal {data} --crowd 0 --json"));
    assert_eq!(kept["is_heard"], true, "{kept}");
    assert!(
        kept["budget"].is_null() && kept["sentence"].as_str().unwrap().contains("only the running server knew"),
        "{kept}"
    );
    assert!(kept["distance_m"].as_f64().unwrap() < 21.0, "{kept}");
}

/// What the server answers to these bytes.
async fn answer(server: &Serving, bytes: &[u8]) -> ToClient {
    let (links, mut inbox) = Links::new(LinkLimits::default());
    let client = Connector::new().unwrap();
    client.connect(&ServerAddress::find(&server.url()).await.unwrap(), &links).await.unwrap();
    loop {
        match tokio::time::timeout(PATIENCE, inbox.next()).await.unwrap().unwrap() {
            LinkEvent::Opened { outbox, .. } => outbox.send(Channel::Stream, Bytes::copy_from_slice(bytes)).unwrap(),
            LinkEvent::Received { bytes, .. } => return ToClient::decode(&bytes).unwrap(),
            LinkEvent::Closed { why, .. } => panic!("{why}"),
        }
    }
}

#[tokio::test]
async fn a_world_with_tokens_lets_in_whoever_has_one_and_tells_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let server = Serving::start(&format!("--data {data} --crowd 0 --tokens --log trace"));
    let token = stdout(&kinesphere(&format!("token --data {data} --nickname Ann"))).trim().to_owned();
    let with = |name: &str, token: &str| ClientSettings { token: token.as_bytes().to_vec(), ..named(name) };
    assert_eq!(refusal(&server, named("Ann")).await.0, CloseReason::Token);
    assert_eq!(refusal(&server, with("Bob", &token)).await.0, CloseReason::Token);
    let ann = Visit::join(&server.url(), with("Ann", &token)).await.unwrap();
    ann.leave().await;

    let operator = server.operator.clone();
    let secret = std::fs::read_to_string(folder.path().join("secret.key")).unwrap();
    let logged = server.interrupt();
    for secret in [token, operator, secret] {
        assert!(secret.len() >= 32 && !logged.contains(&secret), "a secret is in the log");
    }
}

/// Keeps out: who was muted spoke on after a second hello by another name, or after coming back by another name, and
/// a session that resumed without a name was not checked.
#[tokio::test]
async fn a_mute_holds_whatever_name_a_hello_gives() {
    let server = Serving::start("--in-memory --crowd 0");
    let order = async |body: &str| assert!(server.order(body).await.contains("200 OK"));
    let mut ann = Wire::open(&server).await;
    ann.send(hello("Ann", None)).await;
    let ToClient::Welcome(welcome) = ann.next_but_news().await else { panic!("she is let in") };

    order(r#"{"do":"mute","who":"Ann"}"#).await;
    ann.send(hello("Bob", None)).await;
    ann.says_nothing_until("by another name", async || order(r#"{"do":"unmute","who":"Ann"}"#).await).await;

    order(r#"{"do":"mute","who":"Ann"}"#).await;
    let mut back = Wire::open(&server).await;
    back.send(hello("Bob", Some(welcome.resume_key))).await;
    let ToClient::Welcome(again) = back.next_but_news().await else { panic!("it is her key") };
    assert!(again.is_resumed && again.nickname == "Ann", "{again:?}");
    back.says_nothing_until("back again", async || order(r#"{"do":"unmute","who":"Ann"}"#).await).await;

    let mut nameless = Wire::open(&server).await;
    nameless.send(hello("", Some(welcome.resume_key))).await;
    let ToClient::Refused(refused) = nameless.next_but_news().await else { panic!("it has no name") };
    assert_eq!(refused.reason, CloseReason::Nickname);
}

fn hello(nickname: &str, resume: Option<wire::session::ResumeKey>) -> ToServer {
    ToServer::Hello(Hello { version: wire::VERSION, nickname: nickname.to_owned(), resume, ..Hello::default() })
}

/// A client that sends what no client of ours would.
struct Wire(tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>);

impl Wire {
    async fn open(server: &Serving) -> Wire {
        Wire(tokio_tungstenite::connect_async(format!("ws://{}/link", server.http)).await.unwrap().0)
    }

    async fn send(&mut self, message: ToServer) {
        self.0.send(Message::binary(message.encode())).await.unwrap();
    }

    /// The next message that is not about the world.
    async fn next_but_news(&mut self) -> ToClient {
        loop {
            let message = tokio::time::timeout(PATIENCE, self.0.next()).await.unwrap().unwrap().unwrap();
            match ToClient::decode(&message.into_data()).unwrap() {
                ToClient::Scene(_) | ToClient::Roster(_) | ToClient::State(_) => {}
                other => return other,
            }
        }
    }

    /// Speaks, makes sure that it was looked at, is unmuted and speaks again: only the second is heard.
    async fn says_nothing_until(&mut self, text: &str, unmute: impl AsyncFnOnce()) {
        self.send(ToServer::Say { text: format!("{text}, muted") }).await;
        self.send(ToServer::Ping { asked_us: 1 }).await;
        let ToClient::Pong { .. } = self.next_but_news().await else { panic!("it was heard, or worse") };
        unmute().await;
        self.send(ToServer::Say { text: text.to_owned() }).await;
        let ToClient::Said { text: said, .. } = self.next_but_news().await else { panic!("it is heard") };
        assert_eq!(said, text);
    }
}

#[test]
fn a_server_that_cannot_start_says_why_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("world").display().to_string();
    let server = Serving::start(&format!("--data {data} --crowd 0"));
    let world = folder.path().join("world.toml");
    std::fs::write(&world, "name = 3\n").unwrap();
    let settings = folder.path().join("server.toml");
    std::fs::write(&settings, "crowd = 3\nlisen = \"x\"\n").unwrap();
    let weak = folder.path().join("weak.token");
    std::fs::write(&weak, "short").unwrap();
    let damaged = folder.path().join("damaged");
    std::fs::create_dir(&damaged).unwrap();
    std::fs::write(damaged.join("world.redb"), "not a store").unwrap();
    let http = &server.http;
    for (arguments, code, expected) in [
        (format!("serve --in-memory --listen {http}"), 1, "another server may run there"),
        (format!("serve --listen localhost:0 --crowd 0 --data {data}"), 1, "is in use by process"),
        ("serve --in-memory --listen nowhere".to_owned(), 2, "expected HOST:PORT"),
        ("serve --in-memory --crowd many".to_owned(), 2, "invalid value 'many'"),
        ("serve --in-memory --certificate missing.pem".to_owned(), 2, "--key"),
        (
            "serve --in-memory --listen localhost:0 --certificate no.pem --key no.pem".to_owned(),
            2,
            "cannot read no.pem",
        ),
        (format!("serve --in-memory {}", world.display()), 2, "line 1"),
        ("serve --in-memory missing.toml".to_owned(), 2, "cannot read missing.toml"),
        (format!("serve --in-memory --settings {}", settings.display()), 2, "line 2: there is no setting `lisen`"),
        ("serve --in-memory --log =,=".to_owned(), 2, "is no filter"),
        ("store check --data /nonexistent".to_owned(), 2, "there is no world in /nonexistent"),
        (format!("store check --data {data}"), 1, "is in use by process"),
        ("bots http://127.0.0.1:1".to_owned(), 1, "does not answer"),
        ("bots localhost".to_owned(), 2, "is not a server's address"),
        ("serve --in-memory --listen 192.0.2.1:7777".to_owned(), 1, "this machine has no such address"),
        (format!("serve --in-memory --operator-token-file {}", weak.display()), 2, "at least 16 visible"),
        ("cluster status http://192.0.2.1 --operator-token any".to_owned(), 2, "use https://"),
        ("serve --in-memory --origin nonsense".to_owned(), 2, "expected an origin, as in https://host"),
        ("serve --bogus".to_owned(), 2, "unexpected argument '--bogus'"),
        (format!("serve --listen localhost:0 --data {}", world.display()), 1, "Name another folder"),
        (
            format!("serve --listen localhost:0 --data {}", damaged.display()),
            1,
            "restore a backup, or move the file away",
        ),
        (format!("store check --data {}", damaged.display()), 1, "world.redb is damaged"),
        (format!("replay {}", damaged.display()), 1, "world.redb is damaged"),
        (format!("why a b --journal {}", damaged.display()), 1, "world.redb is damaged"),
        ("replay /nonexistent".to_owned(), 2, "Name the folder of a world"),
        ("token --data /nonexistent".to_owned(), 2, "Start its server once"),
        (format!("token --data {data} --nickname a\u{202e}b"), 2, "visible"),
        (format!("token --data {data} --hours 0"), 2, "0 is not in 1..="),
        (
            format!("why a b --server {} --operator-token-file {}", server.url(), server.operator_file),
            1,
            "Nobody is called",
        ),
        (format!("why a b --server {}", server.url()), 1, "for operators"),
        ("why a b --server http://127.0.0.1:1".to_owned(), 1, "does a server run there?"),
        ("why a b --server nonsense".to_owned(), 2, "is not a server's address"),
        (format!("store export {data}/world.redb --data {data}"), 1, "is in use by process"),
        ("relay 127.0.0.1:1 --loss 2".to_owned(), 2, "from 0 to 1"),
    ] {
        let output = kinesphere(&arguments);
        let said = stderr(&output);
        assert!(said.contains(expected), "{arguments}: {said}");
        assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
        assert!(!said.contains("panicked"), "{arguments}: {said}");
    }
}

#[tokio::test]
async fn a_world_file_is_served() {
    let server = Serving::start("worlds/courtyard.toml --in-memory");
    let introduction = fetch(&Address::parse(&server.url()).unwrap(), "/cert-hash").await.unwrap();
    let introduction: Introduction = serde_json::from_str(&introduction).unwrap();
    assert_eq!((introduction.world.as_str(), introduction.sky.as_deref()), ("courtyard", Some("#f2d8b0")));
    let ann = Visit::join(&server.url(), named("Ann")).await.unwrap();
    ann.leave().await;
}

#[test]
fn a_kept_world_is_checked_backed_up_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let server = Serving::start(&format!("--data {} --crowd 3 --flush-ms 50", path("world")));
    server.wait_for("kinesphere_tick", 12.0);
    server.interrupt();
    let report = shell::document(&format!("store check --data {} --json", path("world")));
    assert!(report["records"].as_u64().unwrap() > 2, "{report}");
    let text = stdout(&kinesphere(&format!("store backup {} --data {}", path("copy"), path("world"))));
    assert!(text.contains("is backed up in"), "{text}");
    let again = kinesphere(&format!("store backup {} --data {}", path("copy"), path("world")));
    assert!(stderr(&again).contains("not overwritten") && again.status.code() == Some(2));
    let copy = shell::document(&format!("store check --data {} --json", path("copy")));
    assert_eq!(copy["records"], report["records"]);
    let export = kinesphere(&format!("store export {} --data {}", path("world.jsonl"), path("copy")));
    assert!(export.status.success(), "{}", stderr(&export));
    let lines = std::fs::read_to_string(folder.path().join("world.jsonl")).unwrap();
    let ticks = lines.lines().filter(|line| line.contains("\"kind\":\"tick\"")).count() as u64;
    assert_eq!(Some(ticks), report["records"].as_u64());
    let replay = format!("replay {} --crowd 3", path("copy"));
    let replayed = shell::document(&format!("{replay} --hash --json"));
    assert_eq!(replayed["rows"].as_array().unwrap().len() as u64, ticks);
    assert!(replayed["snapshots_compared"].as_u64().unwrap() > 0, "{replayed}");
    let part = shell::document(&format!("{replay} --from 1 --to 3 --hash --json"));
    assert_eq!(part["rows"][1], replayed["rows"][2]);
    let other = kinesphere(&format!("replay {} --crowd 4", path("copy")));
    assert!(stderr(&other).contains("is of another world") && other.status.code() == Some(2), "{}", stderr(&other));
    // The copy goes on as the world would have.
    Serving::start(&format!("--data {} --crowd 3", path("copy"))).interrupt();
}
