//! The server's TLS certificate, and when it is renewed.
//!
//! QUIC is always encrypted, so there is always a certificate. A world at home has none that an authority signed: the
//! server makes its own, and clients get its hash over HTTP. Browsers accept such a hash only for an
//! ECDSA certificate that is valid for at most 14 days, so it is replaced well before. A real certificate comes from
//! two files, which are read again when they change.

use std::fmt;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::{Duration, SystemTime};

use ring::digest;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use space::bytes::{from_hex, to_hex};
use thiserror::Error;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Browsers refuse a hash for more than 14 days. The time before now is for clients whose clock is behind.
const VALID_BEFORE_NOW: Duration = DAY;
const VALID_AFTER_NOW: Duration = Duration::from_secs(12 * 24 * 60 * 60);
/// A page that was opened just before a renewal has this long to come back with the old hash in its cache.
const RENEWED_BEFORE_END: Duration = Duration::from_secs(4 * 24 * 60 * 60);

/// SHA-256 of a certificate's DER form, which browsers and native clients compare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CertificateHash([u8; 32]);

impl CertificateHash {
    /// The hash of a certificate.
    pub fn of(der: &[u8]) -> CertificateHash {
        let hash = digest::digest(&digest::SHA256, der);
        CertificateHash(hash.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }

    /// Reads what `Display` writes: 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<CertificateHash> {
        from_hex(text)?.try_into().ok().map(CertificateHash)
    }
}

impl fmt::Display for CertificateHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for CertificateHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A certificate, its key, hash and dates.
#[derive(Debug)]
pub struct Certificate {
    key: Arc<CertifiedKey>,
    hash: CertificateHash,
    /// When a self-signed certificate is replaced.
    renew_at: Option<SystemTime>,
    expires_at: Option<SystemTime>,
}

impl Certificate {
    pub fn hash(&self) -> CertificateHash {
        self.hash
    }

    /// When it expires, if it is self-signed.
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.expires_at
    }

    /// Whether clients have only its hash to trust it by.
    pub fn is_self_signed(&self) -> bool {
        self.renew_at.is_some()
    }

    fn self_signed(now: SystemTime) -> Result<Certificate, CertificateError> {
        let made = |error: rcgen::Error| CertificateError::NotMade(error.to_string());
        let names =
            ["localhost".to_owned(), "127.0.0.1".to_owned(), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]).to_string()];
        let mut parameters = rcgen::CertificateParams::new(names).map_err(made)?;
        parameters.not_before = (now - VALID_BEFORE_NOW).into();
        parameters.not_after = (now + VALID_AFTER_NOW).into();
        parameters.distinguished_name.push(rcgen::DnType::CommonName, "kinesphere");
        let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(made)?;
        let certificate = parameters.self_signed(&pair).map_err(made)?;
        let secret = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(pair.serialize_der()));
        let signing = any_supported_type(&secret).map_err(|error| CertificateError::NotMade(error.to_string()))?;
        let der = certificate.der().clone();
        Ok(Certificate {
            hash: CertificateHash::of(&der),
            key: Arc::new(CertifiedKey::new(vec![der], signing)),
            renew_at: Some(now + VALID_AFTER_NOW - RENEWED_BEFORE_END),
            expires_at: Some(now + VALID_AFTER_NOW),
        })
    }

    fn read(files: &Files) -> Result<Certificate, CertificateError> {
        let bytes =
            |path: &Path| fs::read(path).map_err(|error| CertificateError::Unreadable { path: path.to_owned(), error });
        let invalid = |path: &Path, why: &dyn fmt::Display| CertificateError::Invalid {
            path: path.to_owned(),
            why: why.to_string(),
        };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&bytes(&files.certificate)?)
            .collect::<Result<_, _>>()
            .map_err(|error| invalid(&files.certificate, &error))?;
        let Some(first) = chain.first() else {
            return Err(invalid(&files.certificate, &"it holds no certificate"));
        };
        let hash = CertificateHash::of(first);
        let secret = PrivateKeyDer::from_pem_slice(&bytes(&files.key)?).map_err(|error| invalid(&files.key, &error))?;
        let signing = any_supported_type(&secret).map_err(|error| invalid(&files.key, &error))?;
        let key = CertifiedKey::new(chain, signing);
        key.keys_match().map_err(|_| CertificateError::NotAPair {
            certificate: files.certificate.clone(),
            key: files.key.clone(),
        })?;
        Ok(Certificate { key: Arc::new(key), hash, renew_at: None, expires_at: None })
    }
}

/// Why no certificate can be used.
#[derive(Debug, Error)]
pub enum CertificateError {
    /// A file cannot be read.
    #[error("cannot read {path}: {error}", path = path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    /// A file does not hold what it should.
    #[error("{path} is not usable as PEM: {why}", path = path.display())]
    Invalid { path: PathBuf, why: String },
    /// The key belongs to another certificate.
    #[error("the key in {key} does not belong to the certificate in {certificate}",
        key = key.display(), certificate = certificate.display())]
    NotAPair {
        /// The file with the certificate.
        certificate: PathBuf,
        /// The file with the key.
        key: PathBuf,
    },
    #[error("cannot make a certificate: {0}")]
    NotMade(String),
}

/// The files of a certificate that an authority signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The chain, in PEM.
    pub certificate: PathBuf,
    /// Its key, in PEM.
    pub key: PathBuf,
}

/// The current certificate. Every endpoint asks here at each handshake, so that a renewal needs no restart and disturbs
/// no connection.
#[derive(Debug)]
pub struct Certificates {
    files: Option<Files>,
    current: RwLock<Current>,
}

#[derive(Debug)]
struct Current {
    certificate: Arc<Certificate>,
    /// The files' times of change when they were read.
    read_at: Option<(SystemTime, SystemTime)>,
}

impl Certificates {
    pub fn self_signed(now: SystemTime) -> Result<Certificates, CertificateError> {
        let certificate = Arc::new(Certificate::self_signed(now)?);
        Ok(Certificates { files: None, current: RwLock::new(Current { certificate, read_at: None }) })
    }

    pub fn from_files(files: Files) -> Result<Certificates, CertificateError> {
        let read_at = changed(&files);
        let certificate = Arc::new(Certificate::read(&files)?);
        Ok(Certificates { files: Some(files), current: RwLock::new(Current { certificate, read_at }) })
    }

    pub fn current(&self) -> Arc<Certificate> {
        self.current.read().expect("no thread panics while holding a certificate").certificate.clone()
    }

    /// Replaces the certificate if it is due, and returns whether it did. If that fails, the old one stays.
    pub fn renew_if_due(&self, now: SystemTime) -> Result<bool, CertificateError> {
        let renewed = match &self.files {
            Some(files) => {
                let read_at = changed(files);
                let known = self.current.read().expect("no thread panics while holding a certificate").read_at;
                if read_at.is_none() || read_at == known {
                    return Ok(false);
                }
                Current { certificate: Arc::new(Certificate::read(files)?), read_at }
            }
            None => {
                if self.current().renew_at.is_none_or(|due| now < due) {
                    return Ok(false);
                }
                Current { certificate: Arc::new(Certificate::self_signed(now)?), read_at: None }
            }
        };
        *self.current.write().expect("no thread panics while holding a certificate") = renewed;
        Ok(true)
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current().key.clone())
    }
}

fn changed(files: &Files) -> Option<(SystemTime, SystemTime)> {
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    Some((time(&files.certificate)?, time(&files.key)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(days: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000) + Duration::from_secs(days * 24 * 60 * 60)
    }

    /// Writes a pair of PEM files as a certificate authority would.
    fn write_pair(folder: &Path, name: &str) -> Files {
        let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
        let files = Files { certificate: folder.join("chain.pem"), key: folder.join("key.pem") };
        fs::write(&files.certificate, made.cert.pem()).unwrap();
        fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
        files
    }

    #[test]
    fn our_own_is_valid_for_less_than_a_fortnight_and_renewed_in_time() {
        assert!(VALID_BEFORE_NOW + VALID_AFTER_NOW <= 13 * DAY, "browsers refuse more than 14 days");
        let certificates = Certificates::self_signed(at(0)).unwrap();
        let first = certificates.current();
        assert!(!certificates.renew_if_due(at(7)).unwrap());
        assert_eq!(certificates.current().hash(), first.hash());
        assert!(certificates.renew_if_due(at(8)).unwrap());
        let second = certificates.current();
        assert_ne!(second.hash(), first.hash());
        assert!(first.expires_at().unwrap() > at(11), "the first would have lasted on");
        assert!(second.expires_at() > first.expires_at());
    }

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let hash = CertificateHash::of(b"some bytes");
        assert_eq!(CertificateHash::parse(&hash.to_string()), Some(hash));
        let digits = hash.to_string();
        for wrong in ["", "ab", &digits[1..], &format!("{digits}0"), &digits.replace('a', "g"), &"ä".repeat(32)] {
            assert_eq!(CertificateHash::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_real_one_is_read_again_when_its_files_change() {
        let folder = tempfile::tempdir().unwrap();
        let certificates = Certificates::from_files(write_pair(folder.path(), "a.example")).unwrap();
        let first = certificates.current();
        assert!(!first.is_self_signed());
        assert!(!certificates.renew_if_due(at(1_000)).unwrap(), "the files are as they were");

        let files = write_pair(folder.path(), "b.example");
        let later = SystemTime::now() + Duration::from_secs(5);
        fs::File::open(&files.certificate).unwrap().set_modified(later).unwrap();
        assert!(certificates.renew_if_due(at(0)).unwrap());
        assert_ne!(certificates.current().hash(), first.hash());
    }

    #[test]
    fn wrong_files_are_refused_by_name_and_the_old_certificate_stays() {
        let folder = tempfile::tempdir().unwrap();
        let files = write_pair(folder.path(), "a.example");
        let certificates = Certificates::from_files(files.clone()).unwrap();

        fs::write(&files.certificate, "no certificate").unwrap();
        fs::File::open(&files.certificate).unwrap().set_modified(at(0)).unwrap();
        let error = certificates.renew_if_due(at(0)).unwrap_err().to_string();
        assert!(error.contains("chain.pem") && error.contains("no certificate"), "{error}");
        assert!(!certificates.current().is_self_signed());

        let other = rcgen::generate_simple_self_signed(vec!["b.example".to_owned()]).unwrap();
        fs::write(&files.certificate, other.cert.pem()).unwrap();
        let error = Certificates::from_files(files.clone()).unwrap_err().to_string();
        assert!(error.contains("does not belong"), "{error}");

        fs::remove_file(&files.key).unwrap();
        let error = Certificates::from_files(files).unwrap_err().to_string();
        assert!(error.contains("cannot read") && error.contains("key.pem"), "{error}");
    }
}
