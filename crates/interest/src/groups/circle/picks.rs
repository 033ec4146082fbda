//! Groups picked out of others, without a guess.

/// A list of groups whose memory is written over rather than made anew: to clear some words takes longer than to pick.
#[derive(Clone, Debug, Default)]
pub struct Picks {
    list: Vec<u16>,
    len: usize,
}

impl Picks {
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Those that have been picked, in order.
    #[inline]
    pub fn get(&self) -> &[u16] {
        &self.list[..self.len]
    }

    #[inline]
    pub fn get_mut(&mut self) -> &mut [u16] {
        &mut self.list[..self.len]
    }

    /// Adds some groups: those of which something is true.
    #[inline]
    pub fn add_those(&mut self, groups: &[u16], is_true: impl Fn(usize) -> bool) {
        if self.list.len() < self.len + groups.len() {
            self.make_room(groups.len());
        }
        let list = &mut self.list[self.len..];
        let mut picked = 0;
        // Every group is written, and the next one over it if it does not count: which ones do is anybody's guess.
        for &group in groups {
            list[picked] = group;
            picked += usize::from(is_true(usize::from(group)));
        }
        self.len += picked;
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        2 * self.list.capacity()
    }

    #[cold]
    fn make_room(&mut self, more: usize) {
        self.list.resize((self.len + more).next_power_of_two(), 0);
    }
}
