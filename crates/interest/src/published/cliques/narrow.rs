//! Maximal cliques among up to 64 vertices, with a word per vertex: the algorithm of Bron and Kerbosch with a pivot.

use super::quota::{Exhausted, Quota};

/// The vertices in a word.
pub const WORD: usize = 64;

/// The neighbours of each vertex and itself, as bits. Only candidates need a row.
pub type Adjacency = [u64; WORD];

/// Finds the maximal cliques that hold all of `chosen`, some of `candidates` and none of `excluded`.
///
/// `found` is called for each and returns its number of members. All of `chosen` are neighbours of all candidates
/// and excluded vertices.
pub fn extend(
    rows: &Adjacency,
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
    // An excluded vertex is a neighbour of all candidates: no clique is maximal.
    if common & excluded != 0 {
        return Ok(());
    }
    // Candidates that are neighbours of all others are in every clique. Mostly, that is all of them.
    let shared = common & candidates;
    chosen |= shared;
    candidates ^= shared;
    if candidates == 0 {
        return quota.list(found(chosen));
    }
    excluded = ones(shared).fold(excluded, |excluded, vertex| excluded & rows[vertex]);
    // A maximal clique holds the pivot or a vertex that is not its neighbour.
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

/// The numbers of the set bits, ascending.
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
