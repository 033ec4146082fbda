//! What a server answers over HTTP: its page, whether it is well, its metrics, how to reach its QUIC endpoint, and
//! the WebSocket for browsers that QUIC does not reach.

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
use crate::listen::{Encrypted, PeerAddress, Plain};
use crate::models;
use crate::order::{self, Order, Orders};
use crate::origin::{self, Origins};
use crate::page;
use crate::token::OperatorToken;
use crate::watch::{self, Watchers};

/// What the routes answer from.
#[derive(Clone)]
pub struct Answers {
    /// Where a WebSocket's link goes.
    pub links: Links,
    /// The origins whose pages may open a WebSocket.
    pub origins: Arc<Origins>,
    /// The certificate of the QUIC endpoint.
    pub certificates: Arc<Certificates>,
    /// The port of the QUIC endpoint.
    pub quic: SocketAddr,
    /// The metrics that `/metrics` renders.
    pub metrics: PrometheusHandle,
    /// Whether the server is well; if not, why.
    pub health: Health,
    /// How operators prove themselves and where their orders go; `None` where no orders are taken.
    pub operator: Option<Operator>,
    /// The name of the local user, if the page belongs to a peer.
    pub peer: Option<String>,
}

/// Where orders go, and the token that an operator must show.
#[derive(Clone)]
pub struct Operator {
    /// The token that operators on other machines must show.
    pub token: OperatorToken,
    /// Whether requests from this machine need the token, too: a public server may have a proxy here.
    pub is_token_always_asked: bool,
    pub orders: Orders,
    /// Snapshots of the world for the operator's map.
    pub watchers: Watchers,
}

/// The server's health: `None`, or what is wrong. The part that notices sets it.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<std::sync::Mutex<Option<String>>>);

impl Health {
    /// Sets what is wrong, or `None`.
    pub fn set(&self, wrong: Option<String>) {
        *self.0.lock().expect("no thread panics while holding it") = wrong;
    }

    pub fn wrong(&self) -> Option<String> {
        self.0.lock().expect("no thread panics while holding it").clone()
    }
}

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
    // Pages of other servers of this world read this when their user is sent here.
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

/// Whether a request needs no token: it comes from this machine, and the server trusts that. A request that came from a
/// page of another origin or through a proxy only seems to be local.
fn is_trusted(answers: &Answers, operator: &Operator, peer: SocketAddr, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    !operator.is_token_always_asked
        && peer.ip().to_canonical().is_loopback()
        && text("host").is_some_and(origin::is_loopback)
        && !headers.keys().any(|name| is_of_a_proxy(name.as_str()))
        && answers.origins.admit_socket(text("origin"), text("host"))
}

/// Whether proxies add this header. Not every proxy adds one.
fn is_of_a_proxy(header: &str) -> bool {
    matches!(header, "forwarded" | "via" | "x-real-ip") || header.starts_with("x-forwarded-")
}

/// Carries out an operator's order. Requests from this machine need no token, unless the server always asks for it.
async fn obey(
    State(answers): State<Answers>,
    ConnectInfo(PeerAddress(peer)): ConnectInfo<PeerAddress>,
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

/// Streams the map to an operator who is trusted or shows the token in the first message.
async fn open_watch(
    State(answers): State<Answers>,
    ConnectInfo(PeerAddress(peer)): ConnectInfo<PeerAddress>,
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
    ConnectInfo(PeerAddress(peer)): ConnectInfo<PeerAddress>,
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

/// Bounds the memory of a WebSocket whose peer sends messages of at most `message_max` bytes. The library answers pings
/// into a buffer that by default grows for as long as the peer does not read.
fn bounded(upgrade: WebSocketUpgrade, message_max: usize) -> WebSocketUpgrade {
    upgrade
        .max_message_size(message_max)
        .max_frame_size(message_max)
        .write_buffer_size(websocket::UNSENT_TARGET)
        .max_write_buffer_size(websocket::UNSENT_MAX)
}
