//! Copies of a node's objects at other nodes, in case it dies: sent one message at a time, so that what was
//! acknowledged is certainly there.
//!
//! Moves are gathered, and each is written once for all nodes that keep copies; an object that has changed hands is
//! sent at once. The queue is bounded: every object once, for each of those nodes.
//!
//! The next members by number keep the copies. When a plan changes that, the old ones are kept until the new ones are
//! complete, so at every moment one node has all of them. Then the old nodes are told to drop theirs, until they say
//! that they have: no node may adopt from what was true long ago.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use space::{NodeId, ObjectId, Time};
use wire::ToNode;
use wire::cluster::{Entries, ReplicaEntry, Replicate};

use super::handover::{AGAIN_US, Parcel};

/// The most objects in one message. The rest goes with the next one, as soon as this one is acknowledged.
const ENTRIES_MAX: usize = 512;
/// The most ended objects in one message.
const GONE_MAX: usize = 4_096;
/// How long changes are gathered. A death costs at most this much, and a node spends time on everything that moves this
/// often.
pub const GATHER_US: i64 = 250_000;

/// Copies that a node sends, and copies that it keeps.
#[derive(Clone, Debug)]
pub struct Copies {
    me: NodeId,
    wanted: usize,
    version: u64,
    /// The nodes to which copies are sent.
    mirrors: BTreeMap<NodeId, Mirror>,
    /// What has begun or changed hands since changes were last spread, when that was, and whether anything else has
    /// changed.
    changed: BTreeSet<ObjectId>,
    told_at: Option<Time>,
    is_behind: bool,
    /// Of those, the nodes that have copies by the present plan.
    holders: Vec<NodeId>,
    /// Nodes that have to drop their copies: the number of the message that says so, and when it was last sent.
    released: BTreeMap<NodeId, (u64, Option<Time>)>,
    /// What is kept for other nodes.
    pub(super) kept: BTreeMap<NodeId, Kept>,
}

/// What one other node has of this one's objects.
#[derive(Clone, Debug, Default)]
struct Mirror {
    /// Acknowledged objects, with the numbers of ownership.
    holds: BTreeMap<ObjectId, u32>,
    /// Objects that it does not have under their present number of ownership, as far as that was sent: of all others
    /// only places change.
    fresh: BTreeSet<ObjectId>,
    /// What it is to be told of, in turn, each once.
    queue: VecDeque<ObjectId>,
    gone: BTreeSet<ObjectId>,
    pending: Option<Pending>,
    number: u64,
    is_started: bool,
}

/// What was sent and not acknowledged. If it has to be sent again, objects are sent as they are then.
#[derive(Clone, Debug)]
struct Pending {
    is_first: bool,
    objects: Vec<ObjectId>,
    /// Objects that the receiver did not have before, with the numbers of ownership under which they were sent.
    fresh: Vec<(ObjectId, u32)>,
    gone: Vec<u64>,
    since: Time,
    /// When it was last sent.
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
        Copies {
            me,
            wanted,
            version: 0,
            mirrors: BTreeMap::new(),
            changed: BTreeSet::new(),
            told_at: None,
            is_behind: false,
            holders: Vec::new(),
            released: BTreeMap::new(),
            kept: BTreeMap::new(),
        }
    }

    /// An object is new or has changed hands.
    pub(super) fn touch(&mut self, object: ObjectId) {
        if self.mirrors.is_empty() {
            return;
        }
        self.changed.insert(object);
        for mirror in self.mirrors.values_mut() {
            mirror.fresh.insert(object);
        }
    }

    /// An object has moved: [`Copies::spread`] is told later which.
    pub(super) fn fall_behind(&mut self) {
        self.is_behind = true;
    }

    /// An object is not this node's any more.
    pub(super) fn forget(&mut self, object: ObjectId) {
        self.changed.remove(&object);
        for mirror in self.mirrors.values_mut() {
            mirror.queue.retain(|&queued| queued != object);
            mirror.fresh.remove(&object);
            mirror.gone.insert(object);
        }
    }

    /// Whether it is time to spread what has changed.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.told_at.is_none_or(|told| now - told >= GATHER_US)
    }

    /// Queues what has changed for all nodes, and of these objects the ones that have moved.
    pub(super) fn spread(&mut self, now: Time, moved: impl Iterator<Item = ObjectId>) {
        self.told_at = Some(now);
        self.is_behind = false;
        let mut all: Vec<ObjectId> = moved.collect();
        if !self.changed.is_empty() {
            all.extend(std::mem::take(&mut self.changed));
            all.sort_unstable();
            all.dedup();
        }
        self.queue(&all);
    }

    /// What is new or has changed hands is not gathered: the last owner stands still until copies of it are safe.
    pub(super) fn hurry(&mut self) {
        if !self.changed.is_empty() {
            let changed: Vec<ObjectId> = std::mem::take(&mut self.changed).into_iter().collect();
            self.queue(&changed);
        }
    }

    /// Adds to what every node is to be told, each object once.
    fn queue(&mut self, changed: &[ObjectId]) {
        for mirror in self.mirrors.values_mut() {
            mirror.gone.retain(|object| changed.binary_search(object).is_err());
            if mirror.queue.is_empty() {
                mirror.queue.extend(changed);
                continue;
            }
            let known: BTreeSet<ObjectId> = mirror.queue.iter().copied().collect();
            mirror.queue.extend(changed.iter().filter(|object| !known.contains(object)));
        }
    }

    /// Whether all nodes that are to have a copy of an object, under this ownership or a later one, have it.
    pub(super) fn is_safe(&self, object: ObjectId, seq: u32) -> bool {
        let has = |node| self.mirrors.get(node).is_some_and(|mirror| mirror.holds.get(&object) >= Some(&seq));
        self.holders.iter().all(has)
    }

    /// How long the oldest change has waited that is not known to be safe, in microseconds.
    pub fn lag_us(&self, now: Time) -> i64 {
        let waits = |node: &NodeId| {
            let mirror = self.mirrors.get(node)?;
            let pending = mirror.pending.as_ref().map(|pending| now - pending.since);
            pending.or((!mirror.queue.is_empty() || self.is_behind || !self.changed.is_empty()).then_some(GATHER_US))
        };
        self.holders.iter().filter_map(waits).max().unwrap_or(0)
    }

    /// Whether all nodes that are to have copies have a copy of everything.
    pub fn is_complete(&self) -> bool {
        self.holders.iter().all(|node| self.mirrors.get(node).is_some_and(|mirror| mirror.is_started))
            && self.mirrors.len() == self.holders.len()
    }

    pub(super) fn activate(&mut self, version: u64, members: &[NodeId], objects: impl Iterator<Item = ObjectId>) {
        let changed: Vec<ObjectId> = std::mem::take(&mut self.changed).into_iter().collect();
        self.queue(&changed);
        self.version = version;
        self.mirrors.retain(|node, _| members.contains(node));
        let after =
            members.iter().filter(|&&node| node > self.me).chain(members.iter().filter(|&&node| node < self.me));
        self.holders = after.take(self.wanted).copied().collect();
        self.released.retain(|node, _| members.contains(node) && !self.holders.contains(node));
        let objects: BTreeSet<ObjectId> = objects.collect();
        for &holder in &self.holders {
            let mirror =
                || Mirror { queue: objects.iter().copied().collect(), fresh: objects.clone(), ..Mirror::default() };
            self.mirrors.entry(holder).or_insert_with(mirror);
        }
    }

    pub(super) fn lose_patience(&mut self) {
        self.told_at = None;
        for pending in self.mirrors.values_mut().filter_map(|mirror| mirror.pending.as_mut()) {
            pending.sent_at = None;
        }
        self.released.values_mut().for_each(|released| released.1 = None);
    }

    /// Keeps copies for another node, and returns the number up to which it has them.
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
            kept.store(&replicate.entries);
            for object in replicate.gone.iter().filter_map(|&object| ObjectId::new(object)) {
                kept.objects.remove(&object);
            }
        }
        Some((from, ToNode::Replicated { number: kept.number }))
    }

    /// Another node has what it was sent up to this number.
    pub(super) fn kept(&mut self, by: NodeId, number: u64) {
        self.released.retain(|node, released| *node != by || released.0 > number);
        let Some(mirror) = self.mirrors.get_mut(&by).filter(|mirror| mirror.number == number) else { return };
        let Some(pending) = mirror.pending.take() else { return };
        mirror.holds.extend(pending.fresh);
        for object in pending.gone.iter().filter_map(|&object| ObjectId::new(object)) {
            mirror.holds.remove(&object);
        }
        mirror.is_started = true;
        let is_complete = |node: &NodeId| {
            self.mirrors.get(node).is_some_and(|m| m.is_started && m.queue.is_empty() && m.pending.is_none())
        };
        if self.holders.iter().all(is_complete) {
            for (&node, mirror) in self.mirrors.iter().filter(|(node, _)| !self.holders.contains(node)) {
                self.released.insert(node, (mirror.number.max(first_number(self.version)) + 1, None));
            }
            self.mirrors.retain(|node, _| self.holders.contains(node));
        }
    }

    /// Sends what waits. `now_is` writes what an object is now, and returns its number of ownership.
    pub(super) fn wake(
        &mut self,
        now: Time,
        sends: &mut VecDeque<(NodeId, ToNode)>,
        mut now_is: impl FnMut(ObjectId, &mut Parcel) -> Option<u32>,
    ) {
        for (&to, (number, sent_at)) in &mut self.released {
            if sent_at.is_none_or(|sent| now - sent >= AGAIN_US) {
                *sent_at = Some(now);
                let void = Replicate { number: *number, is_first: true, ..Replicate::default() };
                sends.push_back((to, ToNode::Replicate(void)));
            }
        }
        let is_time = self.told_at == Some(now);
        let mut draft = Draft::default();
        for (&to, mirror) in &mut self.mirrors {
            let has_news = !mirror.queue.is_empty() || is_time && !mirror.gone.is_empty() || !mirror.is_started;
            if mirror.pending.is_none() && has_news {
                mirror.number = if mirror.number == 0 { first_number(self.version) } else { mirror.number + 1 };
                let count = mirror.queue.len().min(ENTRIES_MAX);
                let objects: Vec<ObjectId> = mirror.queue.drain(..count).collect();
                draft.write(&objects, &mut now_is);
                let mut fresh = Vec::new();
                if !mirror.fresh.is_empty() {
                    fresh.extend(draft.named.iter().copied().filter(|(object, _)| mirror.fresh.remove(object)));
                }
                let gone = std::iter::from_fn(|| mirror.gone.pop_first()).take(GONE_MAX);
                let gone: Vec<u64> = gone.map(ObjectId::number).collect();
                let is_first = !mirror.is_started;
                let entries = draft.entries.clone();
                let replicate = Replicate { number: mirror.number, is_first, entries, gone: gone.clone() };
                mirror.pending = Some(Pending { is_first, objects, fresh, gone, since: now, sent_at: Some(now) });
                sends.push_back((to, ToNode::Replicate(replicate)));
            } else if let Some(pending) = &mut mirror.pending
                && pending.sent_at.is_none_or(|sent| now - sent >= AGAIN_US)
            {
                pending.sent_at = Some(now);
                draft.write(&pending.objects, &mut now_is);
                let (number, is_first, entries) = (mirror.number, pending.is_first, draft.entries.clone());
                let replicate = Replicate { number, is_first, entries, gone: pending.gone.clone() };
                sends.push_back((to, ToNode::Replicate(replicate)));
            }
        }
    }
}

/// The number of the first message to a node that gets copies by a plan. Numbers rise, also from one stay to the next,
/// so late messages are recognised.
fn first_number(version: u64) -> u64 {
    (version << 32) + 1
}

/// What is about to be sent. Mostly all nodes are told the same: then it is written once.
#[derive(Default)]
struct Draft {
    objects: Vec<ObjectId>,
    named: Vec<(ObjectId, u32)>,
    entries: Entries,
    parcel: Parcel,
}

impl Draft {
    fn write(&mut self, objects: &[ObjectId], now_is: &mut impl FnMut(ObjectId, &mut Parcel) -> Option<u32>) {
        if self.objects == objects {
            return;
        }
        self.objects = objects.to_vec();
        self.named.clear();
        self.entries = Entries::default();
        for &object in objects {
            if let Some(seq) = now_is(object, &mut self.parcel) {
                self.named.push((object, seq));
                let Parcel { object: parcel, session } = &self.parcel;
                self.entries.push(ReplicaEntry { object: object.number(), seq, parcel, session });
            }
        }
    }
}

impl Kept {
    /// Takes copies in. Numbers rise in both lists, and mostly all objects are told at once: a merge is cheaper than a
    /// search for each. Objects that the merge does not meet are new.
    fn store(&mut self, entries: &Entries) {
        let write = |kept: &mut (u32, Parcel), entry: &ReplicaEntry<'_>| {
            // A known copy has its allocation already.
            kept.0 = entry.seq;
            kept.1.object.clear();
            kept.1.object.extend_from_slice(entry.parcel);
            kept.1.session.clear();
            kept.1.session.extend_from_slice(entry.session);
        };
        let mut unknown = Vec::new();
        let mut way = self.objects.iter_mut();
        let mut next = way.next();
        for entry in entries.iter() {
            let Some(object) = ObjectId::new(entry.object) else { continue };
            while next.as_ref().is_some_and(|(known, _)| **known < object) {
                next = way.next();
            }
            match &mut next {
                Some((known, kept)) if **known == object => write(kept, &entry),
                _ => unknown.push((object, entry)),
            }
        }
        for (object, entry) in unknown {
            write(self.objects.entry(object).or_default(), &entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps out this bug: the last owner of an object stood for a quarter of a second, while the new owner had walked
    /// on.
    #[test]
    fn an_object_that_changed_hands_is_copied_at_once() {
        let (now, members) = (Time::from_micros(7), [1, 2].map(NodeId::new));
        let mut copies = Copies::new(members[0], 1);
        let mut sends = VecDeque::new();
        let mut wake = |copies: &mut Copies| {
            copies.wake(now, &mut sends, |_, _| Some(2));
            Vec::from(std::mem::take(&mut sends))
        };
        copies.activate(1, &members, std::iter::empty());
        copies.spread(now, std::iter::empty());
        let [(_, ToNode::Replicate(first))] = &wake(&mut copies)[..] else { panic!("it begins with all there is") };
        copies.kept(members[1], first.number);
        let object = ObjectId::new(9).expect("not zero");
        copies.touch(object);
        assert!(!copies.is_due(now));
        copies.hurry();
        let [(_, ToNode::Replicate(second))] = &wake(&mut copies)[..] else { panic!("it waits") };
        copies.kept(members[1], second.number);
        assert!(copies.is_safe(object, 2));
    }

    /// Keeps out this bug: a node that had given away more objects than fit into a message, while its copies were not
    /// acknowledged, said so in one that no node could decode, for ever.
    #[test]
    fn any_number_of_ended_objects_is_told() {
        let members = [1, 2].map(NodeId::new);
        let mut copies = Copies::new(members[0], 1);
        copies.activate(1, &members, std::iter::empty());
        let all: Vec<ObjectId> = (1..=40_000).filter_map(ObjectId::new).collect();
        all.iter().for_each(|&object| copies.forget(object));
        let mut gone = 0;
        for turn in 0..20 {
            let now = Time::from_micros(turn * GATHER_US);
            copies.spread(now, std::iter::empty());
            let mut sends = VecDeque::new();
            copies.wake(now, &mut sends, |_, _| None);
            for (_, message) in sends {
                let Ok(ToNode::Replicate(heard)) = ToNode::decode(&message.encode()) else {
                    panic!("it cannot be decoded")
                };
                gone += heard.gone.len();
                copies.kept(members[1], heard.number);
            }
        }
        assert_eq!(gone, all.len());
    }

    /// Keeps out this bug: a node that kept copies by an old plan was told once to drop them. When that was lost with
    /// its connection, it still had them when their owner died, and adopted what had been true minutes ago.
    #[test]
    fn a_node_is_told_to_drop_its_copies_until_it_has() {
        let [me, old, new] = [1, 3, 2].map(NodeId::new);
        let object = ObjectId::new(9).expect("not zero");
        let (mut copies, mut holder) = (Copies::new(me, 1), Copies::new(old, 0));
        let said = |copies: &mut Copies, at: i64| {
            let mut sends = VecDeque::new();
            copies.wake(Time::from_micros(at), &mut sends, |_, copy| {
                copy.object = vec![1];
                Some(1)
            });
            Vec::from(sends)
        };
        let number = |message: &ToNode| match message {
            ToNode::Replicate(replicate) => replicate.number,
            other => panic!("{other:?}"),
        };
        copies.activate(1, &[me, old], std::iter::once(object));
        let [(to, ToNode::Replicate(first))] = &said(&mut copies, 0)[..] else { panic!("it begins with all there is") };
        assert!(*to == old && holder.keep(me, first, &[me, old]).is_some());
        copies.kept(old, first.number);
        assert!(holder.kept[&me].objects.contains_key(&object));
        copies.activate(2, &[me, new, old], std::iter::once(object));
        let [(to, all)] = &said(&mut copies, 1)[..] else { panic!("the new one is to have it") };
        assert_eq!(*to, new);
        copies.kept(new, number(all));
        let lost = said(&mut copies, 2);
        assert!(lost.len() == 1 && lost[0].0 == old);
        assert!(said(&mut copies, 3).is_empty(), "not in every tick");
        let [(_, ToNode::Replicate(again))] = &said(&mut copies, 2 + AGAIN_US)[..] else {
            panic!("it was not answered")
        };
        assert!(holder.keep(me, again, &[me, new, old]).is_some());
        assert!(holder.kept[&me].objects.is_empty());
        copies.kept(old, again.number);
        assert!(said(&mut copies, 2 + 2 * AGAIN_US).is_empty());
    }
}
