//! The page that a browser gets, and its security policy. `build.rs` embeds the files; without npm there are none, and
//! a sentence says so.

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

/// A file of the page.
pub struct File {
    name: &'static str,
    kind: &'static str,
    plain: &'static [u8],
    packed: Option<&'static [u8]>,
}

include!(concat!(env!("OUT_DIR"), "/page.rs"));

const SENTENCE: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Kinesphere</title>\n\
     <p>A Kinesphere world is served here; this server was built without its page, so that only programs can enter: \
     it takes npm while building.</p>\n";

/// Whether the page was built.
pub fn is_built() -> bool {
    !FILES.is_empty()
}

/// The page for users.
pub async fn index(headers: HeaderMap) -> Response {
    file("index.html", &headers)
}

/// The operator's map. Loading it needs no token; the data that it shows does.
pub async fn map(headers: HeaderMap) -> Response {
    file("map.html", &headers)
}

/// The page that measures its own speed.
pub async fn bench(headers: HeaderMap) -> Response {
    file("bench.html", &headers)
}

/// Scripts, styles and pictures of the pages.
pub async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    file(&format!("assets/{name}"), &headers)
}

pub async fn icon(headers: HeaderMap) -> Response {
    file("icon.svg", &headers)
}

fn file(name: &str, headers: &HeaderMap) -> Response {
    if !is_built() {
        return Html(SENTENCE).into_response();
    }
    let Some(file) = FILES.iter().find(|file| file.name == name) else {
        return (StatusCode::NOT_FOUND, "There is no such file.\n").into_response();
    };
    // An asset's name holds a hash of its content, so it may be cached for ever.
    let is_eternal = name.starts_with("assets/");
    let cache = if is_eternal { "public, max-age=31536000, immutable" } else { "no-cache" };
    let about = [(header::CONTENT_TYPE, file.kind), (header::CACHE_CONTROL, cache), (header::VARY, "accept-encoding")];
    let accepts = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("");
    match file.packed {
        Some(packed) if accepts.contains("gzip") => {
            (about, [(header::CONTENT_ENCODING, "gzip")], packed).into_response()
        }
        _ => (about, file.plain).into_response(),
    }
}

/// The content security policy: load and run what came from here, and connect to here. WebTransport has a port of its
/// own, which `'self'` does not cover, on the host that the page was loaded from.
pub fn content_policy(quic_port: u16, servers: &[String]) -> HeaderValue {
    // A page may move to another server of its world, over HTTP, WebSocket, or WebTransport at the same port.
    let elsewhere: String = servers
        .iter()
        .filter_map(|server| {
            let (scheme, host) = server.split_once("://")?;
            let socket = if scheme == "https" { "wss" } else { "ws" };
            let is_plain = host.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-_:[]".contains(letter));
            is_plain.then(|| format!(" {scheme}://{host} {socket}://{host} https://{host}"))
        })
        .collect();
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self' https://*:{quic_port}{elsewhere}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("it is plain text")
}

/// Adds the security headers to every answer.
pub fn guard(content_policy: &HeaderValue, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert("content-security-policy", content_policy.clone());
    let strict = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    for (name, value) in strict {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
