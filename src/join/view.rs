//! What a peer's user reads: lines about what happens, and a picture of who is there.

use std::fmt;

use space::{DVec3, Time};

/// Something happened. As a line it is the same at every peer that it happened to.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A peer came.
    Joined(String),
    /// A peer left, or fell silent.
    Left(String),
    /// A user says something.
    Said(String, String),
    /// An own object met another's.
    Met([String; 2], Time),
    /// This peer decided about a contact of these two.
    Decided([String; 2]),
    /// A verdict counts.
    Kept {
        /// About which two.
        pair: [String; 2],
        /// The term.
        term: u32,
        /// Who decided.
        decider: String,
        /// When, by the clock of the pair.
        contact: Time,
        /// Whether they bounced off each other.
        has_bounced: bool,
    },
    /// Nobody decided in time.
    Dropped([String; 2], Time),
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |contact: &Time| format!("{:.3} s", contact.micros() as f64 * 1e-6);
        match self {
            Line::Joined(peer) => write!(formatter, "{peer} is here"),
            Line::Left(peer) => write!(formatter, "{peer} has left"),
            // On a terminal a line is a line, whatever somebody says.
            Line::Said(peer, text) => {
                let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
                write!(formatter, "{peer}: {text}")
            }
            Line::Met([one, other], contact) => write!(formatter, "{one} meets {other} at {}", at(contact)),
            Line::Decided([one, other]) => write!(formatter, "{one} and {other}: decided here"),
            Line::Kept { pair: [one, other], term, decider, contact, has_bounced } => {
                let what = if *has_bounced { "bounced off each other" } else { "did not touch" };
                write!(
                    formatter,
                    "verdict: {one} and {other} {what} at {} (term {term}, decided by {decider})",
                    at(contact)
                )
            }
            Line::Dropped([one, other], contact) => {
                write!(formatter, "{one} and {other}: no verdict about {}, each goes on", at(contact))
            }
        }
    }
}

/// Another peer.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// What it is called.
    pub name: String,
    /// Half the quickest round trip, if one is known.
    pub latency_ms: Option<f64>,
    /// How many objects of it are seen.
    pub objects: usize,
}

/// How things are.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What this peer is called.
    pub name: String,
    /// Where its page is.
    pub page: String,
    /// Whether somebody looks at it.
    pub has_page: bool,
    /// Who is there.
    pub peers: Vec<Seen>,
    /// The own objects.
    pub own: Vec<(String, DVec3)>,
    /// The others', as they are seen here.
    pub others: Vec<(String, DVec3)>,
    /// Pairs that may soon meet.
    pub watched: usize,
    /// Contacts of own objects with others'.
    pub contacts: u64,
    /// Of them, those that this peer decided.
    pub decided: u64,
    /// Those about which it asked another.
    pub claims: u64,
    /// Verdicts that it followed.
    pub followed: u64,
    /// Contacts about which nobody decided in time.
    pub dropped: u64,
    /// Bounces of others off each other that were predicted here.
    pub predicted: u64,
    /// Messages sent.
    pub sent: u64,
    /// What was not believed.
    pub refused: u64,
}

impl Picture {
    /// In one line, for a log.
    pub fn line(&self) -> String {
        let place = |(name, place): &(String, DVec3)| format!("{name} ({:.2}, {:.2})", place.x, place.z);
        let all: Vec<String> = self.own.iter().chain(&self.others).map(place).collect();
        let peers = if self.peers.len() == 1 { "peer" } else { "peers" };
        format!("{} {peers}; {}", self.peers.len(), all.join(", "))
    }

    /// In several, for a terminal.
    pub fn lines(&self) -> Vec<String> {
        let page = if self.has_page { "somebody looks" } else { "nobody looks" };
        let mut lines = vec![format!("{}  page {} ({page})", self.name, self.page), String::new()];
        lines.push(format!("{:<34} {:>10} {:>9}", "peer", "latency", "objects"));
        for Seen { name, latency_ms, objects } in &self.peers {
            let latency = latency_ms.map_or("unknown".to_owned(), |latency| format!("{latency:.1} ms"));
            lines.push(format!("{name:<34} {latency:>10} {objects:>9}"));
        }
        if self.peers.is_empty() {
            lines.push("nobody else is here yet".to_owned());
        }
        let Picture { watched, contacts, decided, claims, followed, dropped, predicted, sent, refused, .. } = self;
        lines.push(String::new());
        lines.push(format!("contacts   {watched} expected, {predicted} of others predicted, {contacts} contested"));
        lines.push(format!(
            "verdicts   {decided} made here, {claims} asked for, {followed} followed, {dropped} never came"
        ));
        lines.push(format!("messages   {sent} sent, {refused} refused"));
        lines
    }
}
