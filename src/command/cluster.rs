//! `kinesphere cluster`, and the settings that servers and witnesses of a cluster share.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use kinesphere::cluster::status::ClusterStatus;
use kinesphere::fetch::{Address, post};
use kinesphere::link::NodeName;
use kinesphere::link::zenoh::{FabricError, FabricSettings, Locator, NodeCertificates, NodeTrust, Passwords};
use kinesphere::order::Order;
use space::bytes::to_hex;

use super::proof::Proof;
use super::{Failure, runtime};
use kinesphere::output::{print, print_json};

/// How long others may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Nodes notice a silent node by their own heartbeats, within a second. The transport below may be slower to give up: a
/// connection that is given up has to be made again.
const LEASE: Duration = Duration::from_secs(5);

/// Many servers, one world.
#[derive(Subcommand)]
pub enum ClusterCommand {
    /// Say who belongs to a cluster, who decides where, and how busy and how far behind each is.
    Status(StatusArguments),
}

/// Asks one of a cluster's servers how things are: nodes, regions, load, and by how much copies are behind.
#[derive(Args)]
#[command(after_help = "Example: kinesphere cluster status http://localhost:7777 --operator-token-file operator.token")]
pub struct StatusArguments {
    /// One of the servers; on another machine over https://
    #[arg(value_name = "URL", default_value = "http://localhost:7777")]
    server: String,
    #[command(flatten)]
    proof: Proof,
    /// Print one JSON document instead of sentences
    #[arg(long)]
    json: bool,
}

/// The other nodes, and how they prove themselves.
#[derive(Args)]
pub struct ClusterArguments {
    /// A node of the cluster, as HOST:PORT; can be given several times
    #[arg(long, value_name = "ADDRESS", env = "KINESPHERE_CLUSTER_JOIN", value_delimiter = ',', requires = "cluster")]
    pub join: Vec<Locator>,
    /// What this node is called among the others [default: made up]
    #[arg(long, value_name = "NAME", env = "KINESPHERE_NODE_NAME", requires = "cluster")]
    pub node_name: Option<NodeName>,
    /// Where other nodes reach this one, as HOST:PORT [default: 127.0.0.1, port 7447 for the first]
    #[arg(long, value_name = "ADDRESS", env = "KINESPHERE_CLUSTER_LISTEN", requires = "cluster")]
    pub cluster_listen: Option<Locator>,
    /// A file with a line NAME:PASSWORD per node: others do not come in
    #[arg(
        long, value_name = "FILE", env = "KINESPHERE_CLUSTER_MEMBERS", requires = "cluster",
        conflicts_with_all = ["cluster_authority", "cluster_certificate", "cluster_key"]
    )]
    pub cluster_members: Option<PathBuf>,
    /// The certificate of the authority that signed all nodes' certificates, in PEM
    #[arg(
        long, value_name = "FILE", env = "KINESPHERE_CLUSTER_AUTHORITY",
        requires_all = ["cluster", "cluster_certificate", "cluster_key"]
    )]
    pub cluster_authority: Option<PathBuf>,
    /// This node's certificate in PEM, with its name as common name
    #[arg(long, value_name = "FILE", env = "KINESPHERE_CLUSTER_CERTIFICATE", requires = "cluster_authority")]
    pub cluster_certificate: Option<PathBuf>,
    /// The certificate's key in PEM
    #[arg(long, value_name = "FILE", env = "KINESPHERE_CLUSTER_KEY", requires = "cluster_authority")]
    pub cluster_key: Option<PathBuf>,
    /// A name that may come in with a certificate; can be given several times [default: all that the authority has
    /// signed]
    #[arg(
        long,
        value_name = "NAME",
        env = "KINESPHERE_CLUSTER_MEMBER",
        value_delimiter = ',',
        requires = "cluster_authority"
    )]
    pub cluster_member: Vec<NodeName>,
}

impl ClusterArguments {
    /// What the carrier is told.
    pub fn fabric(&self, cluster: &NodeName) -> Result<FabricSettings, Failure> {
        let trust = match (&self.cluster_members, &self.cluster_authority, &self.cluster_certificate, &self.cluster_key)
        {
            (Some(file), ..) => {
                NodeTrust::Passwords(Passwords::read(file).map_err(|error| Failure::Input(error.to_string()))?)
            }
            (None, Some(authority), Some(certificate), Some(key)) => NodeTrust::Certificates(NodeCertificates {
                authority: authority.clone(),
                certificate: certificate.clone(),
                key: key.clone(),
                members: self.cluster_member.clone(),
            }),
            _ => NodeTrust::Anyone,
        };
        let port = if self.join.is_empty() { 7447 } else { 0 };
        let listen = match &self.cluster_listen {
            Some(endpoint) => endpoint.clone(),
            None => format!("127.0.0.1:{port}").parse().expect("an address"),
        };
        Ok(FabricSettings {
            world: cluster.clone(),
            node: self.node_name.clone().unwrap_or_else(made_up),
            listen: vec![listen],
            connect: self.join.clone(),
            patience: Some(PATIENCE),
            lease: LEASE,
            introductions: true,
            trust,
        })
    }
}

/// Whether the input or the machine is at fault when other nodes cannot be reached.
pub fn unreached(error: FabricError) -> Failure {
    match error {
        FabricError::Listen { .. } => Failure::Machine(format!("{error}\nName another with --cluster-listen.")),
        FabricError::Start(_) | FabricError::Nobody(_) | FabricError::Refused(..) | FabricError::AnotherWorld(..) => {
            Failure::Machine(error.to_string())
        }
        _ => Failure::Input(error.to_string()),
    }
}

fn made_up() -> NodeName {
    format!("node-{}", to_hex(&kinesphere::token::random::<4>())).parse().expect("letters and digits")
}

/// Runs the command.
pub fn run(command: ClusterCommand) -> Result<(), Failure> {
    let ClusterCommand::Status(arguments) = command;
    let address = Address::parse(&arguments.server).map_err(|error| Failure::Input(error.to_string()))?;
    let body = serde_json::to_string(&Order::Cluster).expect("an order is plain data");
    let token = arguments.proof.token(&address, None)?;
    let answer = runtime()?.block_on(post(&address, "/operator", &body, token.as_deref()));
    let answer = answer.map_err(|error| Failure::Machine(error.to_string()))?;
    let found: ClusterStatus = serde_json::from_str(&answer).map_err(|_| Failure::Machine(answer.trim().to_owned()))?;
    if arguments.json { print_json(&found) } else { print(&text(&found)) }
}

fn text(status: &ClusterStatus) -> String {
    let ClusterStatus { node, status: standing, plan, tick, .. } = status;
    let acts = if status.may_act { "and moves its objects" } else { "and moves nothing: it has no lease" };
    let mut text = format!("{node} is a {standing} by plan {plan}, at tick {tick}, {acts}\n\n");
    text += &format!("{:<20} {:<32} {:>8} {:>8} {:>10}\n", "node", "clients find it at", "objects", "lag", "heard");
    for node in &status.nodes {
        let address = if node.is_witness { "a witness" } else { node.address.as_str() };
        let heard = node.heard_ms.map_or("never".to_owned(), |ms| format!("{ms:.0} ms ago"));
        let lag = format!("{:.0} ms", node.lag_ms);
        text += &format!("{:<20} {address:<32} {:>8} {lag:>8} {heard:>10}\n", node.name, node.objects);
    }
    text += "\nregion of            from x, z to x, z, in metres\n";
    for region in &status.regions {
        let ([x, z], [to_x, to_z]) = (region.low, region.high);
        text += &format!("{:<20} {x:.1}, {z:.1} to {to_x:.1}, {to_z:.1}\n", region.name);
    }
    let ClusterStatus { offered, taken, adopted, .. } = status;
    text + &format!(
        "\nobjects that this node offered to others: {offered}, took from others: {taken}, adopted: {adopted}\n"
    )
}
