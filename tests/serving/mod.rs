//! A server in a process of its own, as a stranger starts it.

// Each test file compiles this module for itself and uses a part of it.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Nothing here takes long; a test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A server that is killed when the test is done with it.
pub struct Serving {
    child: Child,
    /// Reads what it logs, all along: a full pipe would hold it up.
    log: Option<JoinHandle<String>>,
    pub http: String,
    /// The file with the operator's token, and what it holds.
    pub operator_file: String,
    pub operator: String,
    /// What it printed until it was ready.
    pub printed: String,
}

impl Serving {
    /// Starts it on a free port, with these arguments, separated by spaces.
    pub fn start(arguments: &str) -> Serving {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kinesphere"));
        command.arg("serve").args(["--listen", "127.0.0.1:0"]).args(arguments.split_whitespace());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built");
        let mut stderr = child.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut log = Vec::new();
            let _ = stderr.read_to_end(&mut log);
            String::from_utf8_lossy(&log).into_owned()
        });
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let Some(first) = lines.next().and_then(Result::ok) else {
            panic!("the server does not start: {}", log.join().unwrap());
        };
        let http = first.split(' ').find_map(|word| word.strip_prefix("http=")).expect("the first line says where");
        let rest: Vec<String> = lines.map_while(Result::ok).take_while_inclusive(|line| !line.contains("token:"));
        let file = rest.last().and_then(|line| line.split_once("token: ")).expect("the last line names the file").1;
        let operator = std::fs::read_to_string(file).expect("the file is there").trim().to_owned();
        let printed = format!("{first}\n{}", rest.join("\n"));
        Serving { http: http.to_owned(), operator_file: file.to_owned(), operator, child, log: Some(log), printed }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.http)
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Gives an order as an operator does; the whole answer.
    pub async fn order(&self, order: &str) -> String {
        self.post("/operator", &format!("Host: localhost\r\nAuthorization: Bearer {}\r\n", self.operator), order).await
    }

    /// Posts JSON with these headers; the whole answer.
    pub async fn post(&self, path: &str, headers: &str, body: &str) -> String {
        let question = format!(
            "POST {path} HTTP/1.1\r\n{headers}Content-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        );
        let mut stream = tokio::net::TcpStream::connect(&self.http).await.unwrap();
        stream.write_all(question.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    /// One of its metrics, if it has counted any of it.
    pub fn metric(&self, metric: &str) -> Option<f64> {
        let mut stream = std::net::TcpStream::connect(&self.http).unwrap();
        let shown = format!("Authorization: Bearer {}\r\n", self.operator);
        let question = format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\n{shown}Connection: close\r\n\r\n");
        stream.write_all(question.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.lines().find_map(|line| line.strip_prefix(metric)?.strip_prefix(' ')?.trim().parse().ok())
    }

    /// Waits until one of its metrics is at least `least`.
    pub fn wait_for(&self, metric: &str, least: f64) {
        let begun = Instant::now();
        while self.metric(metric).is_none_or(|value| value < least) {
            assert!(begun.elapsed() < 2 * PATIENCE, "{metric} is not {least} yet");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// As `kill -9` does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// As Ctrl-C does; gives what it wrote to stderr.
    pub fn interrupt(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "it does not stop");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(self.child.wait().unwrap().success());
        self.log.take().unwrap().join().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

trait TakeWhileInclusive: Iterator<Item = String> {
    fn take_while_inclusive(self, goes_on: impl Fn(&str) -> bool) -> Vec<String>;
}

impl<I: Iterator<Item = String>> TakeWhileInclusive for I {
    fn take_while_inclusive(mut self, goes_on: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        for line in self.by_ref() {
            let is_last = !goes_on(&line);
            lines.push(line);
            if is_last {
                break;
            }
        }
        lines
    }
}

/// Starts bots; what they found is on stdout.
pub fn bots(server: &Serving, arguments: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kinesphere"));
    command.args(["bots", &server.url(), "--operator-token-file", &server.operator_file]);
    command.args(arguments.split_whitespace());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built")
}

/// What became of a command.
pub fn finished(child: Child) -> (Output, serde_json::Value) {
    let output = child.wait_with_output().unwrap();
    let document = serde_json::from_slice(&output.stdout).unwrap_or(serde_json::Value::Null);
    (output, document)
}
