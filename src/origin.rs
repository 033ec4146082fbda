//! Which pages may connect. A browser lets any page of the web open a WebSocket or a session to any server and only
//! tells the page's origin. Without a check of the origin, a stranger's page could act in its visitor's name.

use std::net::IpAddr;
use std::sync::{OnceLock, RwLock};

/// The origins of pages that may connect.
#[derive(Debug, Default)]
pub struct Origins {
    /// Other pages that may, as `scheme://host:port`.
    listed: Vec<String>,
    /// Where our own page is served.
    http_port: OnceLock<u16>,
    /// Where other servers of our world serve the same page.
    servers: RwLock<Vec<String>>,
}

impl Origins {
    /// Our own page, and those listed.
    pub fn new(listed: Vec<String>) -> Origins {
        let listed = listed.into_iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect();
        Origins { listed, http_port: OnceLock::new(), servers: RwLock::default() }
    }

    /// Sets where our own page is served, once that is known.
    pub fn serve_page_at(&self, http_port: u16) {
        let _ = self.http_port.set(http_port);
    }

    /// Sets the other servers of our world: their pages may connect, and ours may go to them.
    pub fn share_with(&self, servers: &[String]) {
        let known = self.servers();
        if !known.iter().eq(servers) {
            *self.servers.write().expect("no thread panics while holding it") = servers.to_vec();
        }
    }

    /// The other servers of our world.
    pub fn servers(&self) -> Vec<String> {
        self.servers.read().expect("no thread panics while holding it").clone()
    }

    /// Whether the origin is another server of our world, or is listed.
    pub fn is_known(&self, origin: &str) -> bool {
        self.is_listed(origin)
    }

    /// Whether a page may open a WebSocket: `host` is what the browser asked for, as in `localhost:7777`. Programs
    /// send no origin; they could send any.
    pub fn admit_socket(&self, origin: Option<&str>, host: Option<&str>) -> bool {
        let Some(origin) = origin else { return true };
        self.is_listed(origin) || (host.is_some() && split(origin) == host.and_then(|host| split_host(host, origin)))
    }

    /// Whether a page may open a session. It is asked for at the QUIC port, so that only the host can be compared with
    /// what the browser asked for; the port must be our page's, or the one that a scheme implies. This machine is one
    /// host, by whichever of its names.
    pub fn admit_session(&self, origin: Option<&str>, authority: &str) -> bool {
        let Some(origin) = origin else { return true };
        if self.is_listed(origin) {
            return true;
        }
        let (Some((page, port)), Some((host, _))) = (split(origin), split_host(authority, origin)) else {
            return false;
        };
        (page == host || is_loopback(&page) && is_loopback(&host)) && Some(&port) == self.http_port.get()
    }

    fn is_listed(&self, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        self.listed.contains(&origin) || self.servers.read().is_ok_and(|servers| servers.contains(&origin))
    }
}

/// Whether a text is an origin as browsers send it: a scheme, a host and perhaps a port.
pub fn is_origin(text: &str) -> bool {
    let is_web = text.starts_with("http://") || text.starts_with("https://");
    let host = text.trim_end_matches('/');
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_:[]".contains(letter);
    is_web && split(host).is_some_and(|(host, _)| !host.is_empty() && host.chars().all(is_plain))
}

/// Whether a host, as a client wrote it, names this machine. A stranger's name may resolve to it, too, but does not
/// count.
pub fn is_loopback(host: &str) -> bool {
    let Some((name, _)) = split_host(host, "") else { return false };
    let number = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || number.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Host and port of an origin.
fn split(origin: &str) -> Option<(String, u16)> {
    let (_, host) = origin.split_once("://")?;
    split_host(host, origin)
}

/// Host and port, where the origin's scheme implies a missing port.
fn split_host(host: &str, origin: &str) -> Option<(String, u16)> {
    let implied = if origin.starts_with("https:") { 443 } else { 80 };
    // A colon within brackets belongs to an address.
    match host.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
        Some((name, port)) => Some((name.to_ascii_lowercase(), port.parse().ok()?)),
        None => Some((host.to_ascii_lowercase(), implied)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_a_scheme_and_a_host() {
        for text in ["https://a.example", "http://localhost:5173", "https://[::1]:80", "https://a.example/"] {
            assert!(is_origin(text), "{text}");
        }
        for text in ["", "a.example", "ftp://a.example", "https://", "https://a b", "https://a/page", "https://a:b"] {
            assert!(!is_origin(text), "{text}");
        }
    }

    #[test]
    fn our_own_page_and_listed_ones_may_connect_and_no_other() {
        let origins = Origins::new(vec!["https://World.example/".to_owned()]);
        origins.serve_page_at(7777);
        let socket = |origin, host| origins.admit_socket(Some(origin), Some(host));
        assert!(!socket("http://10.0.0.2:7777", "10.0.0.7:7777"));
        origins.share_with(&["http://10.0.0.2:7777".to_owned()]);
        assert!(socket("http://10.0.0.2:7777", "10.0.0.7:7777"), "another server of the world");
        origins.share_with(&[]);
        assert!(socket("http://localhost:7777", "localhost:7777"));
        assert!(socket("http://[::1]:7777", "[::1]:7777"));
        assert!(socket("https://plaza.example", "plaza.example:443"));
        assert!(socket("https://world.example", "10.0.0.7:7777"));
        assert!(!socket("http://localhost:3000", "localhost:7777"));
        assert!(!socket("http://evil.example:7777", "localhost:7777"));
        assert!(!socket("null", "localhost:7777"));
        assert!(!origins.admit_socket(Some("http://localhost:7777"), None));
        assert!(origins.admit_socket(None, Some("localhost:7777")), "programs send no origin");

        for (host, is_here) in [
            ("localhost:7", true),
            ("127.0.0.1", true),
            ("[::1]:7", true),
            ("localhost.evil.example:7", false),
            ("10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(host), is_here, "{host}");
        }
        let session = |origin, authority| origins.admit_session(Some(origin), authority);
        assert!(session("http://localhost:7777", "localhost:7778"));
        assert!(session("http://[::1]:7777", "[::1]:7778"));
        assert!(session("http://localhost:7777", "127.0.0.1:7778"));
        assert!(!session("http://evil.example:7777", "127.0.0.1:7778"));
        assert!(session("https://world.example", "10.0.0.7:7778"));
        assert!(!session("http://localhost:3000", "localhost:7778"));
        assert!(!session("http://evil.example:7777", "localhost:7778"));
        assert!(!session("null", "localhost:7778"));
    }
}
