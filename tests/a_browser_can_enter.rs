//! Headless Chromium joins over WebTransport, trusting the certificate's hash, and over WebSocket. The page is this
//! test's own: it says hello as any client would, and reports what it was answered.

mod serving;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serving::Serving;
use wire::{Hello, ToServer, VERSION, kind};

const CHROMIUM: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Says hello over both transports. `HELLO_…`, `HASH` and the addresses are filled in.
const PAGE: &str = r#"<!doctype html><meta charset="utf-8"><script type="module">
const report = text => fetch('/report', { method: 'POST', body: text });
try {
    const hash = new Uint8Array(HASH);
    const session = new WebTransport('https://QUIC/link', { serverCertificateHashes: [{ algorithm: 'sha-256', value: hash }] });
    await session.ready;
    const stream = await session.createBidirectionalStream();
    const hello = new Uint8Array(HELLO_1), frame = new Uint8Array(4 + hello.length);
    new DataView(frame.buffer).setUint32(0, hello.length, true);
    frame.set(hello, 4);
    await stream.writable.getWriter().write(frame);
    const first = await stream.readable.getReader().read();
    const datagram = await session.datagrams.readable.getReader().read();
    await report(`webtransport ${first.value[4]} ${datagram.value[0]}`);

    const socket = new WebSocket('ws://HTTP/link');
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => socket.send(new Uint8Array(HELLO_2));
    const kinds = [];
    socket.onmessage = event => {
        kinds.push(new Uint8Array(event.data)[0]);
        if (kinds.length == 1 || kinds.at(-1) == STATE) report(`websocket ${kinds[0]} ${kinds.at(-1)}`);
    };
    socket.onclose = event => report(`websocket closed ${event.code}`);
} catch (error) {
    report(`error ${error}`);
}
</script>"#;

#[test]
fn over_webtransport_and_over_websocket() {
    let Some(chromium) = CHROMIUM.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok()) else {
        println!("skipped: there is no Chromium here; links_carry_messages.rs has a session without a browser");
        return;
    };
    let pages = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", pages.local_addr().unwrap());
    let server = Serving::start(&format!("--in-memory --crowd 0 --origin {origin}"));
    let (sender, reports) = mpsc::channel();
    let page = page(&server);
    std::thread::spawn(move || {
        pages.incoming().flatten().for_each(|stream| {
            let (sender, page) = (sender.clone(), page.clone());
            std::thread::spawn(move || answer(stream, &page, &sender));
        });
    });

    let profile = tempfile::tempdir().unwrap();
    let flags = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking \
                 --disable-component-update --disable-sync --no-first-run";
    let mut browser = Command::new(chromium);
    browser.args(flags.split_whitespace()).arg(format!("--user-data-dir={}", profile.path().display()));
    let mut browser = browser.arg(&origin).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();

    let mut told = Vec::new();
    let wanted = [
        format!("webtransport {} {}", kind::WELCOME, kind::STATE),
        format!("websocket {} {}", kind::WELCOME, kind::STATE),
    ];
    while !wanted.iter().all(|wanted| told.contains(wanted)) {
        match reports.recv_timeout(Duration::from_secs(90)) {
            Ok(report) if report.starts_with("error") || report.contains("closed") => {
                let _ = browser.kill();
                panic!("{report}; before that: {told:?}");
            }
            Ok(report) => told.push(report),
            Err(_) => {
                let _ = browser.kill();
                panic!("the browser tells nothing more; it told {told:?}");
            }
        }
    }
    browser.kill().unwrap();
    browser.wait().unwrap();
}

fn page(server: &Serving) -> String {
    let introduction = get(&server.http, "/cert-hash");
    let introduction: serde_json::Value = serde_json::from_str(&introduction).unwrap();
    let digits = introduction["sha256"].as_str().unwrap();
    let hash: Vec<u8> = space::bytes::from_hex(digits).unwrap();
    let hello = |name: &str| {
        let hello = Hello { version: VERSION, nickname: name.to_owned(), ..Hello::default() };
        format!("{:?}", ToServer::Hello(hello).encode())
    };
    PAGE.replace("HASH", &format!("{hash:?}"))
        .replace("HELLO_1", &hello("Browser"))
        .replace("HELLO_2", &hello("Socket"))
        .replace("STATE", &kind::STATE.to_string())
        .replace("QUIC", &format!("127.0.0.1:{}", introduction["quic_port"]))
        .replace("HTTP", &server.http)
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").expect("an answer has a body").1.to_owned()
}

/// Serves the page, and passes on what it reports.
fn answer(stream: TcpStream, page: &str, reports: &mpsc::Sender<String>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if first.is_empty() {
            first = line.clone();
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    if first.starts_with("POST") {
        let _ = reports.send(String::from_utf8_lossy(&body).into_owned());
    }
    let content = if first.starts_with("GET / ") { page } else { "" };
    let mut stream = stream;
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{content}",
        content.len()
    );
}
