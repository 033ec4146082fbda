//! Copies of one's objects at other nodes, in case one dies: sent one message at a time, so that what was acknowledged is
//! known to be there.
//!
//! The next members by number keep the copies. When a plan changes that, the old ones are kept until the new ones are
//! complete: at every moment somebody has all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use space::{NodeId, ObjectId, Time};
use wire::ToNode;
use wire::cluster::{Entry, Replicate};

use super::handover::{AGAIN_US, Parcel};

/// Objects in one message, at most. What is left goes with the next one, as soon as this one is acknowledged.
const ENTRIES_MAX: usize = 512;
/// Changes are gathered for so long, in microseconds.
const GATHER_US: i64 = 100_000;

/// Copies that one sends, and copies that one keeps.
#[derive(Clone, Debug)]
pub struct Copies {
    me: NodeId,
    wanted: usize,
    version: u64,
    /// To whom copies are sent.
    mirrors: BTreeMap<NodeId, Mirror>,
    /// What has changed since that was last told, and when it was.
    changed: Vec<ObjectId>,
    told_at: Option<Time>,
    /// Of those, who is to have them by the present plan.
    holders: Vec<NodeId>,
    /// What is kept for others.
    pub(super) kept: BTreeMap<NodeId, Kept>,
}

/// What one other node has of this one's objects.
#[derive(Clone, Debug, Default)]
struct Mirror {
    /// Acknowledged, with the numbers of ownership.
    holds: BTreeMap<ObjectId, u32>,
    dirty: BTreeSet<ObjectId>,
    /// Which was the last that was sent: the next ones come first, whatever has changed again meanwhile.
    last: Option<ObjectId>,
    gone: BTreeSet<ObjectId>,
    /// What was sent and not acknowledged, and when.
    pending: Option<(Replicate, Time)>,
    number: u64,
    is_started: bool,
    /// Whether it is being told of changes: as many messages, one after the other, as that takes.
    is_open: bool,
    sent_at: Option<Time>,
}

/// What is kept for another node.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    number: u64,
    /// Copies, with the numbers of ownership.
    pub objects: BTreeMap<ObjectId, (u32, Parcel)>,
}

impl Copies {
    pub(super) fn new(me: NodeId, wanted: usize) -> Copies {
        Copies { me, wanted, version: 0, mirrors: BTreeMap::new(), changed: Vec::new(), told_at: None, holders: Vec::new(), kept: BTreeMap::new() }
    }

    /// An object is new or has changed.
    pub(super) fn touch(&mut self, object: ObjectId) {
        if !self.mirrors.is_empty() {
            self.changed.push(object);
        }
    }

    /// Everybody is to hear what has changed.
    fn spread(&mut self) {
        self.changed.sort_unstable();
        self.changed.dedup();
        for mirror in self.mirrors.values_mut() {
            if !mirror.gone.is_empty() {
                mirror.gone.retain(|object| self.changed.binary_search(object).is_err());
            }
            mirror.is_open = true;
            if mirror.dirty.is_empty() {
                mirror.dirty = self.changed.iter().copied().collect();
            } else {
                mirror.dirty.extend(self.changed.iter().copied());
            }
        }
        self.changed.clear();
    }

    /// An object is not this node's any more.
    pub(super) fn forget(&mut self, object: ObjectId) {
        self.changed.retain(|&changed| changed != object);
        for mirror in self.mirrors.values_mut() {
            mirror.dirty.remove(&object);
            mirror.gone.insert(object);
        }
    }

    /// Whether all who are to have a copy of an object, under this ownership or a later one, have it.
    pub(super) fn is_safe(&self, object: ObjectId, seq: u32) -> bool {
        let has = |node| self.mirrors.get(node).is_some_and(|mirror| mirror.holds.get(&object) >= Some(&seq));
        self.holders.iter().all(has)
    }

    /// How long the oldest change has waited that is not known to be safe, in microseconds.
    pub fn lag_us(&self, now: Time) -> i64 {
        let waits = |node: &NodeId| {
            let mirror = self.mirrors.get(node)?;
            let pending = mirror.pending.as_ref().map(|(_, since)| now - *since);
            pending.or((!mirror.dirty.is_empty() || !self.changed.is_empty()).then_some(GATHER_US))
        };
        self.holders.iter().filter_map(waits).max().unwrap_or(0)
    }

    /// Whether all who are to have copies have had a copy of everything.
    pub fn is_complete(&self) -> bool {
        self.holders.iter().all(|node| self.mirrors.get(node).is_some_and(|mirror| mirror.is_started))
            && self.mirrors.len() == self.holders.len()
    }

    pub(super) fn activate(&mut self, version: u64, members: &[NodeId], objects: impl Iterator<Item = ObjectId>) {
        self.spread();
        self.version = version;
        self.mirrors.retain(|node, _| members.contains(node));
        let after =
            members.iter().filter(|&&node| node > self.me).chain(members.iter().filter(|&&node| node < self.me));
        self.holders = after.take(self.wanted).copied().collect();
        let objects: BTreeSet<ObjectId> = objects.collect();
        for &holder in &self.holders {
            self.mirrors.entry(holder).or_insert_with(|| Mirror { dirty: objects.clone(), ..Mirror::default() });
        }
    }

    pub(super) fn lose_patience(&mut self) {
        self.mirrors.values_mut().for_each(|mirror| mirror.sent_at = None);
    }

    /// Keeps copies for another node, and says up to which number.
    pub(super) fn keep(&mut self, from: NodeId, replicate: &Replicate, members: &[NodeId]) -> Option<(NodeId, ToNode)> {
        if !members.contains(&from) {
            return None;
        }
        let kept = self.kept.entry(from).or_default();
        let is_next = replicate.number == kept.number + 1;
        if replicate.number > kept.number && (is_next || replicate.is_first) {
            if replicate.is_first {
                kept.objects.clear();
            }
            kept.number = replicate.number;
            for Entry { object, seq, parcel, session } in &replicate.entries {
                let parcel = Parcel { object: parcel.clone(), session: session.clone() };
                kept.objects.extend(ObjectId::new(*object).map(|object| (object, (*seq, parcel))));
            }
            for object in replicate.gone.iter().filter_map(|&object| ObjectId::new(object)) {
                kept.objects.remove(&object);
            }
        }
        Some((from, ToNode::Replicated { number: kept.number }))
    }

    /// Another node keeps what it was sent up to this number.
    pub(super) fn kept(&mut self, by: NodeId, number: u64) {
        let Some(mirror) = self.mirrors.get_mut(&by) else { return };
        let Some((pending, _)) = mirror.pending.take_if(|(pending, _)| pending.number == number) else { return };
        for entry in &pending.entries {
            mirror.holds.extend(ObjectId::new(entry.object).map(|object| (object, entry.seq)));
        }
        for object in pending.gone.iter().filter_map(|&object| ObjectId::new(object)) {
            mirror.holds.remove(&object);
        }
        mirror.is_started = true;
        // The new ones have everything: the old ones can let go.
        let is_complete = |node: &NodeId| {
            self.mirrors.get(node).is_some_and(|m| m.is_started && m.dirty.is_empty() && m.pending.is_none())
        };
        if self.holders.iter().all(is_complete) {
            self.mirrors.retain(|node, _| self.holders.contains(node));
        }
    }

    /// Sends what has changed. `now_is` says what an object is now.
    pub(super) fn wake(
        &mut self,
        now: Time,
        sends: &mut Vec<(NodeId, ToNode)>,
        now_is: impl Fn(ObjectId) -> Option<(u32, Parcel)>,
    ) {
        let version = self.version;
        if self.told_at.is_none_or(|told| now - told >= GATHER_US) {
            self.told_at = Some(now);
            self.spread();
        }
        for (&to, mirror) in &mut self.mirrors {
            if let Some((pending, _)) = &mirror.pending {
                if mirror.sent_at.is_none_or(|sent| now - sent >= AGAIN_US) {
                    mirror.sent_at = Some(now);
                    sends.push((to, ToNode::Replicate(pending.clone())));
                }
                continue;
            }
            mirror.is_open &= !(mirror.dirty.is_empty() && mirror.gone.is_empty());
            if !mirror.is_open && mirror.is_started {
                continue;
            }
            let is_first = !mirror.is_started;
            // Numbers rise, also from one stay to the next: what is late is known to be.
            mirror.number = if mirror.number == 0 { (version << 32) + 1 } else { mirror.number + 1 };
            let mut entries = Vec::new();
            while entries.len() < ENTRIES_MAX {
                let after = mirror.last.map(|last| (Bound::Excluded(last), Bound::Unbounded));
                let next = after.and_then(|after| mirror.dirty.range(after).next()).or(mirror.dirty.first());
                let Some(object) = next.copied() else { break };
                mirror.dirty.remove(&object);
                mirror.last = Some(object);
                entries.extend(now_is(object).map(|(seq, parcel)| Entry {
                    object: object.number(),
                    seq,
                    parcel: parcel.object,
                    session: parcel.session,
                }));
            }
            let gone = std::mem::take(&mut mirror.gone).iter().map(|object| object.number()).collect();
            let replicate = Replicate { number: mirror.number, is_first, entries, gone };
            mirror.sent_at = Some(now);
            mirror.pending = Some((replicate.clone(), now));
            sends.push((to, ToNode::Replicate(replicate)));
        }
    }
}
