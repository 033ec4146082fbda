//! Admission: tokens, bans and mutes. The server knows sessions; it knows no secrets, bans or addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use server::nickname::Nickname;
use wire::{CloseReason, Hello, LinkId, Refused, ToServer, VERSION, kind};

use crate::token::{self, Secret};

/// The prefixes of notes about bans and mutes.
const BAN: &str = "ban/";
const MUTE: &str = "mute/";

/// Decides about each hello, and about what muted users say.
#[derive(Debug)]
pub struct Admission {
    secret: Secret,
    asks_for_tokens: bool,
    /// Whether what comes from other machines is not encrypted: then no token may be sent over it.
    is_overheard: bool,
    /// Keys of nicknames.
    banned: BTreeSet<String>,
    muted: BTreeSet<String>,
    /// The addresses of open links. The server knows the nickname of a link: a hello may resume a session with another.
    links: BTreeMap<LinkId, SocketAddr>,
}

/// What to do with a message.
#[derive(Debug, PartialEq)]
pub enum Admitted {
    /// Hand it to the server.
    Message,
    /// Hand this hello, which was decoded to be checked, to the server.
    Hello(Hello, Nickname),
    /// Drop the message.
    Nothing,
    /// Answer with this, and close the link.
    Refused(Refused),
}

impl Admission {
    /// Asks for tokens or lets all users in. `notes` are what was noted before a restart.
    pub fn new(secret: Secret, asks_for_tokens: bool, is_overheard: bool, notes: &[(String, Vec<u8>)]) -> Admission {
        let noted =
            |prefix: &str| notes.iter().filter_map(|(name, _)| name.strip_prefix(prefix)).map(str::to_owned).collect();
        let (banned, muted) = (noted(BAN), noted(MUTE));
        Admission { secret, asks_for_tokens, is_overheard, banned, muted, links: BTreeMap::new() }
    }

    /// A link was opened.
    pub fn opened(&mut self, link: LinkId, address: SocketAddr) {
        self.links.insert(link, address);
    }

    /// A link was closed.
    pub fn closed(&mut self, link: LinkId) {
        self.links.remove(&link);
    }

    /// Decides about a message of a link; `speaker` gives the link's nickname, if that matters.
    pub fn admit<'a>(
        &self,
        link: LinkId,
        bytes: &[u8],
        now_s: u64,
        speaker: impl FnOnce() -> Option<&'a Nickname>,
    ) -> Admitted {
        let Some(address) = self.links.get(&link) else { return Admitted::Nothing };
        match bytes.first() {
            Some(&kind::HELLO) => {}
            Some(&kind::SAY) if speaker().is_some_and(|speaker| self.muted.contains(&speaker.key())) => {
                return Admitted::Nothing;
            }
            _ => return Admitted::Message,
        }
        // The server answers what is not a hello of this version.
        let Ok(ToServer::Hello(hello)) = ToServer::decode(bytes) else { return Admitted::Message };
        // Bans and tokens go by the nickname, also for users who resume.
        let nickname = match Nickname::new(&hello.nickname) {
            Ok(nickname) => nickname,
            Err(error) => return refuse(CloseReason::Nickname, error.to_string()),
        };
        if self.banned.contains(&nickname.key()) {
            return refuse(CloseReason::Banned, "You are banned from this world.".to_owned());
        }
        if self.asks_for_tokens {
            if self.is_overheard && !address.ip().to_canonical().is_loopback() {
                let sentence = "This server takes join tokens only over an encrypted page: it needs a certificate.";
                return refuse(CloseReason::Token, sentence.to_owned());
            }
            if let Err(error) = token::check(&self.secret, &hello.token, &hello.nickname, now_s) {
                return refuse(CloseReason::Token, error.to_string());
            }
        }
        Admitted::Hello(hello, nickname)
    }

    /// Bans a nickname, or lifts the ban. Returns what to note.
    pub fn ban(&mut self, nickname: &Nickname, is_banned: bool) -> (String, Vec<u8>) {
        mark(&mut self.banned, BAN, nickname, is_banned)
    }

    /// Mutes a nickname, or lifts that. Returns what to note.
    pub fn mute(&mut self, nickname: &Nickname, is_muted: bool) -> (String, Vec<u8>) {
        mark(&mut self.muted, MUTE, nickname, is_muted)
    }
}

fn mark(set: &mut BTreeSet<String>, prefix: &str, nickname: &Nickname, is_in: bool) -> (String, Vec<u8>) {
    let key = nickname.key();
    let name = format!("{prefix}{key}");
    if is_in {
        set.insert(key);
        (name, vec![1])
    } else {
        set.remove(&key);
        (name, Vec::new())
    }
}

fn refuse(reason: CloseReason, sentence: String) -> Admitted {
    Admitted::Refused(Refused { version: VERSION, reason, sentence })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: LinkId = LinkId(1);

    fn hello(nickname: &str, token: &str) -> Vec<u8> {
        let (nickname, token) = (nickname.to_owned(), token.as_bytes().to_vec());
        ToServer::Hello(Hello { version: VERSION, nickname, token, ..Hello::default() }).encode()
    }

    fn reason(admitted: Admitted) -> Option<CloseReason> {
        match admitted {
            Admitted::Refused(refused) => Some(refused.reason),
            _ => None,
        }
    }

    fn admit(admission: &Admission, bytes: &[u8], now_s: u64) -> Admitted {
        admission.admit(LINK, bytes, now_s, || None)
    }

    fn is_admitted(admission: &Admission, bytes: &[u8], now_s: u64) -> bool {
        let Admitted::Hello(hello, nickname) = admit(admission, bytes, now_s) else { return false };
        hello.nickname == nickname.as_str()
    }

    #[test]
    fn banned_users_and_users_without_a_token_are_refused() {
        let secret = Secret::new();
        let mut admission = Admission::new(secret.clone(), true, true, &[("ban/eve".to_owned(), vec![1])]);
        admission.opened(LINK, ([127, 0, 0, 1], 5).into());
        let token = token::make(&secret, None, 100);
        assert!(is_admitted(&admission, &hello("Ann", &token), 50));
        assert_eq!(reason(admit(&admission, &hello("Ann", ""), 50)), Some(CloseReason::Token));
        assert_eq!(reason(admit(&admission, &hello("Ann", &token), 100)), Some(CloseReason::Token));
        assert_eq!(reason(admit(&admission, &hello("EVE", &token), 50)), Some(CloseReason::Banned));
        let eve = Nickname::new("Eve").unwrap();
        assert_eq!(admission.ban(&eve, false), ("ban/eve".to_owned(), Vec::new()));
        assert!(is_admitted(&admission, &hello("EVE", &token), 50));

        admission.opened(LINK, ([192, 168, 0, 7], 5).into());
        assert_eq!(reason(admit(&admission, &hello("Ann", &token), 50)), Some(CloseReason::Token), "not encrypted");
    }

    /// Keeps out: a user who resumed with a key and no nickname was asked for no token.
    #[test]
    fn a_hello_without_a_nickname_is_refused() {
        let mut admission = Admission::new(Secret::new(), true, false, &[]);
        admission.opened(LINK, ([127, 0, 0, 1], 5).into());
        for nickname in ["", "\u{7}"] {
            let (nickname, resume) = (nickname.to_owned(), Some([7; 16]));
            let hello = ToServer::Hello(Hello { version: VERSION, nickname, resume, ..Hello::default() }).encode();
            assert_eq!(reason(admit(&admission, &hello, 0)), Some(CloseReason::Nickname));
        }
    }

    #[test]
    fn muted_users_may_move_but_not_speak() {
        let mut admission = Admission::new(Secret::new(), false, true, &[]);
        admission.opened(LINK, ([127, 0, 0, 1], 5).into());
        let [ann, bob] = ["Ann", "Bob"].map(|name| Nickname::new(name).unwrap());
        let say = ToServer::Say { text: "hello".to_owned() }.encode();
        assert_eq!(admission.admit(LINK, &say, 0, || Some(&ann)), Admitted::Message);
        admission.mute(&Nickname::new("ann").unwrap(), true);
        assert_eq!(admission.admit(LINK, &say, 0, || Some(&ann)), Admitted::Nothing);
        assert_eq!(admission.admit(LINK, &say, 0, || Some(&bob)), Admitted::Message);
        assert_eq!(admission.admit(LINK, &ToServer::Release.encode(), 0, || Some(&ann)), Admitted::Message);
        assert_eq!(admission.admit(LinkId(2), &say, 0, || None), Admitted::Nothing, "this link was not opened");
    }
}
