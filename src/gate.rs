//! Who is let through to the server at all. The server knows sessions; it does not know secrets, bans or addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use server::nickname::Nickname;
use wire::{CloseReason, Hello, LinkId, Refused, ToServer, VERSION, kind};

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
    /// Where links that are open come from. As whom they speak, the server knows: a hello may ask for a session that
    /// has another name.
    links: BTreeMap<LinkId, SocketAddr>,
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
        self.links.insert(link, address);
    }

    /// Somebody is gone.
    pub fn closed(&mut self, link: LinkId) {
        self.links.remove(&link);
    }

    /// Looks at a message of a link, and asks as whom it speaks if that matters.
    pub fn look<'a>(
        &self,
        link: LinkId,
        bytes: &[u8],
        now_s: u64,
        speaker: impl FnOnce() -> Option<&'a Nickname>,
    ) -> Verdict {
        let Some(address) = self.links.get(&link) else { return Verdict::Drop };
        match bytes.first() {
            Some(&kind::HELLO) => {}
            Some(&kind::SAY) if speaker().is_some_and(|speaker| self.muted.contains(&speaker.key())) => {
                return Verdict::Drop;
            }
            _ => return Verdict::Pass,
        }
        // What is no hello of this version is the server's to answer.
        let Ok(ToServer::Hello(Hello { nickname, token, .. })) = ToServer::decode(bytes) else { return Verdict::Pass };
        // Bans and tokens go by it, also for those who come back.
        let key = match Nickname::new(&nickname) {
            Ok(nickname) => nickname.key(),
            Err(error) => return refuse(CloseReason::Nickname, error.to_string()),
        };
        if self.banned.contains(&key) {
            return refuse(CloseReason::Banned, "You are banned from this world.".to_owned());
        }
        if self.asks_for_tokens {
            if self.is_overheard && !address.ip().to_canonical().is_loopback() {
                let sentence = "This server takes join tokens only over an encrypted page: it needs a certificate.";
                return refuse(CloseReason::Token, sentence.to_owned());
            }
            if let Err(error) = token::check(&self.secret, &token, &nickname, now_s) {
                return refuse(CloseReason::Token, error.to_string());
            }
        }
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

fn refuse(reason: CloseReason, sentence: String) -> Verdict {
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

    fn reason(verdict: Verdict) -> Option<CloseReason> {
        match verdict {
            Verdict::Refuse(refused) => Some(refused.reason),
            _ => None,
        }
    }

    fn look(gate: &Gate, bytes: &[u8], now_s: u64) -> Verdict {
        gate.look(LINK, bytes, now_s, || None)
    }

    #[test]
    fn the_banned_and_the_uninvited_stay_outside() {
        let secret = Secret::new();
        let mut gate = Gate::new(secret.clone(), true, true, &[("ban/eve".to_owned(), vec![1])]);
        gate.opened(LINK, ([127, 0, 0, 1], 5).into());
        let token = token::make(&secret, None, 100);
        assert_eq!(look(&gate, &hello("Ann", &token), 50), Verdict::Pass);
        assert_eq!(reason(look(&gate, &hello("Ann", ""), 50)), Some(CloseReason::Token));
        assert_eq!(reason(look(&gate, &hello("Ann", &token), 100)), Some(CloseReason::Token));
        assert_eq!(reason(look(&gate, &hello("EVE", &token), 50)), Some(CloseReason::Banned));
        let eve = Nickname::new("Eve").unwrap();
        assert_eq!(gate.ban(&eve, false), ("ban/eve".to_owned(), Vec::new()));
        assert_eq!(look(&gate, &hello("EVE", &token), 50), Verdict::Pass);

        gate.opened(LINK, ([192, 168, 0, 7], 5).into());
        assert_eq!(reason(look(&gate, &hello("Ann", &token), 50)), Some(CloseReason::Token), "it was overheard");
    }

    /// Keeps out: whoever came back with a key and no nickname was asked for no token.
    #[test]
    fn nobody_passes_without_a_name() {
        let mut gate = Gate::new(Secret::new(), true, false, &[]);
        gate.opened(LINK, ([127, 0, 0, 1], 5).into());
        for nickname in ["", "\u{7}"] {
            let (nickname, resume) = (nickname.to_owned(), Some([7; 16]));
            let hello = ToServer::Hello(Hello { version: VERSION, nickname, resume, ..Hello::default() }).encode();
            assert_eq!(reason(look(&gate, &hello, 0)), Some(CloseReason::Nickname));
        }
    }

    #[test]
    fn the_muted_may_move_but_not_speak() {
        let mut gate = Gate::new(Secret::new(), false, true, &[]);
        gate.opened(LINK, ([127, 0, 0, 1], 5).into());
        let [ann, bob] = ["Ann", "Bob"].map(|name| Nickname::new(name).unwrap());
        let say = ToServer::Say { text: "hello".to_owned() }.encode();
        assert_eq!(gate.look(LINK, &say, 0, || Some(&ann)), Verdict::Pass);
        gate.mute(&Nickname::new("ann").unwrap(), true);
        assert_eq!(gate.look(LINK, &say, 0, || Some(&ann)), Verdict::Drop);
        assert_eq!(gate.look(LINK, &say, 0, || Some(&bob)), Verdict::Pass);
        assert_eq!(gate.look(LINK, &ToServer::Release.encode(), 0, || Some(&ann)), Verdict::Pass);
        assert_eq!(gate.look(LinkId(2), &say, 0, || None), Verdict::Drop, "nobody opened it");
    }
}
