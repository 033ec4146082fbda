//! Items by bucket: a counting sort into one list, with the places where buckets begin (compressed sparse rows).

use std::ops::RangeInclusive;

/// Items sorted into numbered buckets. Memory is kept from fill to fill.
///
/// ```
/// use kinesphere_space::Buckets;
///
/// let mut buckets = Buckets::default();
/// buckets.fill(3, [(2, 'a'), (0, 'b'), (2, 'c')].into_iter());
/// assert_eq!(buckets.get(2), ['a', 'c']);
/// assert_eq!(buckets.of_all(0..=1), ['b']);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Buckets<T> {
    /// The place in `items` at which each bucket begins, then the end of the last one twice.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Buckets<T> {
    /// Replaces all items. `items` gives each with its bucket, below `count`, and is run through twice; a bucket keeps
    /// their order.
    ///
    /// # Panics
    /// If there are 2^32 items or more.
    pub fn fill(&mut self, count: usize, items: impl Iterator<Item = (usize, T)> + Clone) {
        let Buckets { starts, items: sorted } = self;
        starts.clear();
        starts.resize(count + 2, 0);
        // Counted two places ahead: a bucket's start is the entry behind its own, and moves up to its end as it is
        // filled.
        items.clone().for_each(|(bucket, _)| starts[bucket + 2] += 1);
        let mut sum = 0u32;
        for start in &mut starts[2..] {
            sum = sum.checked_add(*start).expect("fewer than 2^32 items");
            *start = sum;
        }
        sorted.clear();
        sorted.resize(sum as usize, T::default());
        items.for_each(|(bucket, item)| {
            let start = &mut starts[bucket + 1];
            sorted[*start as usize] = item;
            *start += 1;
        });
    }
}

impl<T> Buckets<T> {
    /// The items of a bucket.
    ///
    /// # Panics
    /// If there is no such bucket.
    #[inline]
    pub fn get(&self, bucket: usize) -> &[T] {
        self.of_all(bucket..=bucket)
    }

    /// The items of successive buckets.
    ///
    /// # Panics
    /// If there is no such bucket.
    #[inline]
    pub fn of_all(&self, buckets: RangeInclusive<usize>) -> &[T] {
        &self.items[self.starts[*buckets.start()] as usize..self.starts[buckets.end() + 1] as usize]
    }

    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(2)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items of all buckets, one bucket after the other.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buckets_hold_what_was_put_in_and_in_order(
            fills in prop::collection::vec(prop::collection::vec((0usize..9, any::<u16>()), 0..60), 1..4),
        ) {
            let mut buckets = Buckets::default();
            for items in fills {
                buckets.fill(9, items.iter().copied());
                let of = |bucket| items.iter().filter(move |item| item.0 == bucket).map(|item| item.1);
                for bucket in 0..9 {
                    prop_assert!(buckets.get(bucket).iter().copied().eq(of(bucket)));
                    let successive: Vec<u16> = (bucket..9).flat_map(of).collect();
                    prop_assert_eq!(buckets.of_all(bucket..=8), successive);
                }
                prop_assert_eq!((buckets.len(), buckets.items().len()), (9, items.len()));
            }
        }
    }
}
