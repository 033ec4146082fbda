//! A slow reader delays no other: a client that never reads is dropped, and an unread log is not waited for.

mod serving;

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::ClientSettings;
use futures_util::SinkExt;
use kinesphere::order::{self, Order};
use kinesphere::serve::{Options, Service};
use kinesphere::visit::Visit;
use server::ServerSettings;
use server::limits::Limits;
use serving::PATIENCE;
use tokio_tungstenite::tungstenite::Message;
use wire::{Hello, InputStep, Moves, ToServer, VERSION};
use world::Plaza;

/// Joins over a real socket, goes on asking to move, and reads nothing.
#[tokio::test]
async fn a_client_that_never_reads_is_dropped_and_others_do_not_notice() {
    let limits = Limits { unheard_us: 1_500_000, resume_us: 100_000, ..Limits::default() };
    let options = Options {
        world: Arc::new(Plaza { seekers: 40, ..Plaza::default() }.spec()),
        listen: "127.0.0.1:0".to_owned(),
        server: ServerSettings { limits, ..ServerSettings::default() },
        ..Options::default()
    };
    let service = Service::start(options).await.unwrap();
    let mut ann = Visit::join(&service.url(), ClientSettings::named("Ann")).await.unwrap();

    let (mut deaf, _) = tokio_tungstenite::connect_async(format!("ws://{}/link", service.http())).await.unwrap();
    let hello = Hello { version: VERSION, nickname: "Deaf".to_owned(), ..Hello::default() };
    deaf.send(Message::binary(ToServer::Hello(hello).encode())).await.unwrap();
    let orders = service.orders();
    let (mut was_here, mut number, begun) = (false, 0, Instant::now());
    let mut last = ann.client().newest_tick();
    loop {
        number += 1;
        let moves = Moves { heard: 0, tick: 0, newest: number, steps: vec![InputStep::default()] };
        // It fails once the server has closed the connection, and that is as it should be.
        let _ = deaf.send(Message::binary(ToServer::Moves(moves).encode())).await;
        ann.run_for(Duration::from_millis(50)).await;
        let users = order::give(&orders, Order::Users).await.unwrap();
        assert!(users.contains("Ann"), "{users}");
        was_here |= users.contains("Deaf");
        if was_here && !users.contains("Deaf") {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it is still here: {users}");
        if number % 40 == 0 {
            assert!(ann.client().newest_tick() > last, "Ann hears nothing any more");
            last = ann.client().newest_tick();
        }
    }
    assert_eq!(*ann.client().phase(), client::Phase::Joined);
    ann.leave().await;
    let server = service.stop().await.unwrap();
    assert_eq!(server.counts().dropped, 1, "and nobody else");
}

/// Keeps out: sixteen megabytes of one frame were held for any peer, before a token was shown.
#[tokio::test]
async fn a_frame_longer_than_any_question_ends_the_socket_where_operators_watch() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let service = Service::start(Options { listen: "127.0.0.1:0".to_owned(), ..Options::default() }).await.unwrap();
    let mut stream = tokio::net::TcpStream::connect(service.http()).await.unwrap();
    let upgrade = "GET /inspect HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    stream.write_all(upgrade.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101"));
    // A binary frame of a megabyte, masked with zeros, of which the first kilobyte comes.
    stream
        .write_all(&[&[0x82, 0xff][..], &(1_u64 << 20).to_be_bytes(), &[0; 4], &[b'x'; 1_024]].concat())
        .await
        .unwrap();
    let begun = Instant::now();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut Vec::new())).await.expect("it ends");
    assert!(begun.elapsed() < Duration::from_secs(5), "it was waited for");
    service.stop().await;
}

/// A pipe holds 64 kB; at this level a few seconds fill it. It is never read.
#[tokio::test]
async fn a_log_that_nobody_reads_holds_up_no_tick() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kinesphere"));
    command.args("serve --in-memory --crowd 0 --listen 127.0.0.1:0 --log trace".split(' '));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut stdout, &mut first).unwrap();
    let http = first.split(' ').find_map(|word| word.strip_prefix("http=")).unwrap().to_owned();
    let url = format!("http://{http}");
    let mut ann = Visit::join(&url, ClientSettings::named("Ann")).await.unwrap();
    let address = kinesphere::fetch::Address::parse(&url).unwrap();
    let is_full = async || {
        let metrics = kinesphere::fetch::fetch(&address, "/metrics").await.unwrap();
        metrics.lines().any(|line| line.starts_with("kinesphere_log_lines_dropped_total "))
    };
    let begun = Instant::now();
    while !is_full().await {
        assert!(begun.elapsed() < PATIENCE, "the log never filled its queue: this test shows nothing");
        ann.run_for(Duration::from_millis(200)).await;
    }
    let tick = ann.client().newest_tick();
    let goes_on = |client: &client::Client| client.newest_tick() > tick + 30;
    assert!(ann.run_until(PATIENCE, goes_on).await, "the world stands still");
    ann.leave().await;
    // It also stops in order, although its last lines are not read.
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "it does not stop");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(child.wait().unwrap().success());
}
