//! A whole server: a world, its links, its store, its answers over HTTP, from start to farewell.
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
use crate::drive::Drive;
use crate::http::{self, Answers, Health, Operator};
use crate::kept::{self, Kept, KeptError};
use crate::link::{LinkLimits, Links, quic};
use crate::meters;
use crate::order::{self, Order, Orders};
use crate::origin::Origins;
use crate::store::keeper::{Keeper, KeeperSettings};
use crate::store::{Store, StoreError};
use crate::token::{OperatorToken, Secret};
use crate::watch::Watchers;

/// How often metrics tidy up.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);
/// How often a free pair of ports is looked for, when any will do.
const PORTS_TRIED: usize = 20;
/// How long a cluster may take to take a server in.
const JOINING_MAX: Duration = Duration::from_secs(30);

/// How a server is to be.
#[derive(Clone, Debug)]
pub struct Options {
    /// The world.
    pub world: Arc<Spec>,
    /// Host and port, for HTTP over TCP and for QUIC over UDP; port 0 takes a free one.
    pub listen: String,
    /// Where the world is kept; none forgets it.
    pub data: Option<PathBuf>,
    /// A real certificate; without one a server makes its own.
    pub certificate: Option<Files>,
    /// How often it is looked whether the certificate is due, or its files have changed.
    pub certificate_every: Duration,
    /// Other pages that may connect, as `https://host`.
    pub origins: Vec<String>,
    /// Whether one needs a join token.
    pub asks_for_tokens: bool,
    /// What an operator shows; without one the server makes one up. With one, or with other pages in `origins`, it is
    /// asked of operators on this machine, too.
    pub operator_token: Option<String>,
    /// How the server works, with its limits.
    pub server: ServerSettings,
    /// When things are written.
    pub keeper: KeeperSettings,
    /// What a link may cost.
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
    /// The address makes no sense.
    #[error("cannot listen on {listen:?}: {error}; expected HOST:PORT, as in localhost:7777")]
    Address {
        /// What was given.
        listen: String,
        /// What is wrong.
        error: io::Error,
    },
    /// The port is taken, or may not be.
    #[error("cannot listen on {address}: {error}; {}", way_out(error))]
    Port {
        /// Which.
        address: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
    /// The certificate cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The kept world cannot go on.
    #[error(transparent)]
    Kept(#[from] KeptError),
    /// The secret that signs tokens cannot be used.
    #[error("cannot use the secret of join tokens: {0}")]
    Secret(io::Error),
    /// The system gives no thread.
    #[error("no thread could be had: {0}")]
    Thread(io::Error),
    /// An aura makes no sense.
    #[error("no server can be made: {0}")]
    Server(#[from] interest::AuraError),
    /// No world can be made.
    #[error("no world can be made: {0}")]
    World(#[from] world::SpecError),
    /// The other servers are not reached.
    #[cfg(feature = "zenoh")]
    #[error(transparent)]
    Fabric(#[from] crate::link::zenoh::FabricError),
    /// The other servers do not take it.
    #[error("cannot join: {0}")]
    TurnedAway(String),
    /// The other servers have not agreed on it.
    #[error("cannot join: the cluster has not taken it in within {} seconds", JOINING_MAX.as_secs())]
    NotTakenIn,
    /// A cluster keeps no world.
    #[error("a world of several servers is kept by none of them: --data cannot be used with --cluster")]
    KeptCluster,
    /// Where clients find it must be an address.
    #[error(
        "{0:?} is no address that clients of a cluster could be sent to: say one with --advertise http://HOST:PORT"
    )]
    Advertise(String),
}

/// What to do about a port that cannot be had.
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
        let (Kept { world, sessions }, notes) = match &store {
            Some(store) => (kept::find(store, options.world.clone())?, store.notes()?),
            None => (Kept { world: World::new(options.world.clone())?, sessions: Vec::new() }, Vec::new()),
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

        let keeper = store.map(|store| Keeper::start(store, options.keeper));
        let watchers = Watchers::new(&server, keeper.as_ref().map(Keeper::recaller));
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
        let drive = Drive { server, inbox, admission, keeper, orders: ordered, health, watchers, nodes, began };
        let (end, ended) = oneshot::channel();
        let runtime = Handle::current();
        // Its own thread: whatever else the runtime has to do, a tick is not late for it.
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

    /// Where HTTP is answered.
    pub fn http(&self) -> SocketAddr {
        self.http
    }

    /// Where QUIC is answered.
    pub fn quic(&self) -> SocketAddr {
        self.quic
    }

    /// What to open.
    pub fn url(&self) -> String {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        // A server that listens everywhere is found here, too, and "everywhere" is no address.
        if self.http.ip().is_unspecified() {
            return format!("{scheme}://localhost:{}", self.http.port());
        }
        format!("{scheme}://{}", self.http)
    }

    /// What an operator shows.
    pub fn operator_token(&self) -> &OperatorToken {
        &self.operator_token
    }

    /// Where orders go.
    pub fn orders(&self) -> Orders {
        self.orders.clone()
    }

    /// Waits until the server ends by an operator's order; none if it broke.
    pub async fn ended(&mut self) -> Option<Server> {
        (&mut self.ended).await.ok()
    }

    /// Says goodbye to everybody, keeps the world and stops.
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
    /// HTTP.
    pub http: SocketAddr,
    /// QUIC.
    pub quic: SocketAddr,
    bound: Vec<(TcpListener, quic::Listener)>,
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
        // The old kind first: it is the one that is sure to work.
        addresses.sort_by_key(SocketAddr::is_ipv6);
        addresses.dedup();
        let (first, others) =
            addresses.split_first().ok_or_else(|| wrong(io::Error::other("the name has no address")))?;
        let pair = async |address: SocketAddr| {
            let refused = |error| ServeError::Port { address, error };
            let tcp = TcpListener::bind(address).await.map_err(refused)?;
            let same = SocketAddr::new(address.ip(), tcp.local_addr().map_err(refused)?.port());
            let udp = quic::Listener::bind(same, certificates.clone(), links.clone(), origins.clone());
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
            // `localhost` has two addresses, and a machine without the second is well.
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

/// What has to be done now and then.
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
        // Whoever embeds us may have a recorder of their own; then ours stays empty.
        let _ = metrics::set_global_recorder(recorder);
        handle
    };
    HANDLE.get_or_init(make).clone()
}
