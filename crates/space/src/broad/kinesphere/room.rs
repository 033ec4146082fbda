//! How much memory to take, so that a steady tick takes none.
//!
//! How many objects are in a tile, stray in a tick or are about to meet varies from tick to tick, about as a number of
//! independent events does: by its root. A list that grows whenever it is longer than ever before grows again and again,
//! ever more rarely and never for the last time. So lists get room for eight times that much more, once they have been
//! seen at work: a count that far from the usual one does not come by chance.

/// So many, and as many more as there may be at times.
pub fn roomy(usual: usize) -> usize {
    usual + 8 * usual.isqrt() + 8
}

/// Takes memory for a list that usually holds as many as it does now.
pub fn stock_up<T>(list: &mut Vec<T>) {
    make_room(list, list.len());
}

/// As [`stock_up`], for a list that is empty between ticks and has grown to what it needed at most; small ones get twice as
/// much. To be called once.
pub fn stock_up_as_used<T>(list: &mut Vec<T>) {
    let used = list.capacity();
    make_room(list, used + used.min(256));
}

/// Takes memory for a list that usually holds so many, unless there is half of that room already: what is usual is known
/// from one look, which may have been at an unusual moment.
pub fn make_room<T>(list: &mut Vec<T>, usual: usize) {
    let room = roomy(usual);
    if list.capacity() < (usual + room) / 2 {
        list.reserve_exact(room - list.len());
    }
}
