//! Lists that do not fit into one message: cut into pieces by the sender, put together by the receiver.
//!
//! A list is sent as it was at one moment: pieces that were cut at two moments may both lack what changed hands in
//! between. So a receiver drops the pieces of an older list when a newer one begins. One piece goes with each wake, so
//! that a long list is no burst that fills a link.

use std::collections::BTreeMap;

use wire::cluster::{PIECE_OBJECTS_MAX, Piece};

/// A list that is sent in pieces.
#[derive(Clone, Debug)]
pub struct Pieces<T> {
    list: Vec<T>,
}

impl<T: Clone> Pieces<T> {
    /// A list as it is now.
    pub fn new(list: Vec<T>) -> Pieces<T> {
        Pieces { list }
    }

    /// How many pieces it has: an empty list has one, too.
    pub fn count(&self) -> u32 {
        self.list.len().div_ceil(PIECE_OBJECTS_MAX).max(1) as u32
    }

    /// A piece; `None` beyond the last.
    pub fn piece(&self, number: u32) -> Option<(Piece, Vec<T>)> {
        let piece = Piece { number, count: self.count() };
        let mut pieces = self.list.chunks(PIECE_OBJECTS_MAX);
        let items = pieces.nth(number as usize).map(<[T]>::to_vec).unwrap_or_default();
        (number < piece.count).then_some((piece, items))
    }
}

/// Pieces of a list, until all are there. It holds no more than what was sent of one list.
#[derive(Clone, Debug)]
pub struct Gathering<T> {
    telling: u64,
    count: u32,
    pieces: BTreeMap<u32, Vec<T>>,
}

impl<T: Clone> Gathering<T> {
    pub fn new() -> Gathering<T> {
        Gathering { telling: 0, count: 0, pieces: BTreeMap::new() }
    }

    /// Takes in a piece. Returns the list, once, with the last piece that was missing.
    pub fn take(&mut self, telling: u64, piece: Piece, items: &[T]) -> Option<Vec<T>> {
        if self.count == 0 || telling > self.telling {
            (self.telling, self.count) = (telling, piece.count);
            self.pieces.clear();
        }
        if (telling, piece.count) != (self.telling, self.count) {
            return None;
        }
        let is_new = !self.pieces.contains_key(&piece.number);
        self.pieces.entry(piece.number).or_insert_with(|| items.to_vec());
        let is_whole = is_new && self.pieces.len() == self.count as usize;
        // A piece that comes again finds its number taken.
        is_whole.then(|| self.pieces.values_mut().flat_map(std::mem::take).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use space::workload::Random;
    use wire::ToNode;
    use wire::cluster::{Declared, NODE_MESSAGE_MAX, Named, PIECES_MAX, StandingSolid, seal};

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Any number of objects, with pieces in any order and repeated any number of times.
        #[test]
        fn a_list_is_heard_whole_and_once(objects in 0_u64..100_000, order in any::<u64>(), repeats in 0_usize..40) {
            let cut = Pieces::new((0..objects).collect());
            let mut pieces: Vec<_> = (0..cut.count()).map(|number| cut.piece(number).unwrap()).collect();
            prop_assert!(cut.piece(cut.count()).is_none());
            // Every piece once, some more often, in an order that the seed shuffles.
            let again = |index: usize| (order as usize % 1_000 + index * 7) % cut.count() as usize;
            let repeated: Vec<_> = (0..repeats).map(|index| pieces[again(index)].clone()).collect();
            pieces.extend(repeated);
            let mut random = Random::new(order);
            for index in (1..pieces.len()).rev() {
                pieces.swap(index, random.whole(0, index as u32 + 1) as usize);
            }
            // A piece of an older list is no part of it.
            let mut gathering = Gathering::new();
            let [first, second] = [0, 1].map(|number| Piece { number, count: 2 });
            prop_assert!(gathering.take(3, second, &[u64::MAX]).is_none());
            let heard: Vec<Vec<u64>> =
                pieces.iter().filter_map(|(piece, items)| gathering.take(4, *piece, items)).collect();
            prop_assert_eq!(heard.len(), 1);
            prop_assert!(heard[0].iter().copied().eq(0..objects));
            prop_assert!(gathering.take(3, first, &[7]).is_none(), "that was told before");
        }
    }

    /// With the longest numbers that there are, in an envelope with the longest node numbers.
    #[test]
    fn no_piece_is_too_long_for_a_message() {
        let far = wire::pose::STEPS_MAX;
        let at = space::GridPoint { x: -far, y: -far, z: -far };
        let standing = StandingSolid { core: [far; 3], radius: far, at };
        let declared = Declared { object: u64::MAX, seq: u32::MAX, standing };
        let named = Named { object: u64::MAX, seq: u32::MAX };
        let many = 3 * PIECE_OBJECTS_MAX + 1;
        let (telling, version) = (1 << 62, 1 << 62);
        let (declares, queries, knowns) =
            (Pieces::new(vec![declared; many]), Pieces::new(vec![named; many]), Pieces::new(vec![u64::MAX; many]));
        assert_eq!(declares.count(), 4);
        for number in 0..declares.count() {
            let (piece, standing) = declares.piece(number).unwrap();
            let (_, objects) = queries.piece(number).unwrap();
            let (_, known) = knowns.piece(number).unwrap();
            for message in [
                ToNode::Declare { version, telling, piece, standing },
                ToNode::Query { version, piece, objects },
                ToNode::Known { version, piece, objects: known },
            ] {
                assert!(seal(u64::MAX, Some(u64::MAX), &message.encode()).len() <= NODE_MESSAGE_MAX / 4);
                assert!(ToNode::decode(&message.encode()) == Ok(message));
            }
        }
        assert!(PIECES_MAX as usize * PIECE_OBJECTS_MAX >= space::Spheres::MAX_OBJECTS);
    }
}
