//! Set cover with a fixed number of sets, by weighted local search: the set that is needed least leaves, a set that
//! covers an uncovered point enters, and points that stay uncovered weigh more, so that the search does not cycle.

use space::Buckets;
use space::workload::Random;

/// Exchanges sets, beginning with `chosen`, until `limit` of them cover all points; `None` after
/// `steps` without success.
pub fn exchange(
    points: usize,
    sets: &[&[u32]],
    mut chosen: Vec<usize>,
    limit: usize,
    steps: usize,
) -> Option<Vec<usize>> {
    // Keep those that cover most.
    chosen.sort_by_key(|&set| (std::cmp::Reverse(sets[set].len()), set));
    let mut search = Search::new(points, sets, &chosen);
    while search.chosen.len() > limit {
        let least = search.least_missed(None)?;
        search.remove(least);
    }
    let mut random = Random::new(17);
    for step in 0..steps as u32 {
        if search.missed.is_empty() {
            break;
        }
        let leaving = search.least_missed(Some(step))?;
        search.remove(leaving);
        let point = search.missed[random.whole(0, search.missed.len() as u32) as usize];
        let coming = search.best_for(point, leaving)?;
        search.add(coming);
        search.since[coming] = step;
        search.since[leaving] = step;
        for index in 0..search.missed.len() {
            search.weigh(search.missed[index]);
        }
    }
    search.missed.is_empty().then_some(search.chosen)
}

struct Search<'a> {
    sets: &'a [&'a [u32]],
    /// For each point, the sets that contain it.
    holders: Buckets<u32>,
    is_chosen: Vec<bool>,
    chosen: Vec<usize>,
    /// For each point, the number of chosen sets that contain it, and its weight.
    times: Vec<u32>,
    weights: Vec<u64>,
    /// For a chosen set, the weight that only it covers; for others, the weight that it would add.
    scores: Vec<u64>,
    /// The step at which a set last entered or left.
    since: Vec<u32>,
    missed: Vec<u32>,
    place_in_missed: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(points: usize, sets: &'a [&'a [u32]], chosen: &[usize]) -> Search<'a> {
        let mut holders = Buckets::default();
        let points_of = |(set, list): (u32, &&'a [u32])| list.iter().map(move |&point| (point as usize, set));
        holders.fill(points, (0..).zip(sets).flat_map(points_of));
        let mut search = Search {
            sets,
            holders,
            is_chosen: vec![false; sets.len()],
            chosen: Vec::new(),
            times: vec![0; points],
            weights: vec![1; points],
            scores: sets.iter().map(|list| list.len() as u64).collect(),
            since: vec![0; sets.len()],
            missed: (0..points as u32).collect(),
            place_in_missed: (0..points as u32).collect(),
        };
        for &set in chosen {
            search.add(set);
        }
        search
    }

    fn holders_of(&self, point: u32) -> impl Iterator<Item = usize> + '_ {
        self.holders.get(point as usize).iter().map(|&set| set as usize)
    }

    /// The chosen set with the least score, but not one that entered in the step before.
    fn least_missed(&self, step: Option<u32>) -> Option<usize> {
        let is_new = |set: usize| step.is_some_and(|step| step > 0 && self.since[set] + 1 == step);
        let candidates = self.chosen.iter().copied().filter(|&set| !is_new(set));
        candidates.min_by_key(|&set| (self.scores[set], self.since[set], set)).or(self.chosen.first().copied())
    }

    /// The best set that contains the point, if possible not the one that just left.
    fn best_for(&self, point: u32, left: usize) -> Option<usize> {
        let key =
            |set: usize| (set != left, self.scores[set], std::cmp::Reverse(self.since[set]), std::cmp::Reverse(set));
        self.holders_of(point).filter(|&set| !self.is_chosen[set]).max_by_key(|&set| key(set))
    }

    fn add(&mut self, set: usize) {
        if self.is_chosen[set] {
            return;
        }
        self.is_chosen[set] = true;
        self.chosen.push(set);
        let mut own = 0;
        for &point in self.sets[set] {
            let weight = self.weights[point as usize];
            self.times[point as usize] += 1;
            match self.times[point as usize] {
                1 => {
                    own += weight;
                    self.found(point);
                    for &other in self.holders.get(point as usize) {
                        let other = other as usize;
                        if other != set {
                            self.scores[other] -= weight;
                        }
                    }
                }
                2 => {
                    if let Some(other) = self.other_holder(point, set) {
                        self.scores[other] -= weight;
                    }
                }
                _ => {}
            }
        }
        self.scores[set] = own;
    }

    fn remove(&mut self, set: usize) {
        self.is_chosen[set] = false;
        self.chosen.retain(|&other| other != set);
        let mut gain = 0;
        for &point in self.sets[set] {
            let weight = self.weights[point as usize];
            self.times[point as usize] -= 1;
            match self.times[point as usize] {
                0 => {
                    gain += weight;
                    self.place_in_missed[point as usize] = self.missed.len() as u32;
                    self.missed.push(point);
                    for &other in self.holders.get(point as usize) {
                        let other = other as usize;
                        if other != set {
                            self.scores[other] += weight;
                        }
                    }
                }
                1 => {
                    if let Some(other) = self.other_holder(point, set) {
                        self.scores[other] += weight;
                    }
                }
                _ => {}
            }
        }
        self.scores[set] = gain;
    }

    fn other_holder(&self, point: u32, set: usize) -> Option<usize> {
        self.holders_of(point).find(|&other| other != set && self.is_chosen[other])
    }

    fn found(&mut self, point: u32) {
        let place = self.place_in_missed[point as usize] as usize;
        self.missed.swap_remove(place);
        if let Some(&moved) = self.missed.get(place) {
            self.place_in_missed[moved as usize] = place as u32;
        }
    }

    fn weigh(&mut self, point: u32) {
        self.weights[point as usize] += 1;
        for &set in self.holders.get(point as usize) {
            self.scores[set as usize] += 1;
        }
    }
}
