//! Hosts and ports that a command is told, by name or by number.

use std::net::SocketAddr;

use tokio::net::lookup_host;

use super::Failure;

/// The address of a host and a port. Of several, IPv4 comes first, as it works on every machine.
pub async fn resolve(text: &str) -> Result<SocketAddr, Failure> {
    let wrong = |why: &str| Failure::Input(format!("{text:?}: {why}; expected HOST:PORT, as in localhost:7777"));
    let found = lookup_host(text).await.map_err(|error| wrong(&error.to_string()))?;
    found.min_by_key(SocketAddr::is_ipv6).ok_or_else(|| wrong("the name has no address"))
}
