//! What a browser is shown at `/`. For now a sentence; and what any page of ours may do.

use axum::http::HeaderValue;
use axum::response::{Html, Response};

/// What the browser lets our page do: run and load what came from here, and connect to here. WebTransport is asked for
/// at another port, which `'self'` does not cover; the host is the page's own, whatever it was reached by.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self' https: wss: ws:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SENTENCE: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Kinesphere</title>\n\
     <p>A Kinesphere world is served here; this server was built without its page, so that only programs can enter.</p>\n";

/// The page.
pub async fn page() -> Html<&'static str> {
    Html(SENTENCE)
}

/// Adds to every answer what a browser must know before it trusts it.
pub async fn guard(mut response: Response) -> Response {
    let headers = response.headers_mut();
    let strict = [
        ("content-security-policy", CONTENT_POLICY),
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
