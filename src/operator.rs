//! Operators: what a person may order, and the token that proves it. Where a request comes from proves nothing: any
//! program that forwards TCP makes strangers look local.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use ring::hmac;
use space::bytes::to_hex;
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::token::{self, Secret, random, write_private};

/// The shortest token that an operator may choose: a shorter one could be guessed.
const CHOSEN_MIN: usize = 16;
/// The pause before the answer to a wrong token. Wrong tokens are answered one after the other.
const WRONG_PAUSE: Duration = Duration::from_millis(500);
/// Wrong tokens that wait for their answer; more are refused at once, still unread.
const WRONG_WAITING_MAX: usize = 16;

/// How long the link that the start prints is good: what was printed may be kept in a log.
const ONCE_MAX: Duration = Duration::from_secs(10 * 60);

/// What a person may do; each role may do what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Role {
    /// Sees the map and the metrics.
    Watcher,
    /// Says, kicks, mutes and bans.
    Moderator,
    /// May give every order.
    Operator,
}

impl Role {
    /// The role's name, as in a token and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Role::Watcher => "watcher",
            Role::Moderator => "moderator",
            Role::Operator => "operator",
        }
    }
}

/// The text that proves an operator. It is compared in constant time and never logged.
#[derive(Clone)]
pub struct OperatorToken(String);

impl fmt::Debug for OperatorToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OperatorToken(..)")
    }
}

/// Why an operator's token cannot be used.
#[derive(Debug, Error)]
pub enum OperatorTokenError {
    #[error("cannot use the operator's token in {path}: {error}", path = path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error(
        "the operator's token in {path} is too short or has spaces; expected at least {CHOSEN_MIN} visible ASCII \
         characters",
        path = path.display()
    )]
    Weak { path: PathBuf },
}

impl OperatorToken {
    /// The name of the file within the folder of the world.
    pub const FILE: &str = "operator.token";

    /// A random token.
    pub fn new() -> OperatorToken {
        OperatorToken(to_hex(&random::<16>()))
    }

    /// The token in a file that the operator wrote.
    pub fn read(path: &Path) -> Result<OperatorToken, OperatorTokenError> {
        let text = fs::read_to_string(path).map_err(|error| OperatorTokenError::Io { path: path.to_owned(), error })?;
        let text = text.trim();
        let is_strong = text.len() >= CHOSEN_MIN && text.chars().all(|letter| letter.is_ascii_graphic());
        if is_strong {
            Ok(OperatorToken(text.to_owned()))
        } else {
            Err(OperatorTokenError::Weak { path: path.to_owned() })
        }
    }

    /// The token in this folder, created if missing. Only its owner can read the file.
    pub fn read_or_make(folder: &Path) -> Result<OperatorToken, OperatorTokenError> {
        let path = folder.join(OperatorToken::FILE);
        match OperatorToken::read(&path) {
            Err(OperatorTokenError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {}
            read => return read,
        }
        let token = OperatorToken::new();
        let written = write_private(folder, OperatorToken::FILE, token.0.as_bytes());
        written.map_err(|error| OperatorTokenError::Io { path, error })?;
        Ok(token)
    }

    /// The text, for the operator alone.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether `text` is the token. Both are hashed under a fresh key, so that timing tells nothing.
    pub fn is(&self, shown: &str) -> bool {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &random::<32>());
        hmac::verify(&key, shown.as_bytes(), hmac::sign(&key, self.0.as_bytes()).as_ref()).is_ok()
    }
}

impl Default for OperatorToken {
    fn default() -> OperatorToken {
        OperatorToken::new()
    }
}

/// Where a server's operator token lies, so that commands on its machine can read it.
#[derive(Debug)]
pub struct TokenPlace {
    pub token: OperatorToken,
    pub path: PathBuf,
    /// The folder that was made for it alone, and goes with the server.
    made: Option<PathBuf>,
}

impl TokenPlace {
    /// The token in the file that was chosen, else the one in the world's folder, else a fresh one in a folder of its
    /// own, which only this user can enter.
    pub fn find(chosen: Option<&Path>, world: Option<&Path>) -> Result<TokenPlace, OperatorTokenError> {
        if let Some(path) = chosen {
            return Ok(TokenPlace { token: OperatorToken::read(path)?, path: path.to_owned(), made: None });
        }
        let made = match world {
            Some(_) => None,
            None => Some(private_folder()?),
        };
        let folder = made.as_deref().or(world).expect("one of them is there");
        let token = OperatorToken::read_or_make(folder)?;
        Ok(TokenPlace { token, path: folder.join(OperatorToken::FILE), made })
    }
}

impl Drop for TokenPlace {
    fn drop(&mut self) {
        if let Some(folder) = &self.made {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

fn private_folder() -> Result<PathBuf, OperatorTokenError> {
    let path = std::env::temp_dir().join(format!("kinesphere-{}", to_hex(&random::<8>())));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&path).map_err(|error| OperatorTokenError::Io { path: path.clone(), error })?;
    Ok(path)
}

/// Checks what people show. Clones share one state.
#[derive(Clone, Debug)]
pub struct Operators(Arc<State>);

#[derive(Debug)]
struct State {
    token: OperatorToken,
    /// Signs the tokens of roles.
    secret: Secret,
    /// Opens the map once, on this machine: the start prints it. With the time when it was made.
    once: Mutex<Option<(OperatorToken, Instant)>>,
    waiting: Semaphore,
    turn: tokio::sync::Mutex<()>,
}

impl Operators {
    /// Operators who show this token, or a role's token that this secret signed.
    pub fn new(token: OperatorToken, secret: Secret) -> Operators {
        Operators(Arc::new(State {
            token,
            secret,
            once: Mutex::new(Some((OperatorToken::new(), Instant::now()))),
            waiting: Semaphore::new(WRONG_WAITING_MAX),
            turn: tokio::sync::Mutex::default(),
        }))
    }

    /// The role that a text proves. A wrong text is answered late, and after the wrong ones before it, so that guesses
    /// are slow however many connections make them.
    pub async fn role_of(&self, shown: &str) -> Option<Role> {
        let state = &self.0;
        if state.token.is(shown) {
            return Some(Role::Operator);
        }
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if let Some(role) = token::role_of(&state.secret, shown, now_s) {
            return Some(role);
        }
        let Ok(_waiting) = state.waiting.try_acquire() else { return None };
        let _turn = state.turn.lock().await;
        sleep(WRONG_PAUSE).await;
        None
    }

    /// The secret that opens the map once; `None` after it was used.
    pub fn once(&self) -> Option<String> {
        let once = self.0.once.lock().expect("no thread panics while holding it");
        once.as_ref().map(|(once, _)| once.reveal().to_owned())
    }

    /// Trades the one-time secret for the operator's token, within `ONCE_MAX`. Only a request that shows it spends it.
    pub fn redeem(&self, shown: &str) -> Option<String> {
        let mut once = self.0.once.lock().expect("no thread panics while holding it");
        let is_right = once.as_ref().is_some_and(|(once, made)| made.elapsed() < ONCE_MAX && once.is(shown));
        is_right.then(|| {
            *once = None;
            self.0.token.reveal().to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_known_by_the_token_alone() {
        let token = OperatorToken::new();
        assert!(token.is(token.reveal()));
        assert!(!token.is(""));
        assert!(!token.is(&token.reveal()[1..]));
        assert!(!token.is(OperatorToken::new().reveal()));
        assert_eq!(format!("{token:?}"), "OperatorToken(..)");
    }

    #[test]
    fn a_token_stays_the_same_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let made = OperatorToken::read_or_make(folder.path()).unwrap();
        assert!(OperatorToken::read_or_make(folder.path()).unwrap().is(made.reveal()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(folder.path().join(OperatorToken::FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "others may read it");
        }
    }

    #[test]
    fn a_chosen_token_that_could_be_guessed_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chosen");
        for weak in ["", "short", "sixteen or more, with spaces"] {
            fs::write(&path, weak).unwrap();
            let error = OperatorToken::read(&path).unwrap_err().to_string();
            assert!(error.contains("chosen") && error.contains("at least 16"), "{error}");
        }
        fs::write(&path, "correct-horse-battery\n").unwrap();
        assert!(OperatorToken::read(&path).unwrap().is("correct-horse-battery"));
    }

    #[test]
    fn the_map_is_opened_once_by_the_secret_that_the_start_prints() {
        let token = OperatorToken::new();
        let operators = Operators::new(token.clone(), Secret::new());
        let once = operators.once().unwrap();
        assert_eq!(operators.redeem("something else"), None);
        assert_eq!(operators.redeem(&once).as_deref(), Some(token.reveal()));
        assert_eq!(operators.redeem(&once), None, "it was spent");
        assert_eq!(operators.once(), None);
    }

    /// Keeps out: one connection tried 6,800 tokens a second.
    #[tokio::test]
    async fn guesses_wait_for_one_another_and_true_tokens_do_not() {
        let (token, secret) = (OperatorToken::new(), Secret::new());
        let operators = Operators::new(token.clone(), secret.clone());
        let begun = std::time::Instant::now();
        let guesses = (0..3).map(|guess| {
            let operators = operators.clone();
            tokio::spawn(async move { operators.role_of(&format!("guess {guess}")).await })
        });
        let guesses: Vec<_> = guesses.collect();
        tokio::task::yield_now().await;
        assert_eq!(operators.role_of(token.reveal()).await, Some(Role::Operator));
        let moderator = token::make_role(&secret, Role::Moderator, u64::MAX);
        assert_eq!(operators.role_of(&moderator).await, Some(Role::Moderator));
        assert!(begun.elapsed() < WRONG_PAUSE, "a true token waits for nothing");
        for guess in guesses {
            assert_eq!(guess.await.unwrap(), None);
        }
        assert!(begun.elapsed() >= 3 * WRONG_PAUSE, "guesses were tried at once");
    }
}
