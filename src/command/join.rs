//! `kinesphere join`: a world without a server.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use kinesphere::join::{self, JoinError, JoinSettings, PeerOverview};
use kinesphere::link::NodeName;
use kinesphere::link::zenoh::{FabricError, FabricSettings, Locator, NodeCertificates, NodeTrust, Passwords};
use kinesphere::serve::ServeError;
use space::bytes::to_hex;
use world::{Plaza, Spec};

use super::interrupt::interrupted;
use super::serve::log;
use super::{Failure, runtime};
use kinesphere::output::print;
use kinesphere::world_file::load;

/// How long others may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the end waits for the log to be read.
const LOG_MAX: Duration = Duration::from_millis(500);
/// Without a terminal, one line stands for every `LINE_EVERY`th overview.
const LINE_EVERY: u32 = 2;

/// Takes part in a world that no server serves: every peer moves its own objects, predicts the others', and settles
/// with them what happens when two meet. Its user sees the world in a page that only this machine can open. Ctrl-C
/// leaves.
///
/// The first peer names no other and waits. A peer that comes later names all that are there, or, with --introductions,
/// one of them.
#[derive(Args)]
#[command(after_help = "Example: kinesphere join --name ann --listen 0.0.0.0:7447\n         \
                        kinesphere join --name bob --bots 2 192.0.2.7:7447")]
pub struct Join {
    /// Peers that are there, as HOST:PORT
    #[arg(value_name = "PEER")]
    peers: Vec<Locator>,
    /// Where other peers reach this one, as HOST:PORT [default: 127.0.0.1:7447 if no peer is named]
    #[arg(long, value_name = "ADDRESS", env = "KINESPHERE_JOIN_LISTEN")]
    listen: Option<Locator>,
    /// A world file; all peers need the same [default: a small plaza]
    #[arg(long, value_name = "FILE", env = "KINESPHERE_WORLD")]
    world: Option<PathBuf>,
    /// How many objects walk about by themselves
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=64))]
    bots: u32,
    /// What this peer is called [default: made up]
    #[arg(long, value_name = "NAME", env = "KINESPHERE_NAME")]
    name: Option<NodeName>,
    /// What the world is called: peers of another do not meet
    #[arg(long, value_name = "NAME", env = "KINESPHERE_ROOM", default_value = "plaza")]
    room: NodeName,
    /// Host and port of the page; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", env = "KINESPHERE_PAGE_LISTEN", default_value = "localhost:0")]
    page: String,
    /// Let peers tell each other where the others are; all have to
    #[arg(long, env = "KINESPHERE_INTRODUCTIONS")]
    introductions: bool,
    /// A file with a line NAME:PASSWORD per peer: others do not come in
    #[arg(
        long, value_name = "FILE", env = "KINESPHERE_MEMBERS",
        conflicts_with_all = ["authority", "certificate", "key"]
    )]
    members: Option<PathBuf>,
    /// The certificate of the authority that signed all peers' certificates, in PEM
    #[arg(long, value_name = "FILE", env = "KINESPHERE_AUTHORITY", requires_all = ["certificate", "key"])]
    authority: Option<PathBuf>,
    /// This peer's certificate in PEM, with its name as common name
    #[arg(long, value_name = "FILE", env = "KINESPHERE_PEER_CERTIFICATE", requires = "authority")]
    certificate: Option<PathBuf>,
    /// The certificate's key in PEM
    #[arg(long, value_name = "FILE", env = "KINESPHERE_PEER_KEY", requires = "authority")]
    key: Option<PathBuf>,
    /// A name that may come in with a certificate; can be given several times [default: all that the authority has
    /// signed]
    #[arg(long, value_name = "NAME", env = "KINESPHERE_MEMBER", value_delimiter = ',', requires = "authority")]
    member: Vec<NodeName>,
    /// What is logged, as in info,kinesphere=debug
    #[arg(long, value_name = "FILTER", env = "KINESPHERE_LOG", default_value = "warn")]
    log: String,
}

/// Runs the command.
pub fn run(arguments: Join) -> Result<(), Failure> {
    let log = log(&arguments.log, false)?;
    let joined = take_part(&arguments);
    log.finish(LOG_MAX);
    joined
}

fn take_part(arguments: &Join) -> Result<(), Failure> {
    let options = options(arguments)?;
    let is_terminal = std::io::stdout().is_terminal();
    runtime()?.block_on(async {
        let stop = interrupted();
        let mut stop = std::pin::pin!(stop);
        let joined = tokio::select! {
            joined = join::PeerProcess::start(&options) => joined.map_err(failed)?,
            () = &mut stop => return Ok(()),
        };
        let listen: Vec<String> = options.fabric.listen.iter().map(Locator::to_string).collect();
        let reached = if listen.is_empty() { "nobody can join through this peer".to_owned() } else { listen.join(" ") };
        print(&format!("{} takes part\npage: {}\npeers: {reached}\n", joined.name(), joined.page_url()))?;
        let mut failure = Ok(());
        let mut screen = Screen::default();
        let mut shown = 0;
        {
            let screen = std::cell::RefCell::new(&mut screen);
            let failure = std::cell::RefCell::new(&mut failure);
            let note = |result: Result<(), Failure>| {
                if let Err(error) = result {
                    **failure.borrow_mut() = Err(error);
                }
            };
            let mut say = |line: &join::EventLine| {
                note(if is_terminal { screen.borrow_mut().say(line.to_string()) } else { print(&format!("{line}\n")) });
            };
            let mut show = |overview: &PeerOverview| {
                if is_terminal {
                    note(screen.borrow_mut().show(overview));
                } else if shown % LINE_EVERY == 0 {
                    note(print(&format!("{}\n", overview.line())));
                }
                shown += 1;
            };
            joined.run(stop, &mut say, &mut show).await;
        }
        print("left\n")?;
        failure
    })
}

fn options(arguments: &Join) -> Result<JoinSettings, Failure> {
    let world = match &arguments.world {
        Some(file) => load(file)?.0,
        None => plaza(),
    };
    let trust = match (&arguments.members, &arguments.authority, &arguments.certificate, &arguments.key) {
        (Some(file), ..) => {
            NodeTrust::Passwords(Passwords::read(file).map_err(|error| Failure::Input(error.to_string()))?)
        }
        (None, Some(authority), Some(certificate), Some(key)) => NodeTrust::Certificates(NodeCertificates {
            authority: authority.clone(),
            certificate: certificate.clone(),
            key: key.clone(),
            members: arguments.member.clone(),
        }),
        _ => NodeTrust::Anyone,
    };
    let listen = match (&arguments.listen, arguments.peers.is_empty()) {
        (Some(endpoint), _) => Some(endpoint.clone()),
        (None, true) => Some("127.0.0.1:7447".parse().expect("an address")),
        (None, false) => None,
    };
    let fabric = FabricSettings {
        world: arguments.room.clone(),
        node: arguments.name.clone().unwrap_or_else(made_up),
        listen: listen.into_iter().collect(),
        connect: arguments.peers.clone(),
        patience: Some(PATIENCE),
        lease: FabricSettings::LEASE,
        introductions: arguments.introductions,
        trust,
    };
    Ok(JoinSettings { fabric, world: Arc::new(world), page: arguments.page.clone(), bots: arguments.bots })
}

/// A small plaza without a crowd.
fn plaza() -> Spec {
    Plaza { side: 60.0, obstacles: 12, crates: 0, balls: 0, seekers: 0, ..Plaza::default() }.spec()
}

fn made_up() -> NodeName {
    format!("peer-{}", to_hex(&kinesphere::token::random::<4>())).parse().expect("letters and digits")
}

fn failed(error: JoinError) -> Failure {
    match &error {
        JoinError::Fabric(FabricError::Listen { .. }) => {
            Failure::Machine(format!("{error}\nName another with --listen."))
        }
        JoinError::Fabric(FabricError::Start(_) | FabricError::Nobody(_) | FabricError::Refused(..))
        | JoinError::Page(ServeError::Port { .. }) => Failure::Machine(error.to_string()),
        _ => Failure::Input(error.to_string()),
    }
}

/// The lines of the last overview are drawn over by the next; what happened scrolls away above them.
#[derive(Default)]
struct Screen {
    drawn: usize,
    last: Vec<String>,
}

impl Screen {
    fn say(&mut self, line: String) -> Result<(), Failure> {
        let overview = std::mem::take(&mut self.last);
        self.draw(Some(&line), overview)
    }

    fn show(&mut self, overview: &PeerOverview) -> Result<(), Failure> {
        self.draw(None, overview.lines())
    }

    fn draw(&mut self, said: Option<&str>, overview: Vec<String>) -> Result<(), Failure> {
        // Up to where the last overview begins, and clear from there.
        let mut text = if self.drawn > 0 { format!("\x1b[{}A\x1b[J", self.drawn) } else { String::new() };
        for line in said.into_iter().chain(overview.iter().map(String::as_str)) {
            text.push_str(line);
            text.push('\n');
        }
        (self.drawn, self.last) = (overview.len(), overview);
        print(&text)
    }
}
