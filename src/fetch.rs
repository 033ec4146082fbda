//! The little HTTP that a native client needs: it fetches one short document.

use std::fmt;
use std::io;
use std::time::Duration;

use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::trust;

/// The most bytes of an answer. A page of metrics has a few thousand.
const ANSWER_MAX: u64 = 1 << 20;
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// A server's address, as in `http://localhost:7777`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Whether TLS is used, as `https://` says.
    pub is_encrypted: bool,
    /// Name or number, without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        write!(formatter, "{scheme}://{}", self.authority())
    }
}

impl Address {
    /// Host and port, as a client names them.
    fn authority(&self) -> String {
        let Address { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    /// Reads what `Display` writes. A path may follow; it is not used.
    pub fn parse(url: &str) -> Result<Address, FetchError> {
        let wrong = || FetchError::NotAnAddress(url.chars().take(100).collect());
        let (is_encrypted, usual, rest) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
            (Some(rest), _) => (false, "80", rest),
            (_, Some(rest)) => (true, "443", rest),
            _ => return Err(wrong()),
        };
        let place = rest.split('/').next().unwrap_or_default();
        let (host, port) = match place.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or_else(wrong)?;
                (host, port.strip_prefix(':').unwrap_or(usual))
            }
            None => place.split_once(':').unwrap_or((place, usual)),
        };
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_:%".contains(letter);
        if host.is_empty() || !host.chars().all(is_plain) {
            return Err(wrong());
        }
        Ok(Address { is_encrypted, host: host.to_owned(), port: port.parse().map_err(|_| wrong())? })
    }
}

/// Why a document could not be fetched.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The address cannot be parsed.
    #[error("{0:?} is not a server's address; expected one like http://localhost:7777")]
    NotAnAddress(String),
    /// The connection failed.
    #[error("{address} does not answer ({error}); does a server run there?")]
    Unreachable {
        address: Address,
        /// What the system says.
        error: io::Error,
    },
    /// The answer is an error status.
    #[error("{address}{path} answers: {status}")]
    Refused {
        address: Address,
        path: String,
        /// What the answer says.
        status: String,
    },
}

/// Fetches a document of UTF-8 text.
pub async fn fetch(address: &Address, path: &str) -> Result<String, FetchError> {
    let question = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", address.authority());
    answer(address, path, &question).await
}

/// Posts a JSON document, with an operator's token if there is one, and returns the answer.
pub async fn post(address: &Address, path: &str, json: &str, token: Option<&str>) -> Result<String, FetchError> {
    let shown = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
    let question = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\n{shown}Content-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{json}",
        address.authority(),
        json.len()
    );
    answer(address, path, &question).await
}

async fn answer(address: &Address, path: &str, question: &str) -> Result<String, FetchError> {
    let unreachable = |error: io::Error| FetchError::Unreachable { address: address.clone(), error };
    let answer = timeout(ANSWER_WITHIN, ask(address, question)).await;
    let answer = answer.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(unreachable)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.lines().next().unwrap_or_default();
    if status.split(' ').nth(1) != Some("200") {
        // Our servers put the reason into the body's first line.
        let said = body.lines().next().filter(|line| !line.is_empty()).unwrap_or(status);
        let status = said.chars().take(200).collect();
        return Err(FetchError::Refused { address: address.clone(), path: path.to_owned(), status });
    }
    Ok(body.to_owned())
}

async fn ask(address: &Address, question: &str) -> io::Result<String> {
    let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
    if !address.is_encrypted {
        return exchange(stream, question).await;
    }
    let name = ServerName::try_from(address.host.clone()).map_err(io::Error::other)?;
    exchange(trust::connector()?.connect(name, stream).await?, question).await
}

async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, question: &str) -> io::Result<String> {
    stream.write_all(question.as_bytes()).await?;
    let mut answer = String::new();
    stream.take(ANSWER_MAX).read_to_string(&mut answer).await?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        for url in ["http://localhost:7777", "http://127.0.0.1:80", "http://[::1]:7777", "https://plaza.example:1"] {
            assert_eq!(Address::parse(url).unwrap().to_string(), url);
        }
        assert_eq!(Address::parse("http://plaza.example/some/page").unwrap().port, 80);
        assert_eq!(Address::parse("https://plaza.example/some/page").unwrap().port, 443);
        for wrong in [
            "",
            "localhost:7777",
            "ftp://a:1",
            "http://",
            "http://:80",
            "http://a:b",
            "http://a:99999",
            "http://[::1",
            "http://a b:80",
            "http://a\r\nX: y:80",
        ] {
            assert!(Address::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
