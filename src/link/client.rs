//! The client's end: a program that connects to a server. From an `http://` address it asks for the hash of the
//! server's certificate and for its UDP port, and connects to the endpoint with this certificate.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use quinn::VarInt;
use quinn::crypto::rustls::QuicClientConfig;
use rustls::DigitallySignedStruct;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::net::lookup_host;
use tokio::time::timeout;

use super::carry::carry;
use super::quic::{ALPN, transport};
use super::{LinkId, Links, Party, Transport, socket};
use crate::certificate::CertificateHash;
use crate::fetch::{Address, FetchError, fetch};

/// What `/cert-hash` answers: how to reach the QUIC endpoint, and which certificate it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Introduction {
    /// SHA-256 of the certificate in DER form, in hexadecimal digits.
    pub sha256: String,
    pub quic_port: u16,
    /// The address, if only this machine reaches it: `localhost` may mean two addresses, and QUIC would try one.
    #[serde(default)]
    pub loopback: Option<IpAddr>,
    /// Whether browsers, too, trust it by the hash only.
    pub is_self_signed: bool,
    /// The world's name; empty where there is none to watch.
    #[serde(default)]
    pub world: String,
    /// The colour of the world's sky, like `#9fc6e8`.
    #[serde(default)]
    pub sky: Option<String>,
    /// The avatars to choose from.
    #[serde(default)]
    pub avatars: Vec<AvatarLook>,
    /// The nickname of its user, if this is the page of a peer and not of a server.
    #[serde(default)]
    pub peer: Option<String>,
}

/// An avatar, as a dialog shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AvatarLook {
    pub name: String,
    pub height: f32,
    pub radius: f32,
}

/// Why a server cannot be reached.
#[derive(Debug, Error)]
pub enum ConnectError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// Another program answers there.
    #[error("{0} answers, but not as a Kinesphere server does")]
    NotAServer(Address),
    /// The QUIC endpoint does not answer, or has another certificate.
    #[error("cannot connect to {address}: {why}")]
    Quic { address: SocketAddr, why: String },
    /// There is no answer: the server may be dead, frozen, or busy.
    #[error("{address} has not answered within {} s", patience.as_secs_f32())]
    Silent { address: String, patience: Duration },
    #[error("no UDP socket could be had: {0}")]
    Socket(#[from] io::Error),
}

/// Where a server was found.
#[derive(Clone, Debug)]
pub struct ServerAddress {
    /// Its QUIC endpoint.
    pub address: SocketAddr,
    /// The hash of its certificate.
    pub hash: CertificateHash,
}

impl ServerAddress {
    /// Asks the server at `url` for its introduction.
    pub async fn find(url: &str) -> Result<ServerAddress, ConnectError> {
        let address = Address::parse(url)?;
        let body = fetch(&address, "/cert-hash").await?;
        let introduction: Option<Introduction> = serde_json::from_str(&body).ok();
        let introduction = introduction.ok_or_else(|| ConnectError::NotAServer(address.clone()))?;
        let hash = CertificateHash::parse(&introduction.sha256);
        let hash = hash.ok_or_else(|| ConnectError::NotAServer(address.clone()))?;
        let port = introduction.quic_port;
        if let (Some(loopback), "localhost") = (introduction.loopback, address.host.as_str()) {
            return Ok(ServerAddress { address: SocketAddr::new(loopback, port), hash });
        }
        let mut found = lookup_host((address.host.as_str(), port)).await?;
        let found = found.next().ok_or_else(|| io::Error::other("the name has no address"))?;
        Ok(ServerAddress { address: found, hash })
    }
}

/// A UDP socket from which any number of links begin.
pub struct Connector {
    endpoint: quinn::Endpoint,
}

impl Connector {
    /// Takes any free port. Must be called within a runtime.
    pub fn new() -> io::Result<Connector> {
        // A socket for IPv6 and IPv4, or for IPv4 where there is no other.
        let any = |ip: IpAddr| socket::bind(SocketAddr::new(ip, 0));
        let socket = any(Ipv6Addr::UNSPECIFIED.into()).or_else(|_| any(Ipv4Addr::UNSPECIFIED.into()))?;
        let runtime = quinn::default_runtime().ok_or_else(|| io::Error::other("no runtime is there"))?;
        Ok(Connector { endpoint: quinn::Endpoint::new(quinn::EndpointConfig::default(), None, socket, runtime)? })
    }

    /// Opens a link to a server. Its events, `Opened` first, are in the inbox of `links`.
    pub async fn connect(&self, host: &ServerAddress, links: &Links) -> Result<LinkId, ConnectError> {
        let failed = |why: String| ConnectError::Quic { address: host.address, why };
        let connecting = self.endpoint.connect_with(config(host.hash)?, self.reachable(host.address), "kinesphere");
        let connecting = connecting.map_err(|error| failed(error.to_string()))?;
        let connection = timeout(links.limits().greeting_max, connecting).await;
        let connection = connection.map_err(|_| failed("nobody answers".to_owned()))?;
        let connection = connection.map_err(|error| failed(error.to_string()))?;
        let (writer, reader) = connection.open_bi().await.map_err(|error| failed(error.to_string()))?;
        let end = links.open(Party::Address(host.address), Transport::Quic);
        let end = end.ok_or_else(|| failed("too many links are open".to_owned()))?;
        let link = end.link;
        tokio::spawn(async move {
            carry(end, connection.clone(), writer, reader).await;
            connection.close(VarInt::from_u32(0), b"");
        });
        Ok(link)
    }

    /// The address as our socket writes it: a dual-stack socket wants IPv4 addresses mapped.
    fn reachable(&self, address: SocketAddr) -> SocketAddr {
        match (address.ip(), self.endpoint.local_addr()) {
            (IpAddr::V4(old), Ok(local)) if local.is_ipv6() => (old.to_ipv6_mapped(), address.port()).into(),
            _ => address,
        }
    }

    /// Waits until the last messages of closed links have left.
    pub async fn finish(self) {
        let _ = timeout(Duration::from_secs(1), self.endpoint.wait_idle()).await;
    }
}

fn config(hash: CertificateHash) -> io::Result<quinn::ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Arc::new(ByHash { hash, provider: provider.clone() });
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let mut config = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).map_err(io::Error::other)?));
    config.transport_config(Arc::new(transport()));
    Ok(config)
}

/// Trusts the one certificate that has this hash, whatever name is in it.
#[derive(Debug)]
struct ByHash {
    hash: CertificateHash,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for ByHash {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if CertificateHash::of(certificate) == self.hash {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(rustls::Error::General("the server shows another certificate than it announced".to_owned()))
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("QUIC has no TLS 1.2".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
