//! What one client is sent in one tick: everything that changed if its budget allows, otherwise what matters most.

use std::cmp::Ordering;

use space::GridPoint;
use wire::Handle;
use wire::state::{Head, StateWriter};

use super::bodies::Bodies;
use super::heard::{Heard, HeardObjects};

/// An object at rest is told again after this many ticks at most: a second, at 30 ticks per second. A client that lost
/// the datagrams with its last change knows of it then.
pub const REPEAT_TICKS_MAX: u64 = 30;
/// The most bits of a body's handle, if handles are sparse or dense.
const HANDLE_BITS: usize = 3;
/// At this distance, in grid steps, an object is half as urgent as right here.
const NEAR_STEPS: f32 = 5.0 * 1_024.0;

/// Scratch memory, kept from client to client.
#[derive(Debug, Default)]
pub struct FanOut {
    due: Vec<Due>,
    /// When each heard object last changed.
    changed: Vec<u64>,
    ranked: Vec<Due>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Due {
    handle: Handle,
    slot: space::Slot,
    waited: u64,
    /// Computed only when not all can be told.
    urgency: f32,
    bits: u32,
}

/// State datagrams that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    pub datagrams: u64,
    pub bytes: u64,
    pub bodies: u64,
    /// Bodies that had to wait.
    pub waiting: u64,
}

impl FanOut {
    pub fn new() -> FanOut {
        FanOut::default()
    }

    /// Hands datagrams of at most `budget` bytes to `send`. The first is there even if nothing is due: it tells the
    /// client of its own avatar.
    pub fn run(
        &mut self,
        listener: &mut HeardObjects,
        bodies: &mut Bodies,
        head: &Head,
        tick: u64,
        budget: usize,
        mut send: impl FnMut(Vec<u8>),
    ) -> Sent {
        let mut sent = Sent::default();
        let bits = self.collect(listener, bodies, head.anchor, tick);
        let room = 8 * budget.saturating_sub(HEAD_BYTES_MAX);
        if bits > room {
            for due in &mut self.due {
                due.urgency = urgency(due.waited, bodies.place(due.slot), head.anchor);
            }
            sent.waiting = self.choose(room);
        }
        let mut bytes = Vec::with_capacity(wire::DATAGRAM_MAX.min(HEAD_BYTES_MAX + bits / 8 + 8));
        let mut writer = StateWriter::new(&mut bytes, head);
        for due in &self.due {
            let body = bodies.prepared(due.slot);
            if !writer.push(due.handle, body) {
                writer.end();
                sent.datagrams += 1;
                sent.bytes += bytes.len() as u64;
                send(std::mem::take(&mut bytes));
                writer = StateWriter::new(&mut bytes, head);
                let fits = writer.push(due.handle, body);
                debug_assert!(fits, "one body fits into an empty datagram");
            }
        }
        writer.end();
        sent.datagrams += 1;
        sent.bytes += bytes.len() as u64;
        sent.bodies = self.due.len() as u64;
        send(bytes);
        let mut told = self.due.iter().map(|due| due.handle).peekable();
        for (handle, heard) in listener.heard_mut() {
            if told.peek() == Some(&handle) {
                heard.told = tick;
                told.next();
            }
        }
        sent
    }

    /// Collects the objects that have something new, by handle, and returns how many bits they take.
    fn collect(&mut self, listener: &mut HeardObjects, bodies: &mut Bodies, anchor: GridPoint, tick: u64) -> usize {
        self.due.clear();
        // First all random accesses to memory, without a branch between: their cache misses overlap then.
        self.changed.clear();
        self.changed.extend(listener.heard_mut().map(|(_, heard)| bodies.changed_and_fetched(heard.slot)));
        let mut total = 0;
        for ((handle, heard), &changed) in listener.heard_mut().zip(&self.changed) {
            if !is_due(heard, changed, tick) {
                continue;
            }
            let bits = bodies.prepared(heard.slot).bits(anchor);
            total += bits as usize + HANDLE_BITS;
            let waited = tick.saturating_sub(heard.told);
            self.due.push(Due { handle, slot: heard.slot, waited, urgency: 0.0, bits });
        }
        total
    }

    /// Keeps the most urgent objects that fit into `bits`, by handle; returns how many have to wait.
    ///
    /// It halves the list until the boundary is known: a sort would take longer than all the rest.
    fn choose(&mut self, room: usize) -> u64 {
        let all = self.due.len();
        self.ranked.clone_from(&self.due);
        let (mut low, mut high, mut taken) = (0, all, 0);
        while low < high {
            let middle = (low + high) / 2;
            self.ranked[low..high].select_nth_unstable_by(middle - low, Due::by_urgency);
            // Handles are sparse among the chosen: more bits each.
            let bits = self.ranked[low..=middle].iter().map(|due| due.bits as usize + 3 * HANDLE_BITS).sum::<usize>();
            if taken + bits <= room {
                (low, taken) = (middle + 1, taken + bits);
            } else {
                high = middle;
            }
        }
        if let Some(first_to_wait) = self.ranked[low..].iter().copied().min_by(Due::by_urgency) {
            self.due.retain(|due| due.by_urgency(&first_to_wait).is_lt());
        }
        (all - self.due.len()) as u64
    }
}

impl Due {
    /// The most urgent first; of equals, the lower handle.
    fn by_urgency(&self, other: &Due) -> Ordering {
        other.urgency.total_cmp(&self.urgency).then(self.handle.cmp(&other.handle))
    }
}

/// Whether a client should be told of an object in this tick. An object at rest is repeated after 1, 2, 4, ... ticks,
/// until one of the datagrams is likely to have arrived.
pub(super) fn is_due(heard: &Heard, changed: u64, tick: u64) -> bool {
    let waited = tick.saturating_sub(heard.told);
    changed > heard.told || waited >= heard.told.saturating_sub(changed).clamp(1, REPEAT_TICKS_MAX)
}

/// How urgent an object is that a client was told of this many ticks ago. Waiting has no bound and distance has one, so
/// every object has its turn.
pub(super) fn urgency(waited: u64, place: GridPoint, anchor: GridPoint) -> f32 {
    let away = [place.x - anchor.x, place.y - anchor.y, place.z - anchor.z].map(|steps| steps as f32);
    let distance = (away[0] * away[0] + away[1] * away[1] + away[2] * away[2]).sqrt();
    waited as f32 / (NEAR_STEPS + distance)
}

/// A kind, a tick, flags, an anchor, an acknowledgement and a velocity.
const HEAD_BYTES_MAX: usize = 1 + 4 + 1 + 12 + 2 + 9;

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Slot, Turn};
    use wire::ToClient;

    fn crowd(count: u32) -> (HeardObjects, Bodies) {
        let (mut listener, mut bodies, mut entered) = (HeardObjects::new(), Bodies::new(), Vec::new());
        for number in 0..count {
            bodies.insert(Slot::new(number), 1, GridPoint::new(100 * number as i32, 0, 0), Turn::IDENTITY);
            listener.enter(Slot::new(number));
        }
        while listener.is_behind() {
            listener.tell(1, 100, &mut entered);
        }
        (listener, bodies)
    }

    fn told(bytes: &[u8]) -> Vec<Handle> {
        match ToClient::decode(bytes) {
            Ok(ToClient::State(state)) => state.bodies.iter().map(|(handle, _)| *handle).collect(),
            other => panic!("{other:?}"),
        }
    }

    /// What fits is a prefix of the list sorted by urgency.
    #[test]
    fn the_most_urgent_are_chosen() {
        use space::workload::Random;
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let mut fan_out = FanOut::new();
            for number in 0..random.whole(0, 60) as u16 {
                // Some are equally urgent.
                let (urgency, bits) = (random.whole(0, 20) as f32, random.whole(45, 90));
                fan_out.due.push(Due { handle: Handle(2 * number), slot: Slot::new(0), waited: 0, urgency, bits });
            }
            let room = random.whole(0, 3_000) as usize;
            let mut sorted = fan_out.due.clone();
            sorted.sort_by(Due::by_urgency);
            let mut taken = 0;
            let fits = |due: &&Due| {
                taken += due.bits as usize + 3 * HANDLE_BITS;
                taken <= room
            };
            let mut expected: Vec<Due> = sorted.iter().take_while(fits).copied().collect();
            expected.sort_by_key(|due| due.handle);
            let waiting = fan_out.choose(room);
            assert_eq!(fan_out.due, expected, "seed {seed}");
            assert_eq!(waiting as usize, sorted.len() - expected.len(), "seed {seed}");
        }
    }

    #[test]
    fn no_object_starves_and_no_budget_is_passed() {
        let (mut listener, mut bodies) = crowd(300);
        let (mut fan_out, mut last) = (FanOut::new(), vec![1; 300]);
        for tick in 2..400 {
            for number in 0..300 {
                let place = GridPoint::new(100 * number + tick as i32, 0, 0);
                bodies.moved(Slot::new(number as u32), tick, place, Turn::IDENTITY, false);
            }
            bodies.settle(tick);
            let mut bytes = 0;
            fan_out.run(&mut listener, &mut bodies, &Head::default(), tick, 500, |datagram| {
                bytes += datagram.len();
                told(&datagram).iter().for_each(|handle| last[usize::from(handle.0)] = tick);
            });
            assert!(bytes <= 500, "{bytes} bytes in tick {tick}");
            let longest = last.iter().map(|last| tick - last).max().unwrap();
            assert!(longest <= 60, "tick {tick}: an object has waited {longest} ticks");
        }
    }

    #[test]
    fn objects_at_rest_are_told_ever_more_rarely_but_never_forgotten() {
        let (mut listener, mut bodies) = crowd(1);
        let mut fan_out = FanOut::new();
        let mut ticks = Vec::new();
        for tick in 2..200 {
            if tick == 10 {
                bodies.moved(Slot::new(0), tick, GridPoint::new(5, 0, 0), Turn::IDENTITY, false);
            }
            bodies.settle(tick);
            fan_out.run(&mut listener, &mut bodies, &Head::default(), tick, 500, |datagram| {
                if !told(&datagram).is_empty() {
                    ticks.push(tick);
                }
            });
        }
        assert_eq!(ticks, [2, 3, 5, 9, 10, 11, 12, 13, 15, 19, 27, 43, 73, 103, 133, 163, 193]);
    }

    #[test]
    fn many_fill_several_datagrams() {
        let (mut listener, mut bodies) = crowd(300);
        let mut datagrams = Vec::new();
        let sent = FanOut::new().run(&mut listener, &mut bodies, &Head::default(), 2, 10_000, |d| datagrams.push(d));
        assert_eq!(datagrams.iter().map(|datagram| told(datagram).len()).sum::<usize>(), 300);
        assert!(datagrams.len() > 1 && datagrams.iter().all(|datagram| datagram.len() <= wire::DATAGRAM_MAX));
        assert_eq!(sent.bodies, 300);
        assert_eq!(sent.bytes, datagrams.iter().map(|datagram| datagram.len() as u64).sum::<u64>());
    }
}
