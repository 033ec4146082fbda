//! Signed tokens. A join token is a permission that the server's operator signs and hands to a guest.
//! It names the time until which it is valid and, if wanted, the only nickname it is valid for. Nothing is looked up:
//! the server's secret suffices to make a token and to check one. A role's token is made in the same way: its holder
//! may moderate, or watch.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use space::bytes::{from_hex, to_hex};
use thiserror::Error;

use crate::operator::Role;

/// The first part of a join token, and of a role's token.
const PREFIX: &str = "ks1";
const ROLE_PREFIX: &str = "kr1";

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
            write_private(folder, Secret::FILE, to_hex(&secret.0).as_bytes())?;
            return Ok(secret);
        }
        from_hex(text.trim()).and_then(|bytes| bytes.try_into().ok()).map(Secret).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{} holds no secret: 64 hexadecimal digits", path.display()),
            )
        })
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
    sign(secret, format!("{PREFIX}.{expires_s}.{}", to_hex(nickname.unwrap_or_default().as_bytes())))
}

/// Whether a token lets this nickname in now.
pub fn check(secret: &Secret, token: &[u8], nickname: &str, now_s: u64) -> Result<(), TokenError> {
    if token.is_empty() {
        return Err(TokenError::Missing);
    }
    let text = std::str::from_utf8(token).map_err(|_| TokenError::Forged)?;
    let mut parts = signed(secret, text).ok_or(TokenError::Forged)?.split('.');
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

/// Signs a role's token that is valid until a time, in seconds since 1970.
pub fn make_role(secret: &Secret, role: Role, expires_s: u64) -> String {
    sign(secret, format!("{ROLE_PREFIX}.{expires_s}.{}", role.name()))
}

/// The role that a token proves now; `None` if it is no role's token of this secret, or has expired.
pub fn role_of(secret: &Secret, text: &str, now_s: u64) -> Option<Role> {
    let mut parts = signed(secret, text)?.split('.');
    let (Some(ROLE_PREFIX), Some(expires), Some(name), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let role = Role::value_variants().iter().copied().find(|role| role.name() == name)?;
    (expires.parse::<u64>().ok()? > now_s).then_some(role)
}

fn sign(secret: &Secret, claim: String) -> String {
    let tag = hmac::sign(&secret.key(), claim.as_bytes());
    format!("{claim}.{}", to_hex(tag.as_ref()))
}

/// The claim of a token, if this secret has signed it. The comparison takes the same time for every tag.
fn signed<'a>(secret: &Secret, text: &'a str) -> Option<&'a str> {
    let (claim, tag) = text.rsplit_once('.')?;
    hmac::verify(&secret.key(), claim.as_bytes(), &from_hex(tag)?).ok()?;
    Some(claim)
}

/// Writes a file that only its owner can read, whole or not at all: half a secret would keep the server from starting
/// ever again.
pub(crate) fn write_private(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let unfinished = folder.join(format!("{name}.new"));
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
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&unfinished, folder.join(name))?;
    // The new name is durable once its folder is synced; not every system allows that.
    #[cfg(unix)]
    let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Cryptographically random bytes.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system gives random bytes");
    bytes
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
    fn a_roles_token_proves_its_role_until_its_time_and_lets_no_one_in() {
        let secret = Secret::new();
        let token = make_role(&secret, Role::Moderator, 1_000);
        assert_eq!(role_of(&secret, &token, 999), Some(Role::Moderator));
        assert_eq!(role_of(&secret, &token, 1_000), None, "it has expired");
        assert_eq!(role_of(&Secret::new(), &token, 0), None, "another server signed it");
        assert_eq!(role_of(&secret, &token.replace("moderator", "operator"), 0), None, "it was changed");
        assert_eq!(role_of(&secret, &make(&secret, None, 1_000), 0), None, "a join token is no role's");
        assert_eq!(check(&secret, token.as_bytes(), "Ann", 0), Err(TokenError::Forged));
    }
}
