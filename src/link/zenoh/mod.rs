//! Links between nodes, over Zenoh: named nodes of one world, each with a link to each.
//!
//! A link has the two channels of every link. Datagrams go as `state`: a full queue drops them. Streams go as `event`:
//! in order, and reliably while the link stands. Both travel over TCP, TLS or QUIC, so that nothing is lost on the way
//! but what a full queue drops. A node declares one subscription and two publishers per other node, and nothing that
//! changes with objects: thousands of declarations take Zenoh seconds.
//!
//! Liveliness tokens tell which nodes are there: a link opens when a node's token comes, and closes when it goes, at
//! once after a kill, a second after a node froze or was cut off. A link that ended while its node is there begins anew
//! after a pause, at both sides: every message says which link it is of.
//!
//! # What a name proves
//!
//! Every message is under a key that names its sender. Zenoh checks on arrival, per connection, what it knows of the
//! other end; a message that fails is dropped before it gets here. What it knows depends on [`NodeTrust`]:
//!
//! - `Certificates` with members: either end has shown a certificate that the authority signed. Its common name is the
//!   only name under which it can send, or be there. Without members only the authority is checked: a node that it
//!   signed can use any name.
//! - `Passwords`: the node that *opened* a connection has named a member and known its password, and cannot use another
//!   member's name. The node that *accepted* it has proved nothing, and is believed by its address alone. Nothing is
//!   encrypted; and every member knows all passwords, so this keeps strangers out, not members apart.
//! - `Anyone`: nothing is checked.
//!
//! In all cases a name that is not among the members, where they are named, is not heard, and a node whose own name is
//! taken when it comes is told so. Nodes do not relay for each other: a message comes from the node that opened or
//! accepted the connection, and from no node behind it.

mod bond;
mod config;
mod keys;
mod members;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::{Session, Wait};

use self::members::Members;
pub use self::settings::{
    FabricError, FabricSettings, Locator, MEMBERS_MAX, NodeCertificates, NodeTrust, Passwords, Protocol,
};
use super::{Links, NodeName};

/// How long Zenoh may take to start or to end.
const OPEN_MAX: Duration = Duration::from_secs(10);
/// How long others may take to say that a name is taken.
const NAME_MAX: Duration = Duration::from_millis(500);
/// How long the last messages may take to be written. The end of a token overtakes what still waits: Zenoh sends
/// declarations ahead of all messages.
const LEAVE: Duration = Duration::from_millis(200);
/// How often to check whether a node answers.
const LOOK: Duration = Duration::from_millis(20);

/// A node among others. Dropped without `close`, it goes without its last messages.
pub struct Fabric {
    node: NodeName,
    session: Session,
    roster: Arc<Members>,
    usher: JoinHandle<()>,
    token: Option<LivelinessToken>,
    _batches: Subscriber<()>,
    _tokens: Subscriber<()>,
}

impl Fabric {
    /// Takes part. Every node that is there, or comes, opens a link in `links`. It needs a runtime of several threads.
    pub async fn open(settings: &FabricSettings, links: Links) -> Result<Fabric, FabricError> {
        let FabricSettings { world, node, trust, .. } = settings;
        let endpoints: Vec<&Locator> = settings.listen.iter().chain(&settings.connect).collect();
        trust.check(node, &endpoints)?;
        for endpoint in &settings.listen {
            endpoint.try_to_listen(trust).await?;
        }
        let config = config::config(settings, links.limits())?;
        let failed = |error: zenoh::Error| FabricError::Start(error.to_string());
        let opened = timeout(OPEN_MAX, zenoh::open(config)).await;
        let session = opened.map_err(|_| FabricError::Start("it takes too long".to_owned()))?.map_err(failed)?;
        if let Some(patience) = settings.patience
            && let Err(error) = find_node(&session, settings, patience).await
        {
            end(&session).await;
            return Err(error);
        }
        if is_taken(&session, world, node).await {
            end(&session).await;
            return Err(FabricError::NameTaken(node.clone()));
        }
        let (roster, changes) = Members::new(world.clone(), node.clone(), trust.members(), links);
        let heard = roster.clone();
        let batches = session
            .declare_subscriber(keys::all_batches_to(world, node))
            .callback(move |sample| heard.handle_batch(&sample))
            .await
            .map_err(failed)?;
        let heard = roster.clone();
        let tokens = session
            .liveliness()
            .declare_subscriber(keys::all_tokens(world))
            .history(true)
            .callback(move |sample| heard.handle_token(&sample))
            .await
            .map_err(failed)?;
        let usher = tokio::spawn(roster.clone().usher(session.clone(), changes));
        // Last: a node that sees the token may send at once, and is heard.
        let token = session.liveliness().declare_token(keys::alive(world, node)).await.map_err(failed)?;
        let (node, token) = (node.clone(), Some(token));
        Ok(Fabric { node, session, roster, usher, token, _batches: batches, _tokens: tokens })
    }

    /// Waits until another node of this world is there. A node that it connected to may belong to another world, of
    /// which nothing is heard.
    pub async fn wait_for_a_node(&self, settings: &FabricSettings) -> Result<(), FabricError> {
        let until = Instant::now() + settings.patience.unwrap_or_default();
        while !settings.connect.is_empty() && !self.roster.is_anybody_there() {
            if Instant::now() >= until {
                return Err(FabricError::AnotherWorld(addresses(settings), settings.world.clone()));
            }
            sleep(LOOK).await;
        }
        Ok(())
    }

    pub fn node(&self) -> &NodeName {
        &self.node
    }

    /// Leaves: delivers what was sent, takes the token back, and ends.
    pub async fn close(mut self) {
        self.roster.farewell().await;
        sleep(LEAVE).await;
        if let Some(token) = self.token.take() {
            let _ = tokio::task::spawn_blocking(move || token.undeclare().wait()).await;
        }
        end(&self.session).await;
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        self.usher.abort();
    }
}

async fn end(session: &Session) {
    let _ = timeout(OPEN_MAX, session.close()).await;
}

/// Waits until a connection stands, or says why there is none.
async fn find_node(session: &Session, settings: &FabricSettings, patience: Duration) -> Result<(), FabricError> {
    if settings.connect.is_empty() {
        return Ok(());
    }
    let until = Instant::now() + patience;
    while Instant::now() < until {
        if session.info().peers_zid().await.next().is_some() {
            return Ok(());
        }
        sleep(LOOK).await;
    }
    for endpoint in settings.connect.iter().filter(|endpoint| endpoint.protocol != Some(Protocol::Quic)) {
        if let Ok(Ok(_)) = timeout(Duration::from_secs(1), TcpStream::connect(endpoint.address())).await {
            return Err(FabricError::Refused(endpoint.to_string(), settings.node.clone()));
        }
    }
    Err(FabricError::Nobody(addresses(settings)))
}

/// The addresses that were tried.
fn addresses(settings: &FabricSettings) -> String {
    settings.connect.iter().map(Locator::to_string).collect::<Vec<_>>().join(", ")
}

/// Whether another node has this name.
async fn is_taken(session: &Session, world: &NodeName, node: &NodeName) -> bool {
    let asked = session.liveliness().get(keys::alive(world, node)).timeout(NAME_MAX).await;
    let Ok(replies) = asked else { return false };
    while let Ok(reply) = replies.recv_async().await {
        if reply.result().is_ok() {
            return true;
        }
    }
    false
}
