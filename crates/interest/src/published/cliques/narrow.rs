//! Maximal cliques among up to 64 vertices: Bron and Kerbosch's method with a pivot, a word per vertex.

use super::quota::{Exhausted, Quota};

/// So many vertices fit a word.
pub const WORD: usize = 64;

/// The neighbours of each vertex as bits, and the vertex itself. Only candidates need a row.
pub type Rows = [u64; WORD];

/// Finds the maximal cliques that hold all of `chosen`, some of `candidates` and none of `excluded`.
///
/// `found` is told each, and says how many members that makes. The others of `chosen` are neighbours of all candidates
/// and of all who are excluded.
pub fn extend(
    rows: &Rows,
    mut chosen: u64,
    mut candidates: u64,
    mut excluded: u64,
    quota: &mut Quota,
    found: &mut impl FnMut(u64) -> usize,
) -> Result<(), Exhausted> {
    if candidates == 0 {
        return if excluded == 0 { quota.list(found(chosen)) } else { Ok(()) };
    }
    let common = ones(candidates).fold(!0, |common, vertex| common & rows[vertex]);
    quota.spend(candidates.count_ones() as usize)?;
    // Somebody who is excluded overlaps all candidates: nothing here is maximal.
    if common & excluded != 0 {
        return Ok(());
    }
    // Candidates that overlap all others are in every clique. Mostly, that is all of them.
    let shared = common & candidates;
    chosen |= shared;
    candidates ^= shared;
    if candidates == 0 {
        return quota.list(found(chosen));
    }
    excluded = ones(shared).fold(excluded, |excluded, vertex| excluded & rows[vertex]);
    // Whatever is maximal holds the pivot or somebody who is not its neighbour.
    let pivot = { ones(candidates) }.max_by_key(|&vertex| (candidates & rows[vertex]).count_ones());
    let spared = pivot.map_or(0, |pivot| rows[pivot] ^ 1 << pivot);
    for vertex in ones(candidates & !spared) {
        let own = rows[vertex];
        candidates ^= 1 << vertex;
        extend(rows, chosen | 1 << vertex, candidates & own, excluded & own, quota, found)?;
        excluded |= 1 << vertex;
    }
    Ok(())
}

/// The numbers of the bits that are set, ascending.
pub fn ones(mut bits: u64) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        if bits == 0 {
            return None;
        }
        let bit = bits.trailing_zeros() as usize;
        bits &= bits - 1;
        Some(bit)
    })
}
