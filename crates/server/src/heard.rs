//! What one client hears: which handles stand for which objects, what it was told of each, and what it still has to be
//! told.
//!
//! A handle is given to another object only after the client has said that it knows of the first one's leaving. So a
//! datagram that overtakes a roster never speaks of the wrong object: the client knows the handle's object, or it knows
//! none and skips that body.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use space::Slot;
use wire::Handle;

/// One object that a client hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Its row in the audience.
    pub slot: Slot,
    /// The tick of the last datagram or roster that said where it is.
    pub told: u64,
}

/// What one client hears.
#[derive(Clone, Debug, Default)]
pub struct HeardObjects {
    heard: Vec<Option<Heard>>,
    handles: BTreeMap<Slot, Handle>,
    free: BTreeSet<Handle>,
    /// Objects that entered and were not told yet.
    entering: BTreeSet<Slot>,
    /// Handles whose leaving was not told yet.
    leaving: Vec<Handle>,
    /// Handles that may be given again once the client has taken in the roster of this number.
    parting: VecDeque<(u16, Handle)>,
    /// The last roster that was sent, and the last that was taken in.
    sent: u16,
    taken: u16,
}

impl HeardObjects {
    pub fn new() -> HeardObjects {
        HeardObjects::default()
    }

    /// An object came within hearing.
    pub fn enter(&mut self, slot: Slot) {
        if !self.handles.contains_key(&slot) {
            self.entering.insert(slot);
        }
    }

    /// An object went out of hearing. From now on nothing is sent of it.
    pub fn leave(&mut self, slot: Slot) {
        if let Some(handle) = self.handles.remove(&slot) {
            self.heard[usize::from(handle.0)] = None;
            self.leaving.push(handle);
        }
        self.entering.remove(&slot);
    }

    /// Whether there is something to tell.
    pub fn is_behind(&self) -> bool {
        !self.leaving.is_empty() || (!self.entering.is_empty() && self.next_handle().is_some())
    }

    /// What to tell next, with the number of the roster: handles that left and objects that entered, each at most
    /// `most`.
    pub fn tell(&mut self, tick: u64, most: usize, entered: &mut Vec<(Handle, Slot)>) -> (u16, Vec<Handle>) {
        entered.clear();
        self.sent = self.sent.wrapping_add(1);
        let left: Vec<Handle> = self.leaving.drain(..self.leaving.len().min(wire::session::ROSTER_MAX)).collect();
        self.parting.extend(left.iter().map(|&handle| (self.sent, handle)));
        while entered.len() < most.min(wire::session::ROSTER_MAX) {
            let Some(handle) = self.next_handle() else { break };
            let Some(slot) = self.entering.pop_first() else { break };
            if !self.free.remove(&handle) {
                self.heard.push(None);
            }
            self.heard[usize::from(handle.0)] = Some(Heard { slot, told: tick });
            self.handles.insert(slot, handle);
            entered.push((handle, slot));
        }
        (self.sent, left)
    }

    /// The client has taken in all rosters up to this one. False if none of that number was sent.
    pub fn taken(&mut self, number: u16) -> bool {
        let ahead = number.wrapping_sub(self.taken);
        if ahead > self.sent.wrapping_sub(self.taken) {
            // An older datagram, overtaken by a newer one, or a number that was never sent.
            return self.taken.wrapping_sub(number) < 0x8000;
        }
        self.taken = number;
        while let Some(&(needed, handle)) = self.parting.front() {
            if number.wrapping_sub(needed) >= 0x8000 {
                break;
            }
            self.parting.pop_front();
            self.free.insert(handle);
        }
        true
    }

    /// Whether the client has taken in all that it was told.
    pub fn is_up_to_date(&self) -> bool {
        self.taken == self.sent
    }

    /// The number of rosters that were not taken in yet.
    pub fn untaken(&self) -> u16 {
        self.sent.wrapping_sub(self.taken)
    }

    /// All heard objects, by rising handle.
    pub fn heard_mut(&mut self) -> impl Iterator<Item = (Handle, &mut Heard)> {
        self.heard.iter_mut().zip(0..).filter_map(|(heard, number)| Some((Handle(number), heard.as_mut()?)))
    }

    pub fn heard(&self) -> impl Iterator<Item = &Heard> {
        self.heard.iter().flatten()
    }

    /// The handle of an object, if the client was told of it.
    pub fn handle(&self, slot: Slot) -> Option<Handle> {
        self.handles.get(&slot).copied()
    }

    pub fn len(&self) -> usize {
        self.handles.len()
    }

    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// The lowest free handle: low handles are short on the wire.
    fn next_handle(&self) -> Option<Handle> {
        let new = self.heard.len();
        let fresh = (new <= usize::from(Handle::MAX.0)).then_some(Handle(new as u16));
        self.free.first().copied().or(fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    /// A client that takes rosters in late and datagrams early never mistakes one object for another.
    #[test]
    fn a_handle_never_means_two_things() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut listener = HeardObjects::new();
            let mut known: BTreeMap<Handle, Slot> = BTreeMap::new();
            let mut stream = VecDeque::new();
            let mut entered: Vec<(Handle, Slot)> = Vec::new();
            for tick in 0..300 {
                for _ in 0..random.whole(0, 4) {
                    let slot = Slot::new(random.whole(0, 12));
                    if random.unit() < 0.5 { listener.enter(slot) } else { listener.leave(slot) }
                }
                if listener.is_behind() {
                    let (number, left) = listener.tell(tick, 3, &mut entered);
                    stream.push_back((number, left, entered.clone()));
                }
                // A datagram arrives at once, with the state of this tick.
                for (handle, heard) in listener.heard_mut() {
                    if let Some(slot) = known.get(&handle) {
                        assert_eq!(*slot, heard.slot, "seed {seed}, tick {tick}");
                    }
                }
                if random.unit() < 0.9
                    && let Some((number, left, entered)) = stream.pop_front()
                {
                    left.iter().for_each(|handle: &Handle| assert!(known.remove(handle).is_some(), "seed {seed}"));
                    known.extend(entered);
                    assert!(listener.taken(number));
                    assert!(listener.taken(number.wrapping_sub(1)), "an older answer does no harm");
                    assert!(!listener.taken(number.wrapping_add(400)), "never sent");
                }
            }
            assert!(listener.heard.len() <= 60, "seed {seed}: {} handles for 12 objects", listener.heard.len());
        }
    }
}
