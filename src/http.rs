//! What a server answers over HTTP: its page, whether it is well, its metrics, how to reach its QUIC endpoint, and
//! the WebSocket for those whom QUIC does not reach.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, State, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use metrics_exporter_prometheus::PrometheusHandle;
use space::bytes::to_hex;
use tokio::net::TcpListener;
use world::spec::AvatarSpec;

use crate::certificate::Certificates;
use crate::connection::{Patience, answer_all};
use crate::link::client::{AvatarLook, Introduction};
use crate::link::{Links, PATH, websocket};
use crate::listen::{Encrypted, Peer, Plain};
use crate::models;
use crate::order::{self, Order, Orders};
use crate::origin::{self, Origins};
use crate::page;
use crate::token::OperatorToken;
use crate::watch::{self, Watchers};

/// What the answers are made of.
#[derive(Clone)]
pub struct Answers {
    /// Where a WebSocket's link goes.
    pub links: Links,
    /// Whose pages may open one.
    pub origins: Arc<Origins>,
    /// What the QUIC endpoint shows.
    pub certificates: Arc<Certificates>,
    /// Where the QUIC endpoint is.
    pub quic: SocketAddr,
    /// What was counted.
    pub metrics: PrometheusHandle,
    /// Whether the server is well; if not, why.
    pub health: Health,
    /// Who may give orders, and to whom; none if nobody may.
    pub operator: Option<Operator>,
    /// As whom its user takes part, if the page is a peer's.
    pub peer: Option<String>,
}

/// Where orders go, and what one must show to give them.
#[derive(Clone)]
pub struct Operator {
    /// What an operator shows who is not on this machine.
    pub token: OperatorToken,
    /// Whether one shows it also on this machine: a public server has a proxy there, or may have one some day.
    pub is_token_always_asked: bool,
    /// Who obeys.
    pub orders: Orders,
    /// What operators see.
    pub watchers: Watchers,
}

/// Whether the server is well: none, or what is wrong. Set by whoever notices.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<std::sync::Mutex<Option<String>>>);

impl Health {
    /// Says what is wrong, or that nothing is.
    pub fn set(&self, wrong: Option<String>) {
        *self.0.lock().expect("nobody panics while holding it") = wrong;
    }

    /// What is wrong.
    pub fn wrong(&self) -> Option<String> {
        self.0.lock().expect("nobody panics while holding it").clone()
    }
}

/// All routes.
pub fn router(answers: Answers) -> Router {
    let models = models::told(answers.operator.as_ref().map(|operator| operator.watchers.spec()));
    let tell_models = move || {
        let models = models.clone();
        async { ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-cache")], models) }
    };
    let (quic_port, origins) = (answers.quic.port(), answers.origins.clone());
    let guard = move |response: Response| {
        let policy = page::content_policy(quic_port, &origins.servers());
        std::future::ready(page::guard(&policy, response))
    };
    Router::new()
        .route("/", get(page::index))
        .route("/map", get(page::map))
        .route("/bench", get(page::bench))
        .route("/assets/{name}", get(page::asset))
        .route("/icon.svg", get(page::icon))
        .route("/healthz", get(healthz))
        .route("/metrics", get(metrics))
        .route("/cert-hash", get(introduce))
        .route("/models", get(tell_models))
        .route(PATH, get(open_socket))
        .route("/operator", post(obey))
        .route(watch::PATH, get(open_watch))
        .layer(map_response(guard))
        .with_state(answers)
}

/// Answers until it is dropped: over TLS when there is a certificate that browsers trust by themselves.
pub async fn serve(listener: TcpListener, answers: Answers) -> io::Result<()> {
    let certificates = answers.certificates.clone();
    let router = router(answers);
    if certificates.current().is_self_signed() {
        answer_all(Plain::new(listener), router, Patience::default()).await;
    } else {
        answer_all(Encrypted::new(listener, certificates)?, router, Patience::default()).await;
    }
    Ok(())
}

async fn healthz(State(answers): State<Answers>) -> Response {
    match answers.health.wrong() {
        None => "well\n".into_response(),
        Some(wrong) => (StatusCode::SERVICE_UNAVAILABLE, format!("{wrong}\n")).into_response(),
    }
}

async fn metrics(State(answers): State<Answers>) -> Response {
    let text = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (text, answers.metrics.render()).into_response()
}

async fn introduce(State(answers): State<Answers>, headers: HeaderMap) -> Response {
    let certificate = answers.certificates.current();
    let spec = answers.operator.as_ref().map(|operator| operator.watchers.spec());
    let introduction = Introduction {
        sha256: certificate.hash().to_string(),
        quic_port: answers.quic.port(),
        loopback: Some(answers.quic.ip()).filter(IpAddr::is_loopback),
        is_self_signed: certificate.is_self_signed(),
        world: spec.map_or_else(String::new, |spec| spec.name.clone()),
        sky: spec.map(|spec| format!("#{}", to_hex(&spec.sky))),
        avatars: spec.map_or_else(Vec::new, |spec| spec.avatars.iter().map(avatar_look).collect()),
        peer: answers.peer.clone(),
    };
    let mut response = ([(header::CACHE_CONTROL, "no-store")], Json(introduction)).into_response();
    // A page that is sent here from another server of this world has to read this.
    if let Some(origin) = headers.get(header::ORIGIN)
        && origin.to_str().is_ok_and(|origin| answers.origins.is_known(origin))
    {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
    response
}

fn avatar_look(avatar: &AvatarSpec) -> AvatarLook {
    AvatarLook { name: avatar.name.clone(), height: avatar.height, radius: avatar.radius }
}

/// Whether a question needs no token: it comes from this machine, where its server trusts that. One that came by way of
/// a browser's page of another origin or of a proxy only seems to.
fn is_trusted(answers: &Answers, operator: &Operator, peer: SocketAddr, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    !operator.is_token_always_asked
        && peer.ip().to_canonical().is_loopback()
        && text("host").is_some_and(origin::is_loopback)
        && !headers.keys().any(|name| is_of_a_proxy(name.as_str()))
        && answers.origins.admit_socket(text("origin"), text("host"))
}

/// Whether a header is one that proxies add. Not every proxy adds any.
fn is_of_a_proxy(header: &str) -> bool {
    matches!(header, "forwarded" | "via" | "x-real-ip") || header.starts_with("x-forwarded-")
}

/// Obeys an operator. Someone on this machine needs no token, unless the server asks everybody.
async fn obey(
    State(answers): State<Answers>,
    ConnectInfo(Peer(peer)): ConnectInfo<Peer>,
    headers: HeaderMap,
    Json(order): Json<Order>,
) -> Response {
    let Some(operator) = &answers.operator else { return StatusCode::NOT_FOUND.into_response() };
    let authorization = headers.get("authorization").map(|value| value.to_str().unwrap_or("unreadable"));
    let is_operator = match authorization.and_then(|value| value.strip_prefix("Bearer ")) {
        Some(shown) => operator.token.is(shown),
        None => is_trusted(&answers, operator, peer, &headers),
    };
    if !is_operator {
        let sentence = "This is for operators: show the token that the server printed when it started.\n";
        return (StatusCode::FORBIDDEN, sentence).into_response();
    }
    match order::give(&operator.orders, order).await {
        Ok(sentence) => format!("{sentence}\n").into_response(),
        Err(sentence) => (StatusCode::CONFLICT, format!("{sentence}\n")).into_response(),
    }
}

/// Lets an operator watch: whoever is trusted, or shows the token in its first message.
async fn open_watch(
    State(answers): State<Answers>,
    ConnectInfo(Peer(peer)): ConnectInfo<Peer>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    let Some(operator) = answers.operator.clone() else { return StatusCode::NOT_FOUND.into_response() };
    if !answers.origins.admit_socket(text(header::ORIGIN), text(header::HOST)) {
        return (StatusCode::FORBIDDEN, "This page may not watch; --origin lists those that may.\n").into_response();
    }
    let is_trusted = is_trusted(&answers, &operator, peer, &headers);
    bounded(upgrade, watch::QUESTION_MAX)
        .on_upgrade(move |socket| watch::serve(socket, operator.watchers, operator.token, is_trusted))
}

async fn open_socket(
    State(answers): State<Answers>,
    ConnectInfo(Peer(peer)): ConnectInfo<Peer>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    if !answers.origins.admit_socket(text(header::ORIGIN), text(header::HOST)) {
        return (StatusCode::FORBIDDEN, "This page may not connect here; --origin lists those that may.\n")
            .into_response();
    }
    bounded(upgrade, websocket::FRAME_MAX).on_upgrade(move |socket| websocket::carry(socket, peer, answers.links))
}

/// Bounds what a WebSocket may hold of a peer that sends messages of at most so many bytes. The library answers pings by
/// itself, into a buffer that by default grows for as long as the peer does not read.
fn bounded(upgrade: WebSocketUpgrade, message_max: usize) -> WebSocketUpgrade {
    upgrade
        .max_message_size(message_max)
        .max_frame_size(message_max)
        .write_buffer_size(websocket::UNSENT_TARGET)
        .max_write_buffer_size(websocket::UNSENT_MAX)
}
