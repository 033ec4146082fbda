//! What a peer's user reads on the terminal: a line per event, and a table of the peers.

use std::fmt;

use space::{DVec3, Time};

/// An event. Its line is the same at every peer that has it.
#[derive(Clone, Debug, PartialEq)]
pub enum EventLine {
    Joined(String),
    Left(String),
    Said(String, String),
    /// An own object touched one of another peer.
    Met([String; 2], Time),
    /// This peer issued a verdict about a contact of two objects.
    Decided([String; 2]),
    /// A verdict counts.
    Kept {
        pair: [String; 2],
        term: u32,
        decider: String,
        /// By the pair's clock.
        contact: Time,
        has_bounced: bool,
    },
    /// No verdict arrived in time.
    Dropped([String; 2], Time),
}

impl fmt::Display for EventLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |contact: &Time| format!("{:.3} s", contact.micros() as f64 * 1e-6);
        match self {
            EventLine::Joined(peer) => write!(formatter, "{peer} is here"),
            EventLine::Left(peer) => write!(formatter, "{peer} has left"),
            // A text must not contain line breaks or other control characters.
            EventLine::Said(peer, text) => {
                let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
                write!(formatter, "{peer}: {text}")
            }
            EventLine::Met([one, other], contact) => write!(formatter, "{one} meets {other} at {}", at(contact)),
            EventLine::Decided([one, other]) => write!(formatter, "{one} and {other}: decided here"),
            EventLine::Kept { pair: [one, other], term, decider, contact, has_bounced } => {
                let what = if *has_bounced { "bounced off each other" } else { "did not touch" };
                write!(
                    formatter,
                    "verdict: {one} and {other} {what} at {} (term {term}, decided by {decider})",
                    at(contact)
                )
            }
            EventLine::Dropped([one, other], contact) => {
                write!(formatter, "{one} and {other}: no verdict about {}, each goes on", at(contact))
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PeerRow {
    pub name: String,
    /// Half the shortest round trip.
    pub latency_ms: Option<f64>,
    pub objects: usize,
}

/// The state of a peer, for its user.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerOverview {
    pub name: String,
    pub page: String,
    pub has_page: bool,
    pub peers: Vec<PeerRow>,
    pub own: Vec<(String, DVec3)>,
    /// Remote objects, as predicted here.
    pub others: Vec<(String, DVec3)>,
    /// Pairs that may touch.
    pub watched: usize,
    /// Contacts between own and remote objects.
    pub contacts: u64,
    /// Verdicts that this peer issued.
    pub decided: u64,
    pub claims: u64,
    /// Verdicts that it applied.
    pub followed: u64,
    /// Contacts without a verdict in time.
    pub dropped: u64,
    /// Predicted bounces between remote objects.
    pub predicted: u64,
    /// Datagrams and messages on streams.
    pub sent: u64,
    pub refused: u64,
}

impl PeerOverview {
    pub fn line(&self) -> String {
        let place = |(name, place): &(String, DVec3)| format!("{name} ({:.2}, {:.2})", place.x, place.z);
        let all: Vec<String> = self.own.iter().chain(&self.others).map(place).collect();
        let peers = if self.peers.len() == 1 { "peer" } else { "peers" };
        format!("{} {peers}; {}", self.peers.len(), all.join(", "))
    }

    /// Several lines, for a terminal.
    pub fn lines(&self) -> Vec<String> {
        let page = if self.has_page { "open" } else { "not open" };
        let mut lines = vec![format!("{}  page {} ({page})", self.name, self.page), String::new()];
        lines.push(format!("{:<34} {:>10} {:>9}", "peer", "latency", "objects"));
        for PeerRow { name, latency_ms, objects } in &self.peers {
            let latency = latency_ms.map_or("unknown".to_owned(), |latency| format!("{latency:.1} ms"));
            lines.push(format!("{name:<34} {latency:>10} {objects:>9}"));
        }
        if self.peers.is_empty() {
            lines.push("no other peer is here yet".to_owned());
        }
        let PeerOverview { watched, contacts, decided, claims, followed, dropped, predicted, sent, refused, .. } = self;
        lines.push(String::new());
        lines.push(format!("contacts   {watched} expected, {predicted} of others predicted, {contacts} contested"));
        lines.push(format!(
            "verdicts   {decided} made here, {claims} asked for, {followed} followed, {dropped} never came"
        ));
        lines.push(format!("messages   {sent} sent, {refused} refused"));
        lines
    }
}
