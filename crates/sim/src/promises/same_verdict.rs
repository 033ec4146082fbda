//! After delivery all peers hold the same verdict about a contact.

use std::collections::BTreeMap;

use motion::decision::{ObjectPair, Verdict};
use space::Time;

use super::{HeldVerdict, Observed, Promise, Score, SeenPeers};

/// A host that was there, and connected with both owners, long enough before a contact, and still is at the end, holds
/// the same verdict about it as all others.
#[derive(Clone, Debug, Default)]
pub struct SameVerdict {
    /// By host, pair and contact.
    archives: BTreeMap<usize, BTreeMap<(ObjectPair, Time), HeldVerdict>>,
    /// Since when two hosts are, or were last, connected.
    linked_since: BTreeMap<(usize, usize), Time>,
}

/// A host that came, or a link that was made, this long ago has all that it needs.
pub const SETTLED_US: i64 = 3_000_000;
/// Verdicts of this age have arrived everywhere and are not forgotten yet.
const ARCHIVED_US: std::ops::RangeInclusive<i64> = 8_000_000..=12_000_000;

impl SameVerdict {
    pub const NAME: &str = "all peers hold the same verdicts";

    fn compare(&self, now: Time, peers: &SeenPeers<'_>, score: &mut Score) {
        let mut all: BTreeMap<(ObjectPair, Time), Vec<HeldVerdict>> = BTreeMap::new();
        for (&key, &held) in self.archives.values().flatten() {
            let known = all.entry(key).or_default();
            if known.iter().all(|known| known.verdict != held.verdict) {
                known.push(held);
            }
        }
        let was_there = |host: usize, moment: Time| peers.since[host].is_some_and(|since| moment - since >= SETTLED_US);
        for (key, verdicts) in &all {
            let HeldVerdict { verdict, moment, owners, .. } = verdicts[0];
            let is_old = now - moment > *ARCHIVED_US.end() + 1_000_000;
            if !is_old || !owners.iter().all(|&owner| was_there(owner, moment)) {
                continue;
            }
            let is_linked = |owner: usize, host: usize| {
                let since = self.linked_since.get(&(owner.min(host), owner.max(host)));
                owner == host || since.is_some_and(|&since| moment - since >= SETTLED_US)
            };
            for host in (0..peers.since.len()).filter(|&host| was_there(host, moment)) {
                if owners.iter().all(|&owner| is_linked(owner, host)) {
                    let held: Option<Verdict> =
                        self.archives.get(&host).and_then(|archive| archive.get(key)).map(|held| held.verdict);
                    score.check(verdicts.len() == 1 && held == Some(verdict), || {
                        format!("host {} about {key:?}: {held:?}, others {verdicts:?}", host + 1)
                    });
                }
            }
        }
    }
}

impl Promise for SameVerdict {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        let Some(peers) = &observed.peers else { return };
        self.linked_since.extend(&peers.linked_since);
        for held in &peers.verdicts {
            if ARCHIVED_US.contains(&(observed.now - held.moment)) {
                let key = (held.verdict.pair, held.verdict.contact);
                self.archives.entry(held.host).or_default().insert(key, *held);
            }
        }
        if observed.is_over {
            self.compare(observed.now, peers, score);
        }
    }
}
