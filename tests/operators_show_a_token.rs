//! Orders, metrics and the map are for people who show a token. Coming from the server's machine proves nothing.

mod serving;

use std::time::Duration;

use client::ClientSettings;
use kinesphere::fetch::{Address, fetch};
use kinesphere::visit::Visit;
use serving::{PATIENCE, Serving};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wire::CloseReason;

const USERS: &str = r#"{"do":"users"}"#;

fn bearer(token: &str) -> String {
    format!("Host: localhost\r\nAuthorization: Bearer {token}\r\n")
}

#[tokio::test]
async fn operators_are_obeyed_and_visitors_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::start(&format!("--data {} --crowd 0", folder.path().display()));
    let mut ann = Visit::join(&server.url(), ClientSettings::named("Ann")).await.unwrap();
    for visitor in ["Host: localhost\r\n", &bearer("wrong")] {
        assert!(server.post("/operator", visitor, USERS).await.contains("403"), "{visitor}");
    }
    let evil = format!("{}Origin: http://evil.example\r\n", bearer(&server.operator));
    assert!(server.post("/operator", &evil, USERS).await.contains("403"), "a page of another origin");
    assert!(server.order(USERS).await.contains("Ann"));
    assert!(server.order(r#"{"do":"dance"}"#).await.contains("422"));

    server.order(r#"{"do":"say","text":"Tea is ready."}"#).await;
    let mut said = None;
    for _ in 0..100 {
        ann.run_for(Duration::from_millis(50)).await;
        said = said.or(ann.client().next_said());
    }
    assert_eq!(said.expect("all users are told").text, "Tea is ready.");
    assert!(server.order(r#"{"do":"ban","who":"ann"}"#).await.contains("ann is banned"));
    let is_sent_away = |client: &client::Client| matches!(client.phase(), client::Phase::Ended(_));
    assert!(ann.run_until(PATIENCE, is_sent_away).await);
    let refused = Visit::join(&server.url(), ClientSettings::named("Ann")).await.err().expect("she is banned");
    let kinesphere::visit::VisitError::Refused(refused) = refused else { panic!("{refused}") };
    assert_eq!(refused.reason, CloseReason::Banned);
    let logged = server.interrupt();
    assert!(logged.contains("an order") && logged.contains("Ban"), "orders are logged:\n{logged}");
    assert!(logged.contains("a wrong operator's token was shown"), "{logged}");
}

/// Keeps out: a program that forwards TCP on the server's machine made every stranger an operator.
#[tokio::test]
async fn a_forwarder_on_the_same_machine_makes_no_operators() {
    let server = Serving::start("--in-memory --crowd 0");
    let forwarder = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = forwarder.local_addr().unwrap();
    let target = server.http.clone();
    tokio::spawn(async move {
        while let Ok((mut stranger, _)) = forwarder.accept().await {
            let mut server = TcpStream::connect(&target).await.unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut stranger, &mut server).await });
        }
    });
    let mut stranger = TcpStream::connect(address).await.unwrap();
    let stop = r#"{"do":"stop"}"#;
    let order = format!(
        "POST /operator HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{stop}",
        stop.len()
    );
    stranger.write_all(order.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let _ = stranger.read_to_string(&mut answer).await;
    assert!(answer.contains("403"), "{answer}");
    assert!(server.order(USERS).await.contains("200 OK"), "the server goes on");
}

/// Keeps out: the operator's token was taken over plain HTTP from anywhere.
#[tokio::test]
async fn no_token_is_taken_that_could_be_read_on_the_way() {
    let server = Serving::start("--in-memory --crowd 0");
    let authorization = format!("Authorization: Bearer {}\r\n", server.operator);
    for elsewhere in [
        "Host: world.example\r\n",
        "Host: localhost\r\nX-Forwarded-For: 192.0.2.1\r\n",
        "Host: localhost\r\nVia: 1.1 proxy\r\n",
        "Host: localhost\r\nX-Forwarded-Proto: http\r\n",
    ] {
        let answer = server.post("/operator", &format!("{elsewhere}{authorization}"), USERS).await;
        assert!(answer.contains("403") && answer.contains("HTTPS"), "{elsewhere}: {answer}");
    }
    let by_proxy = format!("Host: world.example\r\nX-Forwarded-Proto: https\r\n{authorization}");
    assert!(server.post("/operator", &by_proxy, USERS).await.contains("200 OK"), "the proxy ends TLS");
}

#[tokio::test]
async fn a_role_may_do_what_it_is_for_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let server = Serving::start(&format!("--data {data} --crowd 0"));
    let make = |role: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kinesphere"));
        let output = command.args(["token", "--data", &data, "--role", role]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        bearer(String::from_utf8(output.stdout).unwrap().trim())
    };
    let [watcher, moderator] = ["watcher", "moderator"].map(make);
    for (role, order, status) in [
        (&watcher, r#"{"do":"status"}"#, "200"),
        (&watcher, r#"{"do":"kick","who":"Ann"}"#, "403"),
        (&moderator, r#"{"do":"say","text":"Hello."}"#, "200"),
        (&moderator, r#"{"do":"stop"}"#, "403"),
    ] {
        let answer = server.post("/operator", role, order).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{order}: {answer}");
    }
}

#[tokio::test]
async fn the_link_that_the_start_prints_opens_the_map_once() {
    let server = Serving::start("--in-memory --crowd 0");
    let (_, once) = server.printed.split_once("/map#").expect("the start prints a link");
    let once = once.lines().next().unwrap();
    let here = "Host: localhost\r\n";
    assert!(server.post("/operator/once", here, "nonsense").await.contains("403"));
    assert!(server.post("/operator/once", here, once).await.contains(&server.operator));
    assert!(server.post("/operator/once", here, once).await.contains("403"), "it was spent");
    assert!(!server.printed.contains(&server.operator), "the token itself is not printed");
}

#[tokio::test]
async fn metrics_are_for_watchers_or_on_a_listener_of_their_own() {
    let server = Serving::start("--in-memory --crowd 0 --metrics-listen 127.0.0.1:0");
    let public = Address::parse(&server.url()).unwrap();
    assert!(fetch(&public, "/metrics").await.unwrap_err().to_string().contains("for operators"));
    // An operator sees them, once there was a tick.
    server.wait_for("kinesphere_ticks_total", 1.0);
    let own = server.printed.split_whitespace().find_map(|word| word.strip_prefix("metrics=")).unwrap();
    let own = Address::parse(&format!("http://{own}")).unwrap();
    assert!(fetch(&own, "/metrics").await.unwrap().contains("kinesphere_ticks_total"));
    assert!(fetch(&own, "/operator").await.is_err(), "nothing else is answered there");
}

/// Keeps out: two megabytes were held for each order before its token was looked at, for as long as it did not end.
#[tokio::test]
async fn no_body_is_read_before_the_token() {
    let server = Serving::start("--in-memory --crowd 0");
    let open = async |headers: &str, body: &str| {
        let mut stream = TcpStream::connect(&server.http).await.unwrap();
        let head = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n";
        let question = format!("POST /operator HTTP/1.1\r\n{head}{headers}\r\n{body}");
        stream.write_all(question.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let _ = tokio::time::timeout(Duration::from_secs(8), stream.read_to_string(&mut answer)).await;
        answer
    };
    assert!(open("", "{").await.contains("403"), "a stranger is refused at once");
    let operator = format!("Authorization: Bearer {}\r\n", server.operator);
    assert!(open(&operator, &"x".repeat(5_000)).await.contains("413"), "an order is short");
    assert!(open(&operator, "{").await.contains("408"), "an order does not take long");
}
