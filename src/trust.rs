//! The certificates that a native client accepts over HTTPS: those that an authority of this machine has signed.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio_rustls::TlsConnector;

/// Where systems keep the certificates of their authorities, in PEM. `SSL_CERT_FILE` names another place.
const FILES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Makes TLS connections to servers that an authority vouches for.
pub fn connector() -> io::Result<TlsConnector> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let file = named.or_else(|| FILES.iter().map(PathBuf::from).find(|path| path.exists()));
    let file = file.ok_or_else(|| {
        io::Error::other("this machine's certificate authorities were not found; name them with SSL_CERT_FILE")
    })?;
    let wrong = |why: &dyn std::fmt::Display| {
        io::Error::other(format!("the certificate authorities in {} cannot be used: {why}", file.display()))
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(&file).map_err(|error| wrong(&error))? {
        // An authority whose certificate cannot be parsed is skipped.
        let _ = roots.add(certificate.map_err(|error| wrong(&error))?);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
