//! Another peer, by its link: who it is, its clock, and what is to be sent to it in this frame.

use motion::clock::{Clock, Exchange};
use space::token_bucket::TokenBucket;
use space::{NodeId, Time};
use wire::peer::{MotionUpdate, Owns, Report, Watch};
use wire::{DATAGRAM_MAX, ToPeer};

use super::SPEECH;
use wire::LinkId;

/// The time between pings until `QUICK_ANSWERS` were answered, and later, in microseconds.
const PING_US: [i64; 2] = [100_000, 4_000_000];
/// As many as a clock keeps.
const QUICK_ANSWERS: u32 = 8;

#[derive(Clone, Debug)]
pub struct RemotePeer {
    pub link: LinkId,
    /// Known after its hello.
    pub node: Option<NodeId>,
    pub name: String,
    /// When its hello arrived.
    pub greeted_at: Option<Time>,
    /// When the first message arrived that shows that it has this peer's hello.
    pub answered_at: Option<Time>,
    /// Whether it has removed an object: datagrams that announce objects may be older than that.
    pub has_dropped: bool,
    /// When its last message arrived.
    pub heard_at: Time,
    clock: Clock,
    is_timed: bool,
    /// Its clock minus this peer's, in this frame.
    offset_us: i64,
    answers: u32,
    pinged_at: Option<Time>,
    owns: Vec<Owns>,
    motions: Vec<MotionUpdate>,
    watches: Vec<Watch>,
    /// How often its user may speak.
    pub speech: TokenBucket,
}

impl RemotePeer {
    pub fn new(link: LinkId, now: Time) -> RemotePeer {
        RemotePeer {
            link,
            node: None,
            name: String::new(),
            greeted_at: None,
            answered_at: None,
            has_dropped: false,
            heard_at: now,
            clock: Clock::new(),
            is_timed: false,
            offset_us: 0,
            answers: 0,
            pinged_at: None,
            owns: Vec::new(),
            motions: Vec::new(),
            watches: Vec::new(),
            speech: TokenBucket::new(SPEECH),
        }
    }

    /// Takes in an answer to a ping.
    pub fn handle_pong(&mut self, asked_us: i64, received_us: i64, replied_us: i64, now: Time) {
        let at = Time::from_micros;
        // An answer to a question that was not asked could set the clock at will.
        let is_ours = self.pinged_at.is_some_and(|pinged| at(asked_us) <= pinged && at(asked_us) <= now);
        let exchange =
            Exchange { asked: at(asked_us), received: at(received_us), replied: at(replied_us), returned: now };
        if is_ours && self.clock.handle(exchange) {
            self.answers = self.answers.saturating_add(1);
        }
    }

    /// Begins a frame: estimates its clock. Returns whether a ping is due.
    pub fn frame(&mut self, now: Time) -> bool {
        // Not before the first answer: a wrong first estimate would be corrected by one part in twenty only.
        if self.answers > 0 {
            self.offset_us = self.clock.owner_time(now) - now;
            self.is_timed = true;
        }
        let pause = if self.answers < QUICK_ANSWERS { PING_US[0] } else { PING_US[1] };
        let is_due = self.pinged_at.is_none_or(|pinged| now - pinged >= pause);
        if is_due {
            self.pinged_at = Some(now);
        }
        is_due
    }

    /// When both peers had each other's hello.
    pub fn acquainted_at(&self) -> Option<Time> {
        self.greeted_at.zip(self.answered_at).map(|(greeted, answered)| greeted.max(answered))
    }

    /// Whether its clock is known.
    pub fn is_timed(&self) -> bool {
        self.is_timed
    }

    pub fn time_there(&self, here: Time) -> Time {
        here + self.offset_us
    }

    /// Half the shortest round trip, in microseconds; `None` before the first.
    pub fn latency_us(&self) -> Option<i64> {
        self.clock.error_bound_us()
    }

    /// Adds an announcement to the next report.
    pub fn announce(&mut self, owns: Owns) {
        self.owns.push(owns);
    }

    /// Adds a motion to the next report.
    pub fn tell(&mut self, motion: MotionUpdate) {
        self.motions.push(motion);
    }

    /// Adds a watch to the next report.
    pub fn watch(&mut self, watch: Watch) {
        self.watches.push(watch);
    }

    /// The frame's reports, each short enough for a datagram.
    pub fn reports(&mut self, now: Time) -> Vec<Vec<u8>> {
        let mut owns = std::mem::take(&mut self.owns);
        let (mut motions, mut watches) = (std::mem::take(&mut self.motions), std::mem::take(&mut self.watches));
        let mut reports = Vec::new();
        while !(owns.is_empty() && motions.is_empty() && watches.is_empty()) {
            // Announcements first: a motion of an unknown object is of no use.
            let new = Report::ITEMS_MAX.min(owns.len());
            let (mut some, mut few) = (Report::ITEMS_MAX.min(motions.len()), Report::ITEMS_MAX.min(watches.len()));
            loop {
                let report = Report {
                    time_us: now.micros(),
                    owns: owns[..new].to_vec(),
                    motions: motions[..some].to_vec(),
                    watches: watches[..few].to_vec(),
                };
                let bytes = ToPeer::Report(report).encode();
                // One item always fits, and so do all announcements: the largest watch has 900 bytes,
                // 64 announcements too.
                if bytes.len() <= DATAGRAM_MAX || some + few <= usize::from(new == 0) {
                    reports.push(bytes);
                    break;
                }
                if some > 0 { some /= 2 } else { few /= 2 }
            }
            owns.drain(..new);
            motions.drain(..some);
            watches.drain(..few);
        }
        reports
    }
}
