//! With a certificate that an authority signed, HTTP is HTTPS, QUIC shows the same, native clients believe the
//! authority, and a new certificate is taken up while the server runs.

mod serving;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use kinesphere::certificate::{CertificateHash, Files};
use kinesphere::link::client::Introduction;
use kinesphere::serve::{Options, Service};
use rustls::pki_types::{CertificateDer, ServerName};
use serving::{PATIENCE, Serving};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;

/// An authority that only this test trusts.
struct Authority {
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
    certificate: rcgen::Certificate,
}

impl Authority {
    fn new() -> Authority {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key).unwrap();
        Authority { issuer: rcgen::Issuer::new(parameters, key), certificate }
    }

    /// Signs a certificate for this machine, and writes it with its key.
    fn sign(&self, folder: &Path) -> (Files, CertificateHash) {
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let signed = rcgen::CertificateParams::new(names).unwrap().signed_by(&key, &self.issuer).unwrap();
        let files = Files { certificate: folder.join("chain.pem"), key: folder.join("key.pem") };
        std::fs::write(&files.certificate, signed.pem()).unwrap();
        std::fs::write(&files.key, key.serialize_pem()).unwrap();
        (files, CertificateHash::of(signed.der()))
    }

    fn roots(&self) -> rustls::RootCertStore {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.certificate.der().clone()).unwrap();
        roots
    }
}

/// Asks over TLS, as a browser that trusts these authorities; gives what was answered, and the certificate's hash.
async fn ask(
    http: std::net::SocketAddr,
    path: &str,
    roots: rustls::RootCertStore,
) -> std::io::Result<(String, CertificateHash)> {
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = tokio::net::TcpStream::connect(http).await?;
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    let shown: &CertificateDer<'_> = &stream.get_ref().1.peer_certificates().unwrap()[0];
    let hash = CertificateHash::of(shown);
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok((answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()), hash))
}

#[tokio::test]
async fn https_is_served_and_a_new_certificate_is_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let (files, first) = authority.sign(folder.path());
    let options = Options {
        listen: "127.0.0.1:0".to_owned(),
        certificate: Some(files),
        certificate_every: Duration::from_millis(20),
        ..Options::default()
    };
    let service = Service::start(options).await.unwrap();
    assert!(service.url().starts_with("https://"));
    let (well, shown) = ask(service.http(), "/healthz", authority.roots()).await.unwrap();
    assert_eq!((well.as_str(), shown), ("well\n", first));
    let (introduction, _) = ask(service.http(), "/cert-hash", authority.roots()).await.unwrap();
    let introduction: Introduction = serde_json::from_str(&introduction).unwrap();
    assert!(!introduction.is_self_signed);
    assert_eq!(introduction.sha256, first.to_string());
    let stranger = Authority::new();
    let refused = ask(service.http(), "/healthz", stranger.roots()).await.unwrap_err().to_string();
    assert!(refused.contains("certificate"), "{refused}");

    // The chain is written before its key: in between they do not fit, and the old one stays.
    let (_, second) = authority.sign(folder.path());
    let begun = std::time::Instant::now();
    loop {
        let (well, shown) = ask(service.http(), "/healthz", authority.roots()).await.unwrap();
        assert_eq!(well, "well\n");
        if shown == second {
            break;
        }
        assert_eq!(shown, first);
        assert!(begun.elapsed() < PATIENCE, "the new certificate is not shown");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (introduction, _) = ask(service.http(), "/cert-hash", authority.roots()).await.unwrap();
    assert!(introduction.contains(&second.to_string()), "{introduction}");
    service.stop().await;
}

#[test]
fn native_clients_believe_the_authority_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let (Files { certificate, key }, _) = authority.sign(folder.path());
    let trusted = folder.path().join("authority.pem");
    std::fs::write(&trusted, authority.certificate.pem()).unwrap();
    let stranger = folder.path().join("stranger.pem");
    std::fs::write(&stranger, Authority::new().certificate.pem()).unwrap();
    let arguments = format!("--in-memory --crowd 0 --certificate {} --key {}", certificate.display(), key.display());
    let server = Serving::start(&arguments);
    assert!(server.printed.contains("Open https://"), "{}", server.printed);
    let bots = |authorities: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kinesphere"));
        command.args(["bots", &format!("https://{}", server.http), "--count", "2", "--seconds", "1", "--json"]);
        command.env("SSL_CERT_FILE", authorities).output().unwrap()
    };
    let believed = bots(&trusted);
    let report: serde_json::Value = serde_json::from_slice(&believed.stdout).unwrap_or_default();
    assert_eq!(report["joined"].as_u64(), Some(2), "{}", String::from_utf8_lossy(&believed.stderr));
    for (authorities, expected) in
        [(&*stranger, "invalid peer certificate"), (Path::new("/nonexistent"), "cannot be used")]
    {
        let refused = bots(authorities);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains(expected) && refused.status.code() == Some(1), "{said}");
    }
}
