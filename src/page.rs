//! What a browser is shown at `/`. For now a sentence; and what any page of ours may do.

use axum::http::HeaderValue;
use axum::response::{Html, Response};

const SENTENCE: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Kinesphere</title>\n\
     <p>A Kinesphere world is served here; this server was built without its page, so that only programs can enter.</p>\n";

/// The page.
pub async fn page() -> Html<&'static str> {
    Html(SENTENCE)
}

/// What the browser lets our page do: run and load what came from here, and connect to here. WebTransport is asked for
/// at a port of its own, which `'self'` does not cover, on whatever host the page was reached by.
pub fn content_policy(quic_port: u16) -> HeaderValue {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self' https://*:{quic_port}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("it is plain text")
}

/// Adds to every answer what a browser must know before it trusts it.
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
