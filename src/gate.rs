//! Who is let through to the server at all. The server knows sessions; it does not know secrets, bans or addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use node::LinkId;
use node::nickname::Nickname;
use wire::{Hello, Reason, Refused, ToServer, VERSION, kind};

use crate::token::{self, Secret};

/// Notes about bans and mutes begin so.
const BAN: &str = "ban/";
const MUTE: &str = "mute/";

/// What the gate goes by.
#[derive(Debug)]
pub struct Gate {
    secret: Secret,
    /// Whether one needs a token to come in.
    asks_for_tokens: bool,
    /// Whether what comes from other machines could be read on the way: then no token may.
    is_overheard: bool,
    /// Keys of nicknames.
    banned: BTreeSet<String>,
    muted: BTreeSet<String>,
    /// What is known of links that are open.
    links: BTreeMap<LinkId, Guest>,
}

#[derive(Debug)]
struct Guest {
    address: SocketAddr,
    /// The key of the nickname, after a hello.
    key: Option<String>,
}

/// What becomes of a message.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// The server may see it.
    Pass,
    /// It is dropped.
    Drop,
    /// It is answered, and the link is closed.
    Refuse(Refused),
}

impl Gate {
    /// A gate that lets everybody in who has a token, or just everybody. `notes` are what was noted before.
    pub fn new(secret: Secret, asks_for_tokens: bool, is_overheard: bool, notes: &[(String, Vec<u8>)]) -> Gate {
        let noted =
            |prefix: &str| notes.iter().filter_map(|(name, _)| name.strip_prefix(prefix)).map(str::to_owned).collect();
        let (banned, muted) = (noted(BAN), noted(MUTE));
        Gate { secret, asks_for_tokens, is_overheard, banned, muted, links: BTreeMap::new() }
    }

    /// Somebody is at the gate.
    pub fn opened(&mut self, link: LinkId, address: SocketAddr) {
        self.links.insert(link, Guest { address, key: None });
    }

    /// Somebody is gone.
    pub fn closed(&mut self, link: LinkId) {
        self.links.remove(&link);
    }

    /// Looks at a message of a link.
    pub fn look(&mut self, link: LinkId, bytes: &[u8], now_s: u64) -> Verdict {
        let Some(guest) = self.links.get_mut(&link) else { return Verdict::Drop };
        match bytes.first() {
            Some(&kind::HELLO) => {}
            Some(&kind::SAY) if guest.key.as_ref().is_some_and(|key| self.muted.contains(key)) => return Verdict::Drop,
            _ => return Verdict::Pass,
        }
        // What is no hello of this version is the server's to answer.
        let Ok(ToServer::Hello(Hello { nickname, token, .. })) = ToServer::decode(bytes) else { return Verdict::Pass };
        let Ok(key) = Nickname::new(&nickname).map(|nickname| nickname.key()) else { return Verdict::Pass };
        if self.banned.contains(&key) {
            return refuse(Reason::Banned, "You are banned from this world.".to_owned());
        }
        if self.asks_for_tokens {
            if self.is_overheard && !guest.address.ip().to_canonical().is_loopback() {
                let sentence = "This server takes join tokens only over an encrypted page: it needs a certificate.";
                return refuse(Reason::Token, sentence.to_owned());
            }
            if let Err(error) = token::check(&self.secret, &token, &nickname, now_s) {
                return refuse(Reason::Token, error.to_string());
            }
        }
        guest.key = Some(key);
        Verdict::Pass
    }

    /// From now on a nickname is banned, or no longer. Returns what to note.
    pub fn ban(&mut self, nickname: &Nickname, is_banned: bool) -> (String, Vec<u8>) {
        mark(&mut self.banned, BAN, nickname, is_banned)
    }

    /// From now on nobody hears what this nickname says, or one does again. Returns what to note.
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

fn refuse(reason: Reason, sentence: String) -> Verdict {
    Verdict::Refuse(Refused { version: VERSION, reason, sentence })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: LinkId = LinkId(1);

    fn hello(nickname: &str, token: &str) -> Vec<u8> {
        let (nickname, token) = (nickname.to_owned(), token.as_bytes().to_vec());
        ToServer::Hello(Hello { version: VERSION, nickname, token, ..Hello::default() }).encode()
    }

    fn reason(verdict: Verdict) -> Option<Reason> {
        match verdict {
            Verdict::Refuse(refused) => Some(refused.reason),
            _ => None,
        }
    }

    #[test]
    fn the_banned_and_the_uninvited_stay_outside() {
        let secret = Secret::new();
        let mut gate = Gate::new(secret.clone(), true, true, &[("ban/eve".to_owned(), vec![1])]);
        gate.opened(LINK, ([127, 0, 0, 1], 5).into());
        let token = token::make(&secret, None, 100);
        assert_eq!(gate.look(LINK, &hello("Ann", &token), 50), Verdict::Pass);
        assert_eq!(reason(gate.look(LINK, &hello("Ann", ""), 50)), Some(Reason::Token));
        assert_eq!(reason(gate.look(LINK, &hello("Ann", &token), 100)), Some(Reason::Token));
        assert_eq!(reason(gate.look(LINK, &hello("EVE", &token), 50)), Some(Reason::Banned));
        let eve = Nickname::new("Eve").unwrap();
        assert_eq!(gate.ban(&eve, false), ("ban/eve".to_owned(), Vec::new()));
        assert_eq!(gate.look(LINK, &hello("EVE", &token), 50), Verdict::Pass);

        gate.opened(LINK, ([192, 168, 0, 7], 5).into());
        assert_eq!(reason(gate.look(LINK, &hello("Ann", &token), 50)), Some(Reason::Token), "it was overheard");
    }

    #[test]
    fn the_muted_may_move_but_not_speak() {
        let mut gate = Gate::new(Secret::new(), false, true, &[]);
        gate.opened(LINK, ([127, 0, 0, 1], 5).into());
        assert_eq!(gate.look(LINK, &hello("Ann", ""), 0), Verdict::Pass);
        let say = ToServer::Say { text: "hello".to_owned() }.encode();
        assert_eq!(gate.look(LINK, &say, 0), Verdict::Pass);
        gate.mute(&Nickname::new("ann").unwrap(), true);
        assert_eq!(gate.look(LINK, &say, 0), Verdict::Drop);
        assert_eq!(gate.look(LINK, &ToServer::Release.encode(), 0), Verdict::Pass);
        assert_eq!(gate.look(LinkId(2), &say, 0), Verdict::Drop, "nobody opened it");
    }
}
