//! A whole server: a world, its links, its store and its HTTP routes, from start to stop.
//!
//! ```no_run
//! use kinesphere::serve::{Options, Service};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let service = Service::start(Options { listen: "localhost:0".to_owned(), ..Options::default() }).await?;
//! println!("{}", service.url());
//! service.stop().await;
//! # Ok(())
//! # }
//! ```

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, SystemTime};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use server::{Server, ServerSettings};
use space::Time;
use thiserror::Error;
use tokio::net::{TcpListener, lookup_host};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use world::{Plaza, Spec, World};

use crate::admission::Admission;
use crate::certificate::{CertificateError, Certificates, Files};
use crate::drive::Driver;
use crate::http::{self, Answers, Health, Operator};
use crate::kept::{self, KeptError, KeptWorld};
use crate::link::{LinkLimits, Links, quic};
use crate::meters;
use crate::order::{self, Order, Orders};
use crate::origin::Origins;
use crate::store::keeper::{KeeperSettings, StoreKeeper};
use crate::store::{Store, StoreError};
use crate::token::{OperatorToken, Secret};
use crate::watch::Watchers;

/// How often metrics tidy up.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);
/// How many times a free pair of ports is looked for, when any will do.
const PORTS_TRIED: usize = 20;
/// How long a cluster may take to accept a server.
const JOINING_MAX: Duration = Duration::from_secs(30);

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Options {
    pub world: Arc<Spec>,
    /// Host and port, for HTTP over TCP and for QUIC over UDP; port 0 takes a free one.
    pub listen: String,
    /// The folder in which the world is kept, if it is kept.
    pub data: Option<PathBuf>,
    /// A certificate from files; without one the server makes its own.
    pub certificate: Option<Files>,
    /// How often the certificate is checked for renewal, or its files for changes.
    pub certificate_every: Duration,
    /// Other pages that may connect, as `https://host`.
    pub origins: Vec<String>,
    /// Whether users need a join token.
    pub asks_for_tokens: bool,
    /// The operator's token; without one the server makes one up. With one, or with other pages in `origins`, operators
    /// on this machine need it, too.
    pub operator_token: Option<String>,
    /// Settings of the server itself, with its limits.
    pub server: ServerSettings,
    /// When things are written to the disk.
    pub keeper: KeeperSettings,
    pub links: LinkLimits,
    /// The cluster that it is a part of.
    #[cfg(feature = "zenoh")]
    pub cluster: Option<crate::cluster::ClusterOptions>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            world: Arc::new(Plaza::default().spec()),
            listen: "localhost:7777".to_owned(),
            data: None,
            certificate: None,
            certificate_every: Duration::from_secs(60),
            origins: Vec::new(),
            asks_for_tokens: false,
            operator_token: None,
            server: ServerSettings::default(),
            keeper: KeeperSettings::default(),
            links: LinkLimits { links_per_address_max: 1_024, ..LinkLimits::default() },
            #[cfg(feature = "zenoh")]
            cluster: None,
        }
    }
}

/// Why a server does not start.
#[derive(Debug, Error)]
pub enum ServeError {
    #[error("cannot listen on {listen:?}: {error}; expected HOST:PORT, as in localhost:7777")]
    Address { listen: String, error: io::Error },
    /// The port is taken, or may not be used.
    #[error("cannot listen on {address}: {error}; {}", way_out(error))]
    Port { address: SocketAddr, error: io::Error },
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Kept(#[from] KeptError),
    #[error("cannot use the secret of join tokens: {0}")]
    Secret(io::Error),
    #[error("no thread could be had: {0}")]
    Thread(io::Error),
    #[error("no server can be made: {0}")]
    Server(#[from] interest::AuraError),
    #[error("no world can be made: {0}")]
    World(#[from] world::SpecError),
    #[cfg(feature = "zenoh")]
    #[error(transparent)]
    Fabric(#[from] crate::link::zenoh::FabricError),
    /// The cluster refuses it.
    #[error("cannot join: {0}")]
    TurnedAway(String),
    /// The cluster has not accepted it in time.
    #[error("cannot join: the cluster has not taken it in within {} seconds", JOINING_MAX.as_secs())]
    NotTakenIn,
    /// A server of a cluster keeps no world.
    #[error("a world of several servers is kept by none of them: --data cannot be used with --cluster")]
    KeptCluster,
    /// The address for clients is not an address.
    #[error(
        "{0:?} is no address that clients of a cluster could be sent to: say one with --advertise http://HOST:PORT"
    )]
    Advertise(String),
}

/// What to do about a port that cannot be used.
fn way_out(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "another server may run there: name another port with --listen",
        io::ErrorKind::AddrNotAvailable => "this machine has no such address: name one of its own with --listen",
        io::ErrorKind::PermissionDenied => {
            "name a port from 1024 on with --listen, or ask for the right to use this one"
        }
        _ => "name another host and port with --listen",
    }
}

#[cfg(feature = "zenoh")]
mod founding;

/// A running server.
pub struct Service {
    http: SocketAddr,
    quic: SocketAddr,
    is_encrypted: bool,
    operator_token: OperatorToken,
    orders: Orders,
    ended: oneshot::Receiver<Server>,
    tasks: Vec<JoinHandle<()>>,
    #[cfg(feature = "zenoh")]
    fabric: Option<crate::link::zenoh::Fabric>,
}

impl Service {
    /// Starts a server. Must be called within a runtime.
    pub async fn start(options: Options) -> Result<Service, ServeError> {
        let certificates = Arc::new(match options.certificate.clone() {
            Some(files) => Certificates::from_files(files)?,
            None => Certificates::self_signed(SystemTime::now())?,
        });
        let is_encrypted = options.certificate.is_some();

        #[cfg(feature = "zenoh")]
        if options.cluster.is_some() && options.data.is_some() {
            return Err(ServeError::KeptCluster);
        }
        let store = options.data.as_deref().map(Store::open_or_create).transpose()?;
        let (KeptWorld { world, sessions }, notes) = match &store {
            Some(store) => (kept::find(store, options.world.clone())?, store.notes()?),
            None => (KeptWorld { world: World::new(options.world.clone())?, sessions: Vec::new() }, Vec::new()),
        };
        let secret = match &options.data {
            Some(folder) => Secret::read_or_make(folder).map_err(ServeError::Secret)?,
            None => Secret::new(),
        };
        let began = Instant::now();
        let (links, inbox) = Links::new(options.links.clone());
        let origins = Arc::new(Origins::new(options.origins.clone()));
        let ports = Ports::bind(&options.listen, &certificates, &links, &origins).await?;
        let (http, quic) = (ports.http, ports.quic);
        origins.serve_page_at(http.port());

        #[cfg(feature = "zenoh")]
        let (server, nodes, joined, fabric) = match &options.cluster {
            Some(cluster) => {
                let scheme = if is_encrypted { "https" } else { "http" };
                let url = format!("{scheme}://{http}");
                let found = founding::take_part(&options, cluster, &url, origins.clone(), began).await?;
                (found.server, Some(found.nodes), Some(found.joined), Some(found.fabric))
            }
            None => (Server::restore(world, options.server, &sessions, Time::default())?, None, None, None),
        };
        #[cfg(not(feature = "zenoh"))]
        let (server, nodes, joined) = {
            let server = Server::restore(world, options.server, &sessions, Time::default())?;
            (server, None::<crate::drive::Nodes>, None::<oneshot::Receiver<Result<(), String>>>)
        };

        let keeper = store.map(|store| StoreKeeper::start(store, options.keeper));
        let watchers = Watchers::new(&server, keeper.as_ref().map(StoreKeeper::recaller));
        let metrics = metrics();
        meters::begin();
        let health = Health::default();
        let operator_token = options.operator_token.as_deref().map_or_else(OperatorToken::new, OperatorToken::chosen);
        let (orders, ordered) = mpsc::channel(16);
        let operator = Operator {
            token: operator_token.clone(),
            is_token_always_asked: options.operator_token.is_some() || !options.origins.is_empty(),
            orders: orders.clone(),
            watchers: watchers.clone(),
        };
        let answers = Answers {
            links,
            origins,
            certificates: certificates.clone(),
            quic,
            metrics: metrics.clone(),
            health: health.clone(),
            operator: Some(operator),
            peer: None,
        };
        let mut tasks = ports.serve(&answers);
        tasks.push(tokio::spawn(look_after(certificates, options.certificate_every, metrics)));

        let admission = Admission::new(secret, options.asks_for_tokens, !is_encrypted, &notes);
        let drive = Driver { server, inbox, admission, keeper, orders: ordered, health, watchers, nodes, began };
        let (end, ended) = oneshot::channel();
        let runtime = Handle::current();
        // Its own thread: other work of the runtime does not delay a tick.
        let thread = thread::Builder::new().name("server".to_owned()).spawn(move || {
            let _ = end.send(runtime.block_on(drive.run()));
        });
        thread.map_err(ServeError::Thread)?;
        let service = Service {
            http,
            quic,
            is_encrypted,
            operator_token,
            orders,
            ended,
            tasks,
            #[cfg(feature = "zenoh")]
            fabric,
        };
        if let Some(joined) = joined {
            match tokio::time::timeout(JOINING_MAX, joined).await {
                Ok(Ok(Ok(()))) => {}
                Ok(Ok(Err(sentence))) => return Err(ServeError::TurnedAway(sentence)),
                _ => {
                    service.stop().await;
                    return Err(ServeError::NotTakenIn);
                }
            }
        }
        Ok(service)
    }

    /// The address of HTTP.
    pub fn http(&self) -> SocketAddr {
        self.http
    }

    /// The address of QUIC.
    pub fn quic(&self) -> SocketAddr {
        self.quic
    }

    /// The address to open in a browser.
    pub fn url(&self) -> String {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        // "Everywhere" is no address; a server that listens everywhere is found here, too.
        if self.http.ip().is_unspecified() {
            return format!("{scheme}://localhost:{}", self.http.port());
        }
        format!("{scheme}://{}", self.http)
    }

    pub fn operator_token(&self) -> &OperatorToken {
        &self.operator_token
    }

    pub fn orders(&self) -> Orders {
        self.orders.clone()
    }

    /// Waits until an operator's order ends the server; `None` if it broke.
    pub async fn ended(&mut self) -> Option<Server> {
        (&mut self.ended).await.ok()
    }

    /// Ends all sessions, keeps the world and stops.
    pub async fn stop(mut self) -> Option<Server> {
        let _ = order::give(&self.orders, Order::Stop).await;
        let server = self.ended().await;
        #[cfg(feature = "zenoh")]
        if let Some(fabric) = self.fabric.take() {
            fabric.close().await;
        }
        server
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// One port number on each address, for TCP and for UDP.
pub(crate) struct Ports {
    pub http: SocketAddr,
    pub quic: SocketAddr,
    bound: Vec<(TcpListener, quic::QuicListener)>,
}

impl Ports {
    pub async fn bind(
        listen: &str,
        certificates: &Arc<Certificates>,
        links: &Links,
        origins: &Arc<Origins>,
    ) -> Result<Ports, ServeError> {
        let wrong = |error| ServeError::Address { listen: listen.to_owned(), error };
        let mut addresses: Vec<SocketAddr> = lookup_host(listen).await.map_err(wrong)?.collect();
        // IPv4 first: it is the one that is sure to work.
        addresses.sort_by_key(SocketAddr::is_ipv6);
        addresses.dedup();
        let (first, others) =
            addresses.split_first().ok_or_else(|| wrong(io::Error::other("the name has no address")))?;
        let pair = async |address: SocketAddr| {
            let refused = |error| ServeError::Port { address, error };
            let tcp = TcpListener::bind(address).await.map_err(refused)?;
            let same = SocketAddr::new(address.ip(), tcp.local_addr().map_err(refused)?.port());
            let udp = quic::QuicListener::bind(same, certificates.clone(), links.clone(), origins.clone());
            udp.map(|udp| (tcp, udp, same)).map_err(|error| ServeError::Port { address: same, error })
        };
        let mut tried = 0;
        let (tcp, udp, address) = loop {
            tried += 1;
            match pair(*first).await {
                // The free TCP port may be taken for UDP.
                Err(_) if first.port() == 0 && tried < PORTS_TRIED => {}
                found => break found?,
            }
        };
        let mut bound = vec![(tcp, udp)];
        for other in others {
            // `localhost` has two addresses, and a machine may lack the second.
            match pair(SocketAddr::new(other.ip(), address.port())).await {
                Ok((tcp, udp, _)) => bound.push((tcp, udp)),
                Err(error) => tracing::warn!(%error, "one address of several is not served"),
            }
        }
        Ok(Ports { http: address, quic: address, bound })
    }

    pub fn serve(self, answers: &Answers) -> Vec<JoinHandle<()>> {
        let mut tasks = Vec::new();
        for (tcp, udp) in self.bound {
            let answers = answers.clone();
            tasks.push(tokio::spawn(async move {
                if let Err(error) = http::serve(tcp, answers).await {
                    tracing::error!(%error, "HTTP is not answered any more");
                }
            }));
            tasks.push(tokio::spawn(udp.run()));
        }
        tasks
    }
}

/// Renews certificates and tidies up metrics.
async fn look_after(certificates: Arc<Certificates>, every: Duration, metrics: PrometheusHandle) {
    let mut upkeep = tokio::time::interval(UPKEEP_EVERY);
    let mut renewal = tokio::time::interval(every.max(Duration::from_millis(1)));
    loop {
        tokio::select! {
            _ = upkeep.tick() => metrics.run_upkeep(),
            _ = renewal.tick() => match certificates.renew_if_due(SystemTime::now()) {
                Ok(true) => tracing::info!(hash = %certificates.current().hash(), "the certificate was renewed"),
                Ok(false) => {}
                Err(error) => tracing::error!(%error, "the certificate could not be renewed; the old one stays"),
            },
        }
    }
}

/// The one recorder of this process: servers that share a process share it, too.
pub(crate) fn metrics() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    let make = || {
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        // A program that embeds this may have its own recorder; then this one stays empty.
        let _ = metrics::set_global_recorder(recorder);
        handle
    };
    HANDLE.get_or_init(make).clone()
}
