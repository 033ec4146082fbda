//! Which link a message belongs to. A link may end at one side alone: its outbox ran full, or its peer sent nonsense.
//! The other side still sends on what it takes for the same link, and both have to agree that a new one began before
//! either hears the other again.
//!
//! Each side numbers its links. Every message says which link of its sender it is of, and to which of the receiver's
//! links it is addressed. A side that hears that the other began anew, or wants it to, begins anew, too. A message of a
//! link that is over is refused, and a link from which a message was refused is over. So what is heard on a link is all
//! that was sent on one link of the other side, from its first message on.

/// What goes with every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The sender's link.
    pub(super) of: u64,
    /// The receiver's link that is addressed, or the first that would be; zero if the sender has heard of none.
    pub(super) to: u64,
}

impl Mark {
    pub(super) fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.of.to_le_bytes());
        bytes[8..].copy_from_slice(&self.to.to_le_bytes());
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Mark> {
        let (of, to) = bytes.split_first_chunk::<8>()?;
        Some(Mark { of: u64::from_le_bytes(*of), to: u64::from_le_bytes(to.try_into().ok()?) })
    }
}

/// What a message on the stream means for a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It is to be heard.
    Fits,
    /// It is of, or to, a link that is over.
    Over,
    /// The link is over, and the next one is to have at least this number.
    Anew(u64),
}

/// Two sides' links, as one side knows them.
#[derive(Clone, Debug)]
pub(super) struct Bond {
    /// Our link, or the last one.
    mine: u64,
    /// Theirs, once a message of it was heard on this link of ours.
    theirs: Option<u64>,
    /// Theirs up to this number are over.
    over: u64,
}

impl Bond {
    /// Before the first link, which has the number after this.
    pub(super) fn new(mine: u64) -> Bond {
        Bond { mine, theirs: None, over: 0 }
    }

    /// Begins a link of ours.
    pub(super) fn begin(&mut self, at_least: u64) {
        self.mine = (self.mine + 1).max(at_least);
    }

    /// Ends our link, and whatever was heard on it.
    pub(super) fn end(&mut self) {
        self.over = self.over.max(self.theirs.take().unwrap_or(0));
    }

    /// What goes with messages that are sent now.
    pub(super) fn mark(&self) -> Mark {
        let first = if self.over == 0 { 0 } else { self.over + 1 };
        Mark { of: self.mine, to: self.theirs.unwrap_or(first) }
    }

    /// Judges a message on the stream while our link stands: the first of its link, or another.
    pub(super) fn hear(&mut self, mark: Mark, is_first: bool) -> Meaning {
        if mark.of <= self.over {
            return Meaning::Over;
        }
        if mark.to > self.mine {
            return Meaning::Anew(mark.to);
        }
        let is_to_another = mark.to != 0 && mark.to < self.mine;
        match self.theirs {
            Some(theirs) if theirs == mark.of && !is_to_another => Meaning::Fits,
            Some(theirs) if theirs <= mark.of => Meaning::Anew(0),
            Some(_) => Meaning::Over,
            None if is_to_another || !is_first => {
                self.miss(mark);
                Meaning::Over
            }
            None => {
                self.theirs = Some(mark.of);
                Meaning::Fits
            }
        }
    }

    /// A message on the stream was not heard: the link that it is of has a gap now.
    pub(super) fn miss(&mut self, mark: Mark) {
        self.over = self.over.max(mark.of);
    }

    /// Whether a datagram is of this link: it tells nothing new.
    pub(super) fn is_of_it(&self, mark: Mark) -> bool {
        self.theirs == Some(mark.of) && (mark.to == 0 || mark.to == self.mine)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use space::workload::Random;

    use super::*;

    /// A pause, and how often the other side may begin anew, in steps.
    const PAUSE: u64 = 40;
    const ANEW_MIN: u64 = 20;

    /// One side, as `Members` is.
    struct Side {
        bond: Bond,
        is_linked: bool,
        since: u64,
        said: u64,
        /// Per link of its own, what was heard: of which link, and which message of that.
        heard: Vec<Vec<(u64, u64)>>,
    }

    type Way = VecDeque<(Mark, u64)>;

    impl Side {
        fn new(number: u64, way: &mut Way) -> Side {
            let mut side = Side { bond: Bond::new(number), is_linked: false, since: 0, said: 0, heard: Vec::new() };
            side.begin(0, 0, way);
            side
        }

        fn begin(&mut self, now: u64, at_least: u64, way: &mut Way) {
            (self.is_linked, self.since, self.said) = (true, now, 0);
            self.bond.begin(at_least);
            self.heard.push(Vec::new());
            self.say(way);
        }

        fn say(&mut self, way: &mut Way) {
            if self.is_linked {
                way.push_back((self.bond.mark(), self.said));
                self.said += 1;
            }
        }

        fn part(&mut self, now: u64) {
            if self.is_linked {
                self.bond.end();
                (self.is_linked, self.since) = (false, now);
            }
        }

        fn hear(&mut self, now: u64, (mark, number): (Mark, u64), way: &mut Way) {
            if !self.is_linked {
                return self.bond.miss(mark);
            }
            let mut meaning = self.bond.hear(mark, number == 0);
            if let Meaning::Anew(at_least) = meaning {
                let is_too_often = now - self.since < ANEW_MIN;
                self.part(now);
                if is_too_often {
                    return self.bond.miss(mark);
                }
                self.begin(now, at_least, way);
                meaning = self.bond.hear(mark, number == 0);
            }
            if meaning == Meaning::Fits {
                self.heard.last_mut().expect("it is linked").push((mark.of, number));
            }
        }
    }

    /// A link may end at either side at any time: both connect again, and on a link only what was sent on one link of
    /// the other side is heard, from its first message on and without a gap.
    #[test]
    fn both_sides_agree_which_link_it_is() {
        for seed in 0..2_000_u64 {
            let mut random = Random::new(seed);
            let mut below = |bound: u32| u64::from(random.whole(0, bound));
            let mut ways = [Way::new(), Way::new()];
            let mut sides = [0, 1].map(|index| Side::new(10 * index + below(10), &mut ways[index as usize]));
            let calm = 300 + below(300);
            for now in 0..calm + 20 * PAUSE {
                for index in 0..2 {
                    let (side, other) = (&mut sides[index], 1 - index);
                    if !side.is_linked && now - side.since >= PAUSE {
                        side.begin(now, 0, &mut ways[index]);
                    }
                    if now < calm && below(40) == 0 {
                        side.part(now);
                    }
                    // Its token goes and comes, at this side alone.
                    if now < calm && below(200) == 0 {
                        side.part(now);
                        side.bond = Bond::new(side.bond.mine + 100);
                        side.begin(now, 0, &mut ways[index]);
                    }
                    side.say(&mut ways[index]);
                    for _ in 0..below(3) + u64::from(now >= calm) {
                        if let Some(message) = ways[other].pop_front() {
                            side.hear(now, message, &mut ways[index]);
                        }
                    }
                }
            }
            let [ann, bob] = &sides;
            assert!(ann.is_linked && bob.is_linked, "seed {seed}");
            assert_eq!(ann.bond.theirs, Some(bob.bond.mine), "seed {seed}");
            assert_eq!(bob.bond.theirs, Some(ann.bond.mine), "seed {seed}");
            for heard in sides.iter().flat_map(|side| &side.heard) {
                let is_whole = heard.iter().zip(0..).all(|(&(of, number), index)| (of, number) == (heard[0].0, index));
                assert!(is_whole, "seed {seed}: {heard:?}");
            }
        }
    }

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        let mark = Mark { of: 7, to: u64::MAX - 1 };
        assert_eq!(Mark::read(&mark.bytes()), Some(mark));
        for wrong in [&[][..], &[1; 8], &[1; 15], &[1; 17]] {
            assert_eq!(Mark::read(wrong), None);
        }
    }
}
