//! `kinesphere serve`: the server.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use kinesphere::certificate::Files;
use kinesphere::kept::KeptError;
use kinesphere::link::LinkLimits;
use kinesphere::log::Log;
use kinesphere::origin;
use kinesphere::serve::{Options, ServeError, Service};
use kinesphere::store::keeper::KeeperSettings;
use kinesphere::store::{Retention, StoreError};
use server::limits::Limits;
use server::{Server, ServerSettings};
use tracing_subscriber::EnvFilter;
use world::{Plaza, Spec, World};

use super::interrupt::interrupted;
use super::store::{cannot_go_on, data_folder, refused};
use super::{Failure, runtime};
use kinesphere::output::print;
use kinesphere::world_file::load;

/// The default crowd of the plaza.
const CROWD: u32 = 60;
/// Characters that an operator's token has at least.
const OPERATOR_TOKEN_MIN: usize = 16;
/// How long the end waits for the log to be read.
const LOG_MAX: Duration = Duration::from_millis(500);

/// Serves a world: to programs over QUIC, to browsers over WebTransport or WebSocket. Without an argument it is the
/// built-in plaza, for this machine alone. Ctrl-C stops it and keeps the world.
///
/// Every setting can also come from the environment (KINESPHERE_LISTEN for --listen) or from a file (--settings), where
/// it is called as the flag is; a flag comes first, then the environment, then the file.
#[derive(Args)]
#[command(after_help = "Example: kinesphere serve worlds/courtyard.toml --listen 0.0.0.0:7777 --tokens \\\n         \
                        --certificate fullchain.pem --key privkey.pem")]
pub struct Serve {
    /// A world file [default: the built-in plaza]
    #[arg(value_name = "WORLD")]
    world: Option<PathBuf>,
    /// A TOML file with settings
    #[arg(long, value_name = "FILE", env = "KINESPHERE_SETTINGS")]
    settings: Option<PathBuf>,
    /// Host and port, TCP for HTTP and UDP for QUIC; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", env = "KINESPHERE_LISTEN", default_value = "localhost:7777")]
    listen: String,
    /// The folder where the world is kept [default: in the user's data folder, one for each world file]
    #[arg(long, value_name = "DIR", env = "KINESPHERE_DATA", conflicts_with = "in_memory")]
    data: Option<PathBuf>,
    /// Keep nothing: the world ends with the server
    #[arg(long, env = "KINESPHERE_IN_MEMORY")]
    in_memory: bool,
    /// How many avatars walk about the built-in plaza by themselves [default: 60]
    #[arg(long, value_name = "N", env = "KINESPHERE_CROWD", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    crowd: Option<u32>,
    /// A certificate in PEM, with its chain; HTTP is then HTTPS
    #[arg(long, value_name = "FILE", env = "KINESPHERE_CERTIFICATE", requires = "key")]
    certificate: Option<PathBuf>,
    /// The certificate's key in PEM
    #[arg(long, value_name = "FILE", env = "KINESPHERE_KEY", requires = "certificate")]
    key: Option<PathBuf>,
    /// Another page that may connect, as https://host; can be given several times
    #[arg(long, value_name = "ORIGIN", env = "KINESPHERE_ORIGIN", value_delimiter = ',', value_parser = origin)]
    origin: Vec<String>,
    /// Ask every user for a join token; `kinesphere token` makes one
    #[arg(long, env = "KINESPHERE_TOKENS")]
    tokens: bool,
    /// The token that operators show [default: made up and printed at start]
    #[arg(
        long, value_name = "TOKEN", env = "KINESPHERE_OPERATOR_TOKEN", hide_env_values = true,
        value_parser = operator_token
    )]
    operator_token: Option<String>,
    /// How many users may be here at once
    #[arg(
        long, value_name = "N", env = "KINESPHERE_CLIENTS_MAX", default_value_t = 1_000,
        value_parser = clap::value_parser!(u32).range(1..=50_000)
    )]
    clients_max: u32,
    /// How far a user hears, in metres
    #[arg(long, value_name = "METRES", env = "KINESPHERE_AURA", default_value_t = 20.0, value_parser = metres)]
    aura: f32,
    /// Bytes of state per user and tick
    #[arg(
        long, value_name = "BYTES", env = "KINESPHERE_STATE_BYTES", default_value_t = 2_200,
        value_parser = clap::value_parser!(u32).range(100..=100_000)
    )]
    state_bytes: u32,
    /// How long a lost user's place is kept, in seconds
    #[arg(
        long, value_name = "SECONDS", env = "KINESPHERE_RESUME_SECONDS", default_value_t = 15,
        value_parser = clap::value_parser!(u32).range(0..=86_400)
    )]
    resume_seconds: u32,
    /// What a kill may cost, in milliseconds
    #[arg(
        long, value_name = "MS", env = "KINESPHERE_FLUSH_MS", default_value_t = 1_000,
        value_parser = clap::value_parser!(u64).range(10..=600_000)
    )]
    flush_ms: u64,
    /// How often the whole world is written, in seconds
    #[arg(
        long, value_name = "SECONDS", env = "KINESPHERE_SNAPSHOT_SECONDS", default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    snapshot_seconds: u64,
    /// How much of the past is kept, in megabytes
    #[arg(
        long, value_name = "MB", env = "KINESPHERE_JOURNAL_MB", default_value_t = 256,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000)
    )]
    journal_mb: u64,
    /// For how long the past is kept, in hours
    #[arg(
        long, value_name = "HOURS", env = "KINESPHERE_JOURNAL_HOURS", default_value_t = 24,
        value_parser = clap::value_parser!(u64).range(1..=87_600)
    )]
    journal_hours: u64,
    /// Share the world with other servers: what their cluster is called. The first one names no other to join
    #[cfg(feature = "zenoh")]
    #[arg(long, value_name = "NAME", env = "KINESPHERE_CLUSTER", conflicts_with = "tokens")]
    cluster: Option<kinesphere::link::NodeName>,
    /// Where clients of the cluster are sent to come here, as http://HOST:PORT [default: where it listens]
    #[cfg(feature = "zenoh")]
    #[arg(long, value_name = "URL", env = "KINESPHERE_ADVERTISE", requires = "cluster")]
    advertise: Option<String>,
    #[cfg(feature = "zenoh")]
    #[command(flatten)]
    among: super::cluster::ClusterArguments,
    /// What is logged, as in info,kinesphere=debug
    #[arg(long, value_name = "FILTER", env = "KINESPHERE_LOG", default_value = "warn,zenoh=off,kinesphere=info")]
    log: String,
    /// Log as lines of JSON
    #[arg(long, env = "KINESPHERE_LOG_JSON")]
    log_json: bool,
}

/// Runs the command.
pub fn run(arguments: Serve) -> Result<(), Failure> {
    let log = log(&arguments.log, arguments.log_json)?;
    let served = serve(&arguments, &log);
    log.finish(LOG_MAX);
    served
}

fn serve(arguments: &Serve, log: &Log) -> Result<(), Failure> {
    let options = options(arguments)?;
    let is_kept = options.data.is_some();
    let takes_tokens_here_only = options.asks_for_tokens && options.certificate.is_none();
    runtime()?.block_on(async {
        let data = options.data.clone();
        let mut stop = pin!(interrupted());
        let mut service = tokio::select! {
            started = Service::start(options) => started.map_err(failed)?,
            () = &mut stop => return Ok(()),
        };
        print(&format!("listening http={} quic={}\n", service.http(), service.quic()))?;
        print(&welcome(&service, data.as_deref(), takes_tokens_here_only))?;
        tokio::select! {
            () = stop => {}
            server = service.ended() => return whole(server),
        }
        log.say("kinesphere: stopping");
        whole(service.stop().await)?;
        log.say(if is_kept { "kinesphere: stopped; the world is kept" } else { "kinesphere: stopped" });
        Ok(())
    })
}

/// A server thread that ends without returning the server has met a bug; the exit code tells a supervisor to restart.
fn whole(server: Option<Server>) -> Result<(), Failure> {
    let sentence = "the server broke: what went wrong is above. A world that is kept goes on from its last flush";
    server.map(drop).ok_or_else(|| Failure::Machine(sentence.to_owned()))
}

fn options(arguments: &Serve) -> Result<Options, Failure> {
    #[cfg(feature = "zenoh")]
    let (is_shared, cluster) = {
        let options = |name| -> Result<_, Failure> {
            let fabric = arguments.among.fabric(name)?;
            Ok(kinesphere::cluster::ClusterOptions { fabric, advertise: arguments.advertise.clone() })
        };
        (arguments.cluster.is_some(), arguments.cluster.as_ref().map(options).transpose()?)
    };
    #[cfg(not(feature = "zenoh"))]
    let is_shared = false;
    // A server of a cluster keeps nothing on disk; --data is refused with a sentence.
    let is_forgotten = arguments.in_memory || (is_shared && arguments.data.is_none());
    if arguments.tokens && is_forgotten {
        return Err(Failure::Input(
            "--tokens cannot be used with --in-memory: `kinesphere token` signs with a secret that is kept beside the \
             world"
                .to_owned(),
        ));
    }
    let data = || data_folder(arguments.data.as_deref(), arguments.world.as_deref());
    let data = if is_forgotten { None } else { Some(data()?) };
    let limits = Limits {
        clients: arguments.clients_max as usize,
        links: 2 * arguments.clients_max as usize,
        state_bytes_per_tick: arguments.state_bytes as usize,
        resume_us: i64::from(arguments.resume_seconds) * 1_000_000,
        ..Limits::default()
    };
    let retention =
        Retention { bytes_max: arguments.journal_mb * 1_000_000, age_s_max: arguments.journal_hours * 3_600 };
    let files = |(certificate, key)| Files { certificate, key };
    Ok(Options {
        world: made_of(arguments.world.as_deref(), arguments.crowd)?,
        listen: arguments.listen.clone(),
        data,
        certificate: arguments.certificate.clone().zip(arguments.key.clone()).map(files),
        origins: arguments.origin.clone(),
        asks_for_tokens: arguments.tokens,
        operator_token: arguments.operator_token.clone(),
        server: ServerSettings { limits, focus: arguments.aura, ..ServerSettings::default() },
        keeper: KeeperSettings {
            flush_every: Duration::from_millis(arguments.flush_ms),
            snapshot_every: Duration::from_secs(arguments.snapshot_seconds),
            retention,
            ..KeeperSettings::default()
        },
        // The server refuses with a sentence; this is what it may have open at all.
        links: links(arguments.clients_max as usize),
        #[cfg(feature = "zenoh")]
        cluster,
        ..Options::default()
    })
}

/// The world of a file, or the built-in plaza with its crowd.
pub fn made_of(file: Option<&Path>, crowd: Option<u32>) -> Result<Arc<Spec>, Failure> {
    match (file, crowd) {
        (Some(_), Some(_)) => Err(Failure::Input(
            "--crowd is for the built-in plaza: a world file says itself how many walk about, under [crowd]".to_owned(),
        )),
        (Some(file), None) => world_file(file),
        (None, crowd) => Ok(Arc::new(Plaza { seekers: crowd.unwrap_or(CROWD), ..Plaza::default() }.spec())),
    }
}

/// One address may have half of all links: as many as there may be users, who may all come by one proxy.
fn links(clients_max: usize) -> LinkLimits {
    let links_max = 2 * clients_max + 64;
    LinkLimits { links_max, links_per_address_max: links_max / 2, ..LinkLimits::default() }
}

/// Reads a world file, and makes sure that a world can be made of it: what overlaps at the start is named with its
/// line.
fn world_file(path: &Path) -> Result<Arc<Spec>, Failure> {
    let (spec, text) = load(path)?;
    let spec = Arc::new(spec);
    let refused = |error| Failure::Input(Spec::blame(&text, &path.display().to_string(), error).to_string());
    World::new(spec.clone()).map_err(refused)?;
    Ok(spec)
}

fn welcome(service: &Service, data: Option<&Path>, takes_tokens_here_only: bool) -> String {
    let kept = match data {
        Some(folder) => format!("The world is kept in {}.\n", folder.display()),
        None => "The world is kept in memory only.\n".to_owned(),
    };
    let reach = if service.http().ip().is_loopback() {
        "Only this machine can reach it; --listen 0.0.0.0:7777 lets others in.\n"
    } else {
        "Every machine that can reach this one over the network can reach it.\n"
    };
    let tokens = if takes_tokens_here_only {
        "Join tokens are taken from other machines only with --certificate and --key.\n"
    } else {
        ""
    };
    let token = service.operator_token().reveal();
    // A quiet build hides its warning.
    let page = if kinesphere::page::is_built() {
        ""
    } else {
        "Browsers see one sentence there: this server was built without its page, which takes npm.\n"
    };
    format!("Open {}/ in a browser.\n{page}{kept}{reach}{tokens}Operator token: {token}\n", service.url())
}

/// Logs go to stderr; stdout is for results.
pub(super) fn log(filter: &str, is_json: bool) -> Result<Log, Failure> {
    // Zenoh logs much that only its developers need; a filter that names it shows it.
    let filter = EnvFilter::try_new(format!("zenoh=error,{filter}"))
        .map_err(|error| Failure::Input(format!("{filter:?} is no filter for logs: {error}")))?;
    let log = Log::to_stderr().map_err(|error| Failure::Machine(format!("no threads could be had: {error}")))?;
    let is_terminal = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(is_terminal).with_writer(log.clone());
    if is_json {
        logs.json().init()
    } else {
        logs.init()
    }
    Ok(log)
}

fn failed(error: ServeError) -> Failure {
    match error {
        ServeError::Store(StoreError::InUse { .. }) => {
            Failure::Machine(format!("{error}\nStop that first, or name another folder with --data."))
        }
        ServeError::Store(error) => refused(error),
        ServeError::Kept(KeptError::Snapshot { .. }) => Failure::Input(format!(
            "{error}\nName another folder with --data, or the world file (for the plaza the --crowd) that it was made \
             from."
        )),
        ServeError::Kept(error) => cannot_go_on(error),
        #[cfg(feature = "zenoh")]
        ServeError::Fabric(error) => super::cluster::unreached(error),
        ServeError::Port { .. } | ServeError::Secret(_) | ServeError::Thread(_) | ServeError::NotTakenIn => {
            Failure::Machine(error.to_string())
        }
        _ => Failure::Input(error.to_string()),
    }
}

fn origin(text: &str) -> Result<String, String> {
    if origin::is_origin(text) { Ok(text.to_owned()) } else { Err("expected an origin, as in https://host".to_owned()) }
}

/// A short token could be guessed, and an empty one would let any user give orders.
fn operator_token(text: &str) -> Result<String, String> {
    let is_long = text.len() >= OPERATOR_TOKEN_MIN && text.chars().all(|letter| letter.is_ascii_graphic());
    let expected = || format!("expected at least {OPERATOR_TOKEN_MIN} visible ASCII characters");
    if is_long { Ok(text.to_owned()) } else { Err(expected()) }
}

pub(super) fn metres(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| "expected a number of metres".to_owned())?;
    if (0.1..=1_000.0).contains(&value) { Ok(value) } else { Err("expected 0.1 to 1000 metres".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps out: a server whose thread had panicked ended with exit code 0, and nothing started it again.
    #[test]
    fn a_server_that_broke_is_no_success() {
        assert!(matches!(whole(None), Err(Failure::Machine(sentence)) if sentence.contains("broke")));
    }
}
