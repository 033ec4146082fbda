//! What a server answers over HTTP: its page, whether it is well, its metrics, how to reach its QUIC endpoint, and
//! the WebSocket for browsers that QUIC does not reach.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, State, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use metrics_exporter_prometheus::PrometheusHandle;
use space::bytes::to_hex;
use tokio::net::TcpListener;
use tokio::time::timeout;
use world::spec::AvatarSpec;

use crate::certificate::Certificates;
use crate::connection::{Patience, answer_all};
use crate::link::client::{AvatarLook, Introduction};
use crate::link::{Links, PATH, websocket};
use crate::listen::{Encrypted, PeerAddress, Plain};
use crate::models;
use crate::operator::{Operators, Role};
use crate::order::{self, Order, Orders};
use crate::origin::{self, Origins};
use crate::page;
use crate::watch::{self, Watchers};

/// The longest body of a request; the longest order is shorter.
const BODY_MAX: usize = 4_096;
/// How long a body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(5);

const FOR_OPERATORS: &str =
    "This is for operators: show the token, which is in the file operator.token that the server named at its start.\n";
const OVERHEARD: &str =
    "Over plain HTTP a token could be read on the way: use HTTPS (--certificate), or ask from the server's machine.\n";

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

/// How operators prove themselves, and where their orders go.
#[derive(Clone)]
pub struct Operator {
    pub operators: Operators,
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
        .route("/operator/once", post(redeem))
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

async fn metrics(
    State(answers): State<Answers>,
    ConnectInfo(PeerAddress(peer)): ConnectInfo<PeerAddress>,
    headers: HeaderMap,
) -> Response {
    match admit(&answers, peer, &headers, Role::Watcher).await {
        Ok(_) => render(&answers.metrics),
        Err(refusal) => refusal.into_response(),
    }
}

fn render(metrics: &PrometheusHandle) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], metrics.render()).into_response()
}

/// Answers `/metrics` without a token, until it is dropped: for a listener that only monitoring reaches.
pub async fn serve_metrics(listener: TcpListener, metrics: PrometheusHandle) {
    let answer = move || std::future::ready(render(&metrics));
    answer_all(Plain::new(listener), Router::new().route("/metrics", get(answer)), Patience::default()).await;
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

/// Whether a token can be read on the way: over plain HTTP from elsewhere. A request that names another host than this
/// machine, or that a proxy passed on, comes from elsewhere, unless the proxy says that it came over HTTPS.
fn is_overheard(answers: &Answers, peer: SocketAddr, headers: &HeaderMap) -> bool {
    let is_direct = text(headers, "host").is_some_and(origin::is_loopback)
        && !headers.keys().any(|name| is_of_a_proxy(name.as_str()));
    let is_here = peer.ip().to_canonical().is_loopback();
    let is_encrypted = !answers.certificates.current().is_self_signed()
        || (is_here && text(headers, "x-forwarded-proto") == Some("https"));
    !(is_encrypted || is_here && is_direct)
}

/// Whether proxies add this header. Not every proxy adds one.
fn is_of_a_proxy(header: &str) -> bool {
    matches!(header, "forwarded" | "via" | "x-real-ip") || header.starts_with("x-forwarded-")
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"))
}

/// A status and a sentence.
type Refusal = (StatusCode, &'static str);

/// Lets a person through who proves at least this role. It is called before a body is read.
async fn admit<'a>(
    answers: &'a Answers,
    peer: SocketAddr,
    headers: &HeaderMap,
    least: Role,
) -> Result<(&'a Operator, Role), Refusal> {
    let refused = |sentence: &'static str| Err((StatusCode::FORBIDDEN, sentence));
    let Some(operator) = &answers.operator else { return Err((StatusCode::NOT_FOUND, "")) };
    if !answers.origins.admit_socket(text(headers, "origin"), text(headers, "host")) {
        return refused("This page may not ask; --origin lists those that may.\n");
    }
    let Some(shown) = text(headers, "authorization").and_then(|value| value.strip_prefix("Bearer ")) else {
        return refused(FOR_OPERATORS);
    };
    if is_overheard(answers, peer, headers) {
        return refused(OVERHEARD);
    }
    match operator.operators.role_of(shown).await {
        Some(role) if role >= least => Ok((operator, role)),
        Some(_) => refused("This token's role may not do that.\n"),
        None => {
            tracing::warn!(%peer, "a wrong operator's token was shown");
            refused(FOR_OPERATORS)
        }
    }
}

/// Reads a body that must be short, and must be there soon.
async fn read_body(body: Body) -> Result<Bytes, Refusal> {
    match timeout(BODY_PATIENCE, to_bytes(body, BODY_MAX)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err((StatusCode::PAYLOAD_TOO_LARGE, "An order has at most 4,096 bytes.\n")),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "The order did not arrive in time.\n")),
    }
}

/// Carries out an order, and logs who gave it and what came of it.
async fn obey(
    State(answers): State<Answers>,
    ConnectInfo(PeerAddress(peer)): ConnectInfo<PeerAddress>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let (operator, role) = match admit(&answers, peer, &headers, Role::Watcher).await {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal.into_response(),
    };
    // A page of another origin cannot send this type without being asked first.
    if text(&headers, "content-type").is_none_or(|kind| !kind.starts_with("application/json")) {
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, "An order is application/json.\n").into_response();
    }
    let bytes = match read_body(body).await {
        Ok(bytes) => bytes,
        Err(refusal) => return refusal.into_response(),
    };
    let order: Order = match serde_json::from_slice(&bytes) {
        Ok(order) => order,
        Err(error) => {
            return (StatusCode::UNPROCESSABLE_ENTITY, format!("This is no order: {error}.\n")).into_response();
        }
    };
    if role < order.least_role() {
        tracing::warn!(%peer, role = role.name(), ?order, "an order was refused");
        let sentence = format!("A {} may not give this order.\n", role.name());
        return (StatusCode::FORBIDDEN, sentence).into_response();
    }
    let named = format!("{order:?}");
    let answer = order::give(&operator.orders, order).await;
    tracing::info!(%peer, role = role.name(), order = named, obeyed = answer.is_ok(), "an order");
    match answer {
        Ok(sentence) => format!("{sentence}\n").into_response(),
        Err(sentence) => (StatusCode::CONFLICT, format!("{sentence}\n")).into_response(),
    }
}

/// Trades the one-time secret that the start printed for the operator's token.
async fn redeem(
    State(answers): State<Answers>,
    ConnectInfo(PeerAddress(peer)): ConnectInfo<PeerAddress>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Some(operator) = &answers.operator else { return StatusCode::NOT_FOUND.into_response() };
    if is_overheard(&answers, peer, &headers) {
        return (StatusCode::FORBIDDEN, OVERHEARD).into_response();
    }
    let bytes = match read_body(body).await {
        Ok(bytes) => bytes,
        Err(refusal) => return refusal.into_response(),
    };
    match operator.operators.redeem(&String::from_utf8_lossy(&bytes)) {
        Some(token) => {
            tracing::info!(%peer, "the link to the operator's map was used");
            ([(header::CACHE_CONTROL, "no-store")], token).into_response()
        }
        None => (
            StatusCode::FORBIDDEN,
            "This link was used already, or is older than ten minutes; show the token instead.\n",
        )
            .into_response(),
    }
}

/// Streams the map to an operator who shows the token in the first message.
async fn open_watch(
    State(answers): State<Answers>,
    ConnectInfo(PeerAddress(peer)): ConnectInfo<PeerAddress>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let Some(operator) = answers.operator.clone() else { return StatusCode::NOT_FOUND.into_response() };
    if !answers.origins.admit_socket(text(&headers, "origin"), text(&headers, "host")) {
        return (StatusCode::FORBIDDEN, "This page may not watch; --origin lists those that may.\n").into_response();
    }
    let overheard = is_overheard(&answers, peer, &headers).then_some(OVERHEARD);
    bounded(upgrade, watch::QUESTION_MAX)
        .on_upgrade(move |socket| watch::serve(socket, operator.watchers, operator.operators, overheard))
}

async fn open_socket(
    State(answers): State<Answers>,
    ConnectInfo(PeerAddress(peer)): ConnectInfo<PeerAddress>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if !answers.origins.admit_socket(text(&headers, "origin"), text(&headers, "host")) {
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
