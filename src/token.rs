//! Join tokens and operator tokens. A join token is a permission that the server's operator signs and hands to a guest.
//! It names the time until which it is valid and, if wanted, the only nickname it is valid for. Nothing is looked up:
//! the server's secret suffices to make a token and to check one.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use space::bytes::{from_hex, to_hex};
use thiserror::Error;

const PREFIX: &str = "ks1";

/// The key that signs tokens. It is kept in a file beside the world, and never logged.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

impl Secret {
    /// The name of the file within the folder of the world.
    pub const FILE: &str = "secret.key";

    /// A fresh random secret.
    pub fn new() -> Secret {
        Secret(random())
    }

    /// The secret in this folder, created if missing. An empty file counts as missing: a crash left it.
    pub fn read_or_make(folder: &Path) -> io::Result<Secret> {
        let path = folder.join(Secret::FILE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        if text.trim().is_empty() {
            let secret = Secret::new();
            secret.write(folder)?;
            return Ok(secret);
        }
        from_hex(text.trim()).and_then(|bytes| bytes.try_into().ok()).map(Secret).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{} holds no secret: 64 hexadecimal digits", path.display()),
            )
        })
    }

    /// Whole or not at all: half a secret would keep the server from starting ever again.
    fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let unfinished = folder.join("secret.key.new");
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // A file left by an earlier crash may have another owner, who could read the secret.
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = options.open(&unfinished)?;
        file.write_all(to_hex(&self.0).as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, folder.join(Secret::FILE))?;
        // The new name is durable once its folder is synced; not every system allows that.
        #[cfg(unix)]
        let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.0)
    }
}

impl Default for Secret {
    fn default() -> Secret {
        Secret::new()
    }
}

/// Why a token is refused. The sentence is for the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    #[error("This world asks for a join token; its operator makes one with `kinesphere token`.")]
    Missing,
    /// It was not made by this server, or was changed.
    #[error("This join token is not of this world.")]
    Forged,
    #[error("This join token has expired; ask for another.")]
    Expired,
    /// It is for another nickname.
    #[error("This join token is for another nickname.")]
    OtherName,
}

/// Signs a join token that is valid until a time, in seconds since 1970, for one nickname or for any.
pub fn make(secret: &Secret, nickname: Option<&str>, expires_s: u64) -> String {
    let claim = claim(nickname, expires_s);
    let tag = hmac::sign(&secret.key(), claim.as_bytes());
    format!("{claim}.{}", to_hex(tag.as_ref()))
}

/// Whether a token lets this nickname in now.
pub fn check(secret: &Secret, token: &[u8], nickname: &str, now_s: u64) -> Result<(), TokenError> {
    if token.is_empty() {
        return Err(TokenError::Missing);
    }
    let text = std::str::from_utf8(token).map_err(|_| TokenError::Forged)?;
    let (claim, tag) = text.rsplit_once('.').ok_or(TokenError::Forged)?;
    let tag = from_hex(tag).ok_or(TokenError::Forged)?;
    // Constant time for every tag.
    hmac::verify(&secret.key(), claim.as_bytes(), &tag).map_err(|_| TokenError::Forged)?;
    let mut parts = claim.split('.');
    let (Some(PREFIX), Some(expires), Some(name), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(TokenError::Forged);
    };
    if expires.parse::<u64>().map_err(|_| TokenError::Forged)? <= now_s {
        return Err(TokenError::Expired);
    }
    let name = from_hex(name).and_then(|name| String::from_utf8(name).ok()).ok_or(TokenError::Forged)?;
    if name.is_empty() || name.to_lowercase() == nickname.to_lowercase() { Ok(()) } else { Err(TokenError::OtherName) }
}

/// The token that an operator must show.
#[derive(Clone)]
pub struct OperatorToken(String);

impl fmt::Debug for OperatorToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OperatorToken(..)")
    }
}

impl OperatorToken {
    /// A random token.
    pub fn new() -> OperatorToken {
        OperatorToken(to_hex(&random::<16>()))
    }

    /// A token that the operator chose.
    pub fn chosen(text: &str) -> OperatorToken {
        OperatorToken(text.to_owned())
    }

    /// The text, for the operator alone.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether `text` is the token. Both are hashed under a fresh key, so that timing tells nothing.
    pub fn is(&self, shown: &str) -> bool {
        let key = Secret::new().key();
        hmac::verify(&key, shown.as_bytes(), hmac::sign(&key, self.0.as_bytes()).as_ref()).is_ok()
    }
}

impl Default for OperatorToken {
    fn default() -> OperatorToken {
        OperatorToken::new()
    }
}

/// Cryptographically random bytes.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system gives random bytes");
    bytes
}

fn claim(nickname: Option<&str>, expires_s: u64) -> String {
    format!("{PREFIX}.{expires_s}.{}", to_hex(nickname.unwrap_or_default().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_for_its_name_until_its_time() {
        let secret = Secret::new();
        let open = make(&secret, None, 1_000);
        assert_eq!(check(&secret, open.as_bytes(), "Ann", 999), Ok(()));
        assert_eq!(check(&secret, open.as_bytes(), "Ann", 1_000), Err(TokenError::Expired));
        assert_eq!(check(&Secret::new(), open.as_bytes(), "Ann", 0), Err(TokenError::Forged));
        assert_eq!(check(&secret, b"", "Ann", 0), Err(TokenError::Missing));
        let named = make(&secret, Some("Ann.1"), 1_000);
        assert_eq!(check(&secret, named.as_bytes(), "ann.1", 0), Ok(()));
        assert_eq!(check(&secret, named.as_bytes(), "Bob", 0), Err(TokenError::OtherName));
    }

    #[test]
    fn no_change_of_a_token_is_overlooked() {
        let secret = Secret::new();
        let token = make(&secret, Some("Ann"), 1_000);
        assert!(token.len() <= wire::session::TOKEN_MAX);
        for at in 0..token.len() {
            for change in [1, 2, 4, 16, 128] {
                let mut changed = token.clone().into_bytes();
                changed[at] ^= change;
                let is_same_digit = changed.eq_ignore_ascii_case(token.as_bytes());
                assert!(is_same_digit || check(&secret, &changed, "Ann", 0).is_err(), "byte {at} ^ {change}");
            }
            assert!(check(&secret, &token.as_bytes()[..at], "Ann", 0).is_err());
        }
    }

    #[test]
    fn a_secret_stays_the_same_and_is_nobody_elses_business() {
        let folder = tempfile::tempdir().unwrap();
        let first = Secret::read_or_make(folder.path()).unwrap();
        let again = Secret::read_or_make(folder.path()).unwrap();
        let token = make(&first, None, 9);
        assert_eq!(check(&again, token.as_bytes(), "x", 1), Ok(()));
        assert_eq!(format!("{first:?}"), "Secret(..)");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(folder.path().join(Secret::FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "others may read it");
        }
        fs::write(folder.path().join(Secret::FILE), "not a secret").unwrap();
        let error = Secret::read_or_make(folder.path()).unwrap_err().to_string();
        assert!(error.contains("secret.key holds no secret"), "{error}");
    }

    /// Keeps out: a crash while the secret was written left an empty file, and no server started there again.
    #[test]
    fn a_secret_that_a_crash_cut_off_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(Secret::FILE), "").unwrap();
        fs::write(folder.path().join("secret.key.new"), "12").unwrap();
        let made = Secret::read_or_make(folder.path()).unwrap();
        let token = make(&made, None, 9);
        let again = Secret::read_or_make(folder.path()).unwrap();
        assert_eq!(check(&again, token.as_bytes(), "x", 1), Ok(()));
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), [Secret::FILE], "what was unfinished is gone");
    }

    #[test]
    fn an_operator_is_known_by_the_token_alone() {
        let token = OperatorToken::new();
        assert!(token.is(token.reveal()));
        assert!(!token.is(""));
        assert!(!token.is(&token.reveal()[1..]));
        assert!(!token.is(OperatorToken::new().reveal()));
    }
}
