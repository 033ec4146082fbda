//! On every transport messages arrive whole and in order, and a peer that misbehaves harms only its own link.

mod echo;

use std::time::Duration;

use bytes::Bytes;
use echo::{Echo, PATIENCE, Seen, message, next};
use futures_util::{SinkExt, StreamExt};
use kinesphere::fetch::{Address, fetch};
use kinesphere::link::client::{Connector, Introduction, ServerAddress};
use kinesphere::link::{Channel, Inbox, LinkEvent, LinkLimits, Links, Outbox, SendError, Transport};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use wire::{DATAGRAM_MAX, MESSAGE_MAX, kind};

/// A native client of this server.
async fn visit(server: &Echo) -> (Connector, Outbox, Inbox) {
    let (links, mut inbox) = Links::new(LinkLimits::default());
    let client = Connector::new().unwrap();
    let host = ServerAddress::find(&server.url()).await.unwrap();
    client.connect(&host, &links).await.unwrap();
    let LinkEvent::Opened { outbox, transport, .. } = next(&mut inbox).await else { panic!("a link opens first") };
    assert_eq!(transport, Transport::Quic);
    (client, outbox, inbox)
}

#[tokio::test]
async fn over_quic_messages_come_whole_and_in_order() {
    let mut server = Echo::start(LinkLimits::default()).await;
    let (_client, outbox, mut inbox) = visit(&server).await;
    let sizes = [1, 2, 1_000, 4_095, 4_096, 4_097, MESSAGE_MAX, 3];
    for (number, &size) in (0..).zip(&sizes) {
        outbox.send(Channel::Stream, Bytes::from(vec![number; size])).unwrap();
    }
    for (number, &size) in (0..).zip(&sizes) {
        assert_eq!(message(&mut inbox).await, (Channel::Stream, Bytes::from(vec![number; size])));
    }
    for size in [1, DATAGRAM_MAX] {
        // One at a time: even here a datagram may be dropped when many are under way.
        let datagram = Bytes::from(vec![7; size]);
        outbox.send(Channel::Datagram, datagram.clone()).unwrap();
        assert_eq!(message(&mut inbox).await, (Channel::Datagram, datagram));
    }
    assert!(matches!(server.next().await, Seen::Opened(_, Transport::Quic, _)));
}

#[tokio::test]
async fn over_websocket_the_first_byte_tells_the_channel() {
    let mut server = Echo::start(LinkLimits::default()).await;
    let url = format!("ws://{}/link", server.http);
    let (mut socket, _) = tokio_tungstenite::connect_async(&url).await.unwrap();
    for (first, size) in [(kind::HELLO, 100), (kind::MOVES, 100), (kind::HELLO, MESSAGE_MAX)] {
        let message = Message::binary(vec![first; size]);
        socket.send(message.clone()).await.unwrap();
        assert_eq!(timeout(PATIENCE, socket.next()).await.unwrap().unwrap().unwrap(), message);
    }
    let Seen::Opened(link, Transport::WebSocket, outbox) = server.next().await else { panic!("it opens first") };
    outbox.send(Channel::Stream, Bytes::from_static(b"farewell")).unwrap();
    outbox.close();
    assert_eq!(socket.next().await.unwrap().unwrap(), Message::binary(&b"farewell"[..]));
    assert!(socket.next().await.unwrap().unwrap().is_close());
    drop(socket);
    assert!(matches!(server.next().await, Seen::Closed(closed, _) if closed == link));

    let (mut socket, _) = tokio_tungstenite::connect_async(&url).await.unwrap();
    socket.send(Message::text("hello")).await.unwrap();
    let Seen::Opened(link, ..) = server.next().await else { panic!("it opens first") };
    assert!(matches!(server.next().await, Seen::Closed(closed, why) if closed == link && why.contains("binary")));
}

#[tokio::test]
async fn a_page_of_a_stranger_opens_no_websocket() {
    let server = Echo::start(LinkLimits::default()).await;
    let connect = async |origin: &str| {
        let mut request = format!("ws://{}/link", server.http).into_client_request().unwrap();
        request.headers_mut().insert("origin", origin.parse().unwrap());
        tokio_tungstenite::connect_async(request).await
    };
    let refused = connect("http://evil.example").await.unwrap_err().to_string();
    assert!(refused.contains("403"), "{refused}");
    connect(&format!("http://{}", server.http)).await.unwrap();
}

/// A browser as wtransport plays one: it trusts the announced hash, and says where its page came from.
#[tokio::test]
async fn over_webtransport_on_the_same_port_both_channels_work() {
    use wtransport::endpoint::ConnectOptions;
    use wtransport::tls::Sha256Digest;
    use wtransport::{ClientConfig, Endpoint};

    let mut server = Echo::start(LinkLimits::default()).await;
    let host = ServerAddress::find(&server.url()).await.unwrap();
    let digits = host.hash.to_string();
    let bytes = space::bytes::from_hex(&digits).unwrap();
    let hash = Sha256Digest::new(bytes.try_into().unwrap());
    let config = ClientConfig::builder().with_bind_default().with_server_certificate_hashes([hash]).build();
    let browser = Endpoint::client(config).unwrap();
    let open = async |origin: String| {
        let url = format!("https://127.0.0.1:{}/link", server.quic.port());
        browser.connect(ConnectOptions::builder(url).add_header("origin", origin).build()).await
    };
    assert!(open("http://evil.example".to_owned()).await.is_err());

    let session = open(server.url()).await.unwrap();
    let (mut writer, mut reader) = session.open_bi().await.unwrap().await.unwrap();
    writer.write_all(b"\x03\0\0\0abc").await.unwrap();
    let mut echoed = [0; 7];
    timeout(PATIENCE, reader.read_exact(&mut echoed)).await.unwrap().unwrap();
    assert_eq!(&echoed, b"\x03\0\0\0abc");
    session.send_datagram(vec![9; DATAGRAM_MAX]).unwrap();
    let datagram = timeout(PATIENCE, session.receive_datagram()).await.unwrap().unwrap();
    assert_eq!(datagram.payload(), vec![9; DATAGRAM_MAX]);
    assert!(matches!(server.next().await, Seen::Opened(_, Transport::WebTransport, _)));
}

#[tokio::test]
async fn a_farewell_arrives_before_the_link_closes() {
    let mut server = Echo::start(LinkLimits::default()).await;
    let (_client, outbox, mut inbox) = visit(&server).await;
    outbox.send(Channel::Stream, Bytes::from_static(b"hello")).unwrap();
    assert_eq!(message(&mut inbox).await.1, "hello");
    let Seen::Opened(link, _, outbox) = server.next().await else { panic!("it opens first") };
    outbox.send(Channel::Stream, Bytes::from_static(b"you have to leave")).unwrap();
    outbox.close();
    assert_eq!(message(&mut inbox).await.1, "you have to leave");
    assert!(matches!(next(&mut inbox).await, LinkEvent::Closed { .. }));
    assert!(matches!(server.next().await, Seen::Closed(closed, _) if closed == link));
    assert_eq!(server.links.open_count(), 0);
}

/// A peer that never reads: its stream fills, then its queue, and then it is closed. Others go on meanwhile.
#[tokio::test]
async fn a_peer_that_never_reads_is_closed_and_nobody_else_notices() {
    let mut server = Echo::start(LinkLimits::default()).await;
    let url = format!("ws://{}/link", server.http);
    let (mut deaf, _) = tokio_tungstenite::connect_async(&url).await.unwrap();
    deaf.send(Message::binary(vec![kind::HELLO])).await.unwrap();
    let Seen::Opened(link, _, to_deaf) = server.next().await else { panic!("it opens first") };

    let (_client, outbox, mut inbox) = visit(&server).await;
    let mut sent = 0_usize;
    let refused = loop {
        match to_deaf.send(Channel::Stream, Bytes::from(vec![1; MESSAGE_MAX])) {
            Ok(()) => sent += MESSAGE_MAX,
            Err(error) => break error,
        }
        assert!(sent < 1 << 30, "a gigabyte was queued for a peer that does not read");
        outbox.send(Channel::Stream, Bytes::from_static(b"still here")).unwrap();
        assert_eq!(message(&mut inbox).await.1, "still here");
    };
    assert_eq!(refused, SendError::Full);
    loop {
        match server.next().await {
            Seen::Closed(closed, why) => {
                assert_eq!((closed, why), (link, "the peer does not read what is sent to it".to_owned()));
                break;
            }
            Seen::Opened(..) => {}
        }
    }
}

/// Keeps out: a link that the server closed stayed open for ever if its peer did not read, and kept its place.
#[tokio::test]
async fn a_closing_link_ends_although_its_peer_does_not_read() {
    let limits = LinkLimits { farewell_max: Duration::from_millis(200), ..LinkLimits::default() };
    let mut server = Echo::start(limits).await;

    let (mut deaf, _) = tokio_tungstenite::connect_async(format!("ws://{}/link", server.http)).await.unwrap();
    deaf.send(Message::binary(vec![kind::HELLO])).await.unwrap();
    closes_although_clogged(&mut server, Transport::WebSocket).await;

    // Over QUIC it is deaf as it makes no room for a second message, and then gives no credit for more.
    let (links, mut inbox) = Links::new(LinkLimits { unread_max: 1, ..LinkLimits::default() });
    let client = Connector::new().unwrap();
    client.connect(&ServerAddress::find(&server.url()).await.unwrap(), &links).await.unwrap();
    let LinkEvent::Opened { outbox, .. } = next(&mut inbox).await else { panic!("a link opens first") };
    outbox.send(Channel::Stream, Bytes::from_static(b"hello")).unwrap();
    closes_although_clogged(&mut server, Transport::Quic).await;
    assert_eq!(server.links.open_count(), 0);
}

/// Sends to the next peer until nothing moves any more, and closes its link.
async fn closes_although_clogged(server: &mut Echo, expected: Transport) {
    let Seen::Opened(link, transport, outbox) = server.next().await else { panic!("it opens first") };
    assert_eq!(transport, expected);
    // The system takes some megabytes, and the queue has room for four: filled by half, it is stuck.
    let stuck = server.links.limits().reliable_bytes_max / 2;
    while outbox.waiting_count().1 < stuck {
        outbox.send(Channel::Stream, Bytes::from(vec![1; MESSAGE_MAX])).unwrap();
        if outbox.waiting_count().1 >= stuck {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    outbox.close();
    assert!(matches!(server.next().await, Seen::Closed(closed, why) if closed == link && why == "closed by us"));
}

/// Keeps out: pings were answered into a buffer without a bound while the peer did not read the answers.
#[tokio::test]
async fn who_pings_without_end_is_closed() {
    let mut server = Echo::start(LinkLimits::default()).await;
    let url = format!("ws://{}/link", server.http);
    let (mut calm, _) = tokio_tungstenite::connect_async(&url).await.unwrap();
    let Seen::Opened(..) = server.next().await else { panic!("it opens first") };
    for _ in 0..3 {
        calm.send(Message::Ping(Bytes::from_static(b"x"))).await.unwrap();
        assert!(timeout(PATIENCE, calm.next()).await.unwrap().unwrap().unwrap().is_pong());
    }

    let (mut flood, _) = tokio_tungstenite::connect_async(&url).await.unwrap();
    let Seen::Opened(link, ..) = server.next().await else { panic!("it opens first") };
    for _ in 0..2_000 {
        if flood.send(Message::Ping(Bytes::from(vec![7; 125]))).await.is_err() {
            break;
        }
    }
    let Seen::Closed(closed, why) = server.next().await else { panic!("it closes next") };
    assert_eq!((closed, why.as_str()), (link, "it pings without end"));
    calm.send(Message::Ping(Bytes::from_static(b"x"))).await.unwrap();
    assert!(timeout(PATIENCE, calm.next()).await.unwrap().unwrap().unwrap().is_pong(), "nobody else notices");
}

/// A flood is dropped at the door of the one who sends it.
#[tokio::test]
async fn a_flood_does_not_fill_the_inbox() {
    let limits = LinkLimits { unread_max: 8, ..LinkLimits::default() };
    let (links, mut inbox) = Links::new(limits);
    let server = Flooded::start(links.clone()).await;
    let (client_links, mut client_inbox) = Links::new(LinkLimits::default());
    let client = Connector::new().unwrap();
    client.connect(&server, &client_links).await.unwrap();
    let LinkEvent::Opened { outbox, .. } = next(&mut client_inbox).await else { panic!("a link opens first") };
    for number in 0..100_u8 {
        outbox.send(Channel::Stream, Bytes::from(vec![number])).unwrap();
    }
    for _ in 0..50 {
        let _ = outbox.send(Channel::Datagram, Bytes::from_static(b"flood"));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut held = Vec::new();
    while let Some(event) = inbox.try_next() {
        held.push(event);
    }
    assert_eq!(held.len(), 1 + 8, "it opened, and filled its place");
    // A link that was waited for has lost nothing of its stream.
    held.clear();
    let mut arrived = 8;
    while arrived < 100 {
        if let LinkEvent::Received { channel: Channel::Stream, .. } = next(&mut inbox).await {
            arrived += 1;
        }
    }
}

/// An endpoint whose inbox is never read.
struct Flooded;

impl Flooded {
    async fn start(links: Links) -> ServerAddress {
        use kinesphere::{certificate::Certificates, link::quic::QuicListener, origin::Origins};
        let certificates = std::sync::Arc::new(Certificates::self_signed(std::time::SystemTime::now()).unwrap());
        let hash = certificates.current().hash();
        let listener =
            QuicListener::bind(([127, 0, 0, 1], 0).into(), certificates, links, Origins::default().into()).unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(listener.run());
        ServerAddress { address, hash }
    }
}

#[tokio::test]
async fn a_renewed_certificate_disturbs_no_link_and_is_announced() {
    let server = Echo::start(LinkLimits::default()).await;
    let before = ServerAddress::find(&server.url()).await.unwrap();
    let (client, outbox, mut inbox) = visit(&server).await;
    let in_nine_days = std::time::SystemTime::now() + Duration::from_secs(9 * 24 * 60 * 60);
    assert!(server.certificates.renew_if_due(in_nine_days).unwrap());

    outbox.send(Channel::Stream, Bytes::from_static(b"still here")).unwrap();
    assert_eq!(message(&mut inbox).await.1, "still here");
    let (links, _inbox) = Links::new(LinkLimits::default());
    let error = client.connect(&before, &links).await.unwrap_err().to_string();
    assert!(error.contains("another certificate than it announced"), "{error}");
    let after = ServerAddress::find(&server.url()).await.unwrap();
    assert_ne!(after.hash, before.hash);
    client.connect(&after, &links).await.unwrap();
}

/// Keeps out: 256 silent peers after their handshakes kept all others out for ten seconds.
#[tokio::test]
async fn who_shakes_hands_and_then_says_nothing_keeps_nobody_out() {
    let server = Echo::start(LinkLimits { greeting_max: Duration::from_secs(600), ..LinkLimits::default() }).await;
    let host = ServerAddress::find(&server.url()).await.unwrap();
    let (links, _inbox) = Links::new(LinkLimits::default());
    let silent = std::sync::Arc::new(Connector::new().unwrap());
    for _ in 0..13 {
        // Nothing is sent, and so the server never hears of their streams.
        let mut some = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let (silent, host, links) = (silent.clone(), host.clone(), links.clone());
            some.spawn(async move { silent.connect(&host, &links).await.map(drop) });
        }
        assert!(some.join_all().await.into_iter().all(|connected| connected.is_ok()));
    }
    let (_client, outbox, mut inbox) = visit(&server).await;
    outbox.send(Channel::Stream, Bytes::from_static(b"hello")).unwrap();
    assert_eq!(message(&mut inbox).await.1, "hello");
}

#[tokio::test]
async fn a_full_server_says_so() {
    let server = Echo::start(LinkLimits { links_max: 1, ..LinkLimits::default() }).await;
    let (client, first, mut inbox) = visit(&server).await;
    first.send(Channel::Stream, Bytes::from_static(b"here")).unwrap();
    assert_eq!(message(&mut inbox).await.1, "here");

    let (links, mut inbox) = Links::new(LinkLimits::default());
    client.connect(&ServerAddress::find(&server.url()).await.unwrap(), &links).await.unwrap();
    let LinkEvent::Opened { outbox, .. } = next(&mut inbox).await else { panic!("a link opens first") };
    outbox.send(Channel::Stream, Bytes::from_static(b"me too")).unwrap();
    let LinkEvent::Closed { why, .. } = next(&mut inbox).await else { panic!("it is turned away") };
    assert!(why.contains("the server is full"), "{why}");
    first.close();
}

#[tokio::test]
async fn http_answers_are_guarded() {
    let server = Echo::start(LinkLimits::default()).await;
    let address = Address::parse(&server.url()).unwrap();
    assert!(fetch(&address, "/").await.unwrap().contains("<title>Kinesphere</title>"));
    assert_eq!(fetch(&address, "/healthz").await.unwrap(), "well\n");
    let introduction: Introduction = serde_json::from_str(&fetch(&address, "/cert-hash").await.unwrap()).unwrap();
    assert_eq!((introduction.quic_port, introduction.loopback), (server.quic.port(), Some(server.quic.ip())));
    assert!(introduction.is_self_signed);
    let error = fetch(&address, "/etc/passwd").await.unwrap_err().to_string();
    assert!(error.contains("404"), "{error}");

    server.health.set(Some("the disk is full".to_owned()));
    let error = fetch(&address, "/healthz").await.unwrap_err().to_string();
    assert!(error.contains("the disk is full"), "{error}");

    let raw = raw(&server, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(raw.contains("content-security-policy: default-src 'none'"), "{raw}");
    assert!(raw.contains("x-content-type-options: nosniff"), "{raw}");
}

async fn raw(server: &Echo, question: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(server.http).await.unwrap();
    stream.write_all(question.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
