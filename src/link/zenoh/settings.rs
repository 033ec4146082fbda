//! Settings of a node: its name, its addresses, and the nodes that it believes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;
use tokio::net::{TcpListener, UdpSocket};

use crate::link::{NodeName, NodeNameError};

/// The most members that may be named: each pair of them is a rule.
pub const MEMBERS_MAX: usize = 256;

/// Settings of a node.
#[derive(Clone, Debug)]
pub struct FabricSettings {
    /// The world's name: nodes of another world are not heard.
    pub world: NodeName,
    /// This node's name. It is unique in its world.
    pub node: NodeName,
    /// Where others reach it; empty if it only connects to others.
    pub listen: Vec<Locator>,
    /// The nodes that it connects to. They may come later, or come back: it tries on.
    pub connect: Vec<Locator>,
    /// How long it waits for the first of them before it fails; `None` if that is no failure.
    pub patience: Option<Duration>,
    /// When a node that froze or was cut off counts as gone. One that was killed is gone at once: its connections
    /// close.
    pub lease: Duration,
    /// Whether nodes tell each other the addresses of the others. Without, every node needs all addresses in its
    /// settings.
    pub introductions: bool,
    pub trust: NodeTrust,
}

impl FabricSettings {
    /// The shortest time after which a node counts as gone.
    pub const LEASE: Duration = Duration::from_secs(1);
}

/// How a node knows that another is who it says.
#[derive(Clone, Debug, Default)]
pub enum NodeTrust {
    /// Not at all: for one machine, or a network without strangers.
    #[default]
    Anyone,
    /// By a password.
    Passwords(Passwords),
    /// By a certificate.
    Certificates(NodeCertificates),
}

/// All nodes and their passwords.
#[derive(Clone)]
pub struct Passwords {
    file: PathBuf,
    pairs: BTreeMap<NodeName, String>,
}

/// The certificate that a node shows, and the authority that it believes. All three are PEM files.
#[derive(Clone, Debug)]
pub struct NodeCertificates {
    /// The authority that signed all nodes' certificates.
    pub authority: PathBuf,
    /// This node's, with its name as common name, and the host or address that others use for it as alternative name.
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// The members. If there are none, every node that the authority has signed takes part, under any name.
    pub members: Vec<NodeName>,
}

/// Where a node is reached: a host and a port, and the protocol if it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locator {
    /// `tcp`, `tls` or `quic`; the default depends on the trust.
    pub protocol: Option<Protocol>,
    /// A name or an address; IPv6 in brackets.
    pub host: String,
    pub port: u16,
}

/// What carries bytes between nodes. Plain UDP is not among them, as it loses reliable messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Tcp,
    Tls,
    Quic,
}

/// Why a node cannot take part.
#[derive(Debug, Error)]
pub enum FabricError {
    #[error("`{0}` is no address of a node, expected HOST:PORT, as in 192.0.2.7:7447 or tls/node.example:7447")]
    Locator(String),
    #[error(transparent)]
    NodeName(#[from] NodeNameError),
    /// The file of passwords cannot be used.
    #[error("{}, line {line}: {why}", file.display())]
    Passwords { file: PathBuf, line: usize, why: String },
    #[error("cannot read {}: {why}", file.display())]
    File { file: PathBuf, why: String },
    /// This node is not among the members.
    #[error("{node} is not among the members that {whose} names")]
    NotAMember { node: NodeName, whose: String },
    #[error("{0} members were named, at most {MEMBERS_MAX} can be")]
    Members(usize),
    /// A certificate is to be shown over a protocol that shows none, or the other way round.
    #[error("{0} cannot be used with this trust: certificates need tls or quic, and those need certificates")]
    Protocol(Locator),
    /// This machine cannot listen at the address.
    #[error("cannot listen for other nodes on {endpoint}: {error}")]
    Listen { endpoint: Locator, error: io::Error },
    /// A file is not what it should be, or Zenoh refuses for another reason.
    #[error("the node cannot start: {0}")]
    Start(String),
    /// No node is there.
    #[error("no node answers at {0}")]
    Nobody(String),
    /// A node is there, and refuses this one.
    #[error(
        "{0} can be reached, but does not let {1} in: another password or certificate is asked for, or it is no node"
    )]
    Refused(String, NodeName),
    /// Nodes are there, but none of this world.
    #[error("nobody at {0} belongs to a cluster called `{1}`")]
    AnotherWorld(String, NodeName),
    /// Another node has this name.
    #[error("there is a node called {0} already")]
    NameTaken(NodeName),
}

impl Passwords {
    /// Reads a file with a line `NAME:PASSWORD` per node; empty lines are skipped. Zenoh reads it too.
    pub fn read(file: &Path) -> Result<Passwords, FabricError> {
        let text = fs::read_to_string(file)
            .map_err(|error| FabricError::File { file: file.to_owned(), why: error.to_string() })?;
        let wrong = |line: usize, why: String| FabricError::Passwords { file: file.to_owned(), line, why };
        let mut pairs = BTreeMap::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.trim();
            if content.is_empty() {
                continue;
            }
            let (name, password) =
                content.split_once(':').ok_or_else(|| wrong(line, "expected NAME:PASSWORD".to_owned()))?;
            let name: NodeName = name.trim().parse().map_err(|error: NodeNameError| wrong(line, error.to_string()))?;
            let password = password.trim();
            if password.is_empty() {
                return Err(wrong(line, format!("{name} has no password")));
            }
            if pairs.insert(name.clone(), password.to_owned()).is_some() {
                return Err(wrong(line, format!("{name} is named twice")));
            }
        }
        if pairs.len() > MEMBERS_MAX {
            return Err(FabricError::Members(pairs.len()));
        }
        Ok(Passwords { file: file.to_owned(), pairs })
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn of(&self, node: &NodeName) -> Option<&str> {
        self.pairs.get(node).map(String::as_str)
    }

    pub(super) fn members(&self) -> impl Iterator<Item = &NodeName> {
        self.pairs.keys()
    }
}

impl fmt::Debug for Passwords {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Passwords").field("file", &self.file).finish_non_exhaustive()
    }
}

impl NodeTrust {
    /// The members; `None` if they are not named.
    pub(super) fn members(&self) -> Option<Vec<NodeName>> {
        match self {
            NodeTrust::Anyone => None,
            NodeTrust::Passwords(passwords) => Some(passwords.members().cloned().collect()),
            NodeTrust::Certificates(certificates) if certificates.members.is_empty() => None,
            NodeTrust::Certificates(certificates) => Some(certificates.members.clone()),
        }
    }

    /// Refuses what cannot work before anything is opened.
    pub(super) fn check(&self, node: &NodeName, endpoints: &[&Locator]) -> Result<(), FabricError> {
        let is_encrypted = matches!(self, NodeTrust::Certificates(_));
        for endpoint in endpoints {
            let is_fit = endpoint.protocol.is_none_or(|protocol| is_encrypted == (protocol != Protocol::Tcp));
            if !is_fit {
                return Err(FabricError::Protocol((*endpoint).clone()));
            }
        }
        let members = self.members();
        let is_member = members.as_ref().is_none_or(|members| members.contains(node));
        match self {
            NodeTrust::Passwords(passwords) if !is_member => {
                let whose = passwords.file.display().to_string();
                return Err(FabricError::NotAMember { node: node.clone(), whose });
            }
            NodeTrust::Certificates(_) if !is_member => {
                return Err(FabricError::NotAMember { node: node.clone(), whose: "the list".to_owned() });
            }
            NodeTrust::Certificates(NodeCertificates { authority, certificate, key, .. }) => {
                for file in [authority, certificate, key] {
                    fs::read(file).map_err(|error| FabricError::File { file: file.clone(), why: error.to_string() })?;
                }
            }
            _ => {}
        }
        match members.map(|members| members.len()) {
            Some(count) if count > MEMBERS_MAX => Err(FabricError::Members(count)),
            _ => Ok(()),
        }
    }

    /// The protocol of an address that names none.
    pub(super) fn protocol(&self) -> Protocol {
        match self {
            NodeTrust::Certificates(_) => Protocol::Tls,
            _ => Protocol::Tcp,
        }
    }
}

impl Protocol {
    /// The name in Zenoh's settings.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Tcp => "tcp",
            Protocol::Tls => "tls",
            Protocol::Quic => "quic",
        }
    }
}

impl FromStr for Locator {
    type Err = FabricError;

    fn from_str(text: &str) -> Result<Locator, FabricError> {
        let wrong = || FabricError::Locator(text.chars().take(300).collect());
        let (protocol, address) = match text.split_once('/') {
            None => (None, text),
            Some((name, address)) => {
                let known = [Protocol::Tcp, Protocol::Tls, Protocol::Quic];
                (Some(known.into_iter().find(|known| known.name() == name).ok_or_else(wrong)?), address)
            }
        };
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        let port: u16 = port.parse().map_err(|_| wrong())?;
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_host = match inner {
            Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
            None => {
                let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
                (1..=253).contains(&host.len()) && host.bytes().all(is_fit)
            }
        };
        if is_host { Ok(Locator { protocol, host: host.to_owned(), port }) } else { Err(wrong()) }
    }
}

impl Locator {
    /// The address without the protocol.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Checks that it can be listened at. Zenoh's own message names places in its source.
    pub(super) async fn try_to_listen(&self, trust: &NodeTrust) -> Result<(), FabricError> {
        let tried = match self.protocol.unwrap_or(trust.protocol()) {
            Protocol::Tcp | Protocol::Tls => TcpListener::bind(self.address()).await.map(|_| ()),
            Protocol::Quic => UdpSocket::bind(self.address()).await.map(|_| ()),
        };
        tried.map_err(|error| FabricError::Listen { endpoint: self.clone(), error })
    }

    /// The address as Zenoh writes it.
    pub(super) fn locator(&self, trust: &NodeTrust) -> String {
        let protocol = self.protocol.unwrap_or(trust.protocol());
        format!("{}/{}", protocol.name(), self.address())
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(protocol) = self.protocol {
            write!(formatter, "{}/", protocol.name())?;
        }
        formatter.write_str(&self.address())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_host_and_a_port() {
        for (text, host, port) in [
            ("127.0.0.1:7447", "127.0.0.1", 7447),
            ("node.example:1", "node.example", 1),
            ("tls/[::1]:9", "[::1]", 9),
            ("quic/localhost:0", "localhost", 0),
        ] {
            let endpoint: Locator = text.parse().unwrap();
            assert_eq!((endpoint.host.as_str(), endpoint.port), (host, port));
            assert_eq!(endpoint.to_string(), text);
        }
        for text in
            ["", "7447", "host", "host:", ":1", "host:70000", "udp/host:1", "a b:1", "[::1:9", "tcp/a/b:1", "x#y:1"]
        {
            let error = text.parse::<Locator>().unwrap_err().to_string();
            assert!(error.contains("expected HOST:PORT"), "{error}");
        }
    }

    #[test]
    fn a_file_of_passwords_is_read_or_refused_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("members");
        let read = |text: &str| {
            fs::write(&file, text).unwrap();
            Passwords::read(&file)
        };
        let passwords = read("ann: one:two \n\nbob:x\n").unwrap();
        assert_eq!(passwords.of(&"ann".parse().unwrap()), Some("one:two"));
        assert!(!format!("{passwords:?}").contains("one"), "passwords are not shown");
        for (text, line, why) in [
            ("ann", 1, "NAME:PASSWORD"),
            ("\nann:", 2, "no password"),
            ("a b:c", 1, "is no name"),
            ("ann:1\nann:2", 2, "twice"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(&format!("line {line}")) && error.contains(why), "{error}");
        }
        let error = Passwords::read(&folder.path().join("none")).unwrap_err().to_string();
        assert!(error.contains("cannot read"), "{error}");
        let carl: NodeName = "carl".parse().unwrap();
        let trust = NodeTrust::Passwords(read("ann:1").unwrap());
        let error = trust.check(&carl, &[]).unwrap_err().to_string();
        assert!(error.contains("carl is not among the members"), "{error}");
    }
}
