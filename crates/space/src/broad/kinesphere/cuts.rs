//! Which objects share a layer: their reaches, cut into runs of similar ones.
//!
//! Large balls would widen the cells of small ones, but every object has to look into every layer. So a cut is made where
//! it makes looking cheaper, by the prices of the [plan](super::plan). Nothing is allocated: plans are made every so often,
//! and mostly rejected.

use super::alone::ALONE;
use super::plan::{LINE, LINE_ALONE, LOOK, PASS, SORT, TEST};

/// So many objects, and so many of them in a cubic metre where they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Population {
    pub objects: f64,
    pub density: f64,
}

/// A run of similar reaches: a layer to be.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    pub population: Population,
    /// The smallest of them, and the largest.
    pub least: f64,
    pub reach: f64,
    /// The edge of the cells.
    pub edge: f64,
}

/// The reaches of some objects, cut into runs.
#[derive(Clone, Copy, Debug)]
pub struct Cuts<'a> {
    /// Those of a sample, ascending.
    reaches: &'a [f64],
    /// Where each run ends; the last ones may be empty.
    ends: [usize; LAYERS],
    population: Population,
    /// How many others are around them in a cubic metre, who are cut by themselves.
    density_around: f64,
    /// The runs, and how many there are: each is looked at many times while cuts are weighed.
    runs: [Cut; LAYERS],
    count: usize,
}

/// Objects per cell, in whatever layer, that cells are widened for, where nothing else asks for wide cells.
const OCCUPANCY: f64 = 2.5;
/// About how many tiles of a layer somebody passes who looks for those near.
const TILES: f64 = 64.0;
/// More layers than this never pay.
const LAYERS: usize = 6;

impl Population {
    /// Some of them.
    pub fn share(self, share: f64) -> Population {
        Population { objects: self.objects * share, density: self.density * share }
    }

    /// How many are in a cube of this width.
    fn in_cube(self, width: f64) -> f64 {
        (self.density * width.powi(3)).min(self.objects)
    }
}

impl<'a> Cuts<'a> {
    /// Nobody.
    pub const NONE: Cuts<'static> = Cuts {
        reaches: &[],
        ends: [0; LAYERS],
        population: Population { objects: 0.0, density: 0.0 },
        density_around: 0.0,
        runs: [Cut { population: Population { objects: 0.0, density: 0.0 }, least: 0.0, reach: 0.0, edge: 0.0 };
            LAYERS],
        count: 0,
    };

    /// Cuts the reaches of a sample of a population into the runs that cost least, and says what an object costs then, each
    /// time that its tile falls due. Those `around` have to be looked at, too: the standing ones around the moving ones.
    pub fn best(reaches: &'a mut [f64], population: Population, around: &[Cuts<'_>]) -> (Cuts<'a>, f64) {
        if reaches.is_empty() {
            return (Cuts::NONE, 0.0);
        }
        reaches.sort_unstable_by(f64::total_cmp);
        let (reaches, last): (&[f64], usize) = (reaches, reaches.len());
        let density_around = around.iter().map(|cuts| cuts.population.density).sum();
        let mut best = Cuts { reaches, population, density_around, ..Cuts::NONE }.at([last; LAYERS]);
        let mut least_cost = best.cost(around);
        for _ in 1..LAYERS {
            // Cuts are tried where the reach has grown by a fifth.
            let mut candidate: Option<(f64, Cuts<'_>)> = None;
            let mut first = reaches[0];
            for (end, &reach) in reaches.iter().enumerate() {
                if reach < first * 1.2 {
                    continue;
                }
                first = reach;
                let more = best.and_at(end);
                let cost = more.cost(around);
                if candidate.as_ref().is_none_or(|(least, _)| cost < *least) {
                    candidate = Some((cost, more));
                }
            }
            match candidate {
                Some((cost, more)) if cost < least_cost * 0.9 => (least_cost, best) = (cost, more),
                _ => break,
            }
        }
        (best, least_cost / population.objects)
    }

    /// All runs.
    pub fn iter(&self) -> impl Iterator<Item = Cut> + Clone {
        self.runs[..self.count].iter().copied()
    }

    /// The same reaches, cut at these places, ascending.
    fn at(mut self, ends: [usize; LAYERS]) -> Cuts<'a> {
        (self.ends, self.count) = (ends, 0);
        let starts = std::iter::once(0).chain(ends);
        for (start, end) in starts.zip(ends).filter(|(start, end)| start < end) {
            let population = self.population.share((end - start) as f64 / self.reaches.len() as f64);
            let (least, reach) = (self.reaches[start], self.reaches[end - 1]);
            let roomy = (OCCUPANCY / (population.density + self.density_around).max(1e-30)).cbrt();
            self.runs[self.count] = Cut { population, least, reach, edge: (2.0 * reach).max(roomy) };
            self.count += 1;
        }
        self
    }

    /// With one run more.
    fn and_at(self, end: usize) -> Cuts<'a> {
        let mut ends = self.ends;
        ends[LAYERS - 2] = end;
        ends.sort_unstable();
        self.at(ends)
    }

    /// What all objects cost when their tiles fall due: each is sorted, and looks into every layer.
    fn cost(&self, around: &[Cuts<'_>]) -> f64 {
        let objects = self.population.objects + around.iter().map(|cuts| cuts.population.objects).sum::<f64>();
        let around = || around.iter().flat_map(Cuts::iter);
        let cost_each = |looker: &Cut| {
            let mut each = SORT;
            if looker.population.objects * (ALONE as f64) < objects {
                let width = |layer: &Cut| 2.0 * (looker.reach + layer.reach) + layer.edge;
                return each + self.iter().chain(around()).map(|layer| layer.price_alone(width(&layer))).sum::<f64>();
            }
            // Those of a cell look together at all that any of them may meet.
            for layer in self.iter() {
                // Within a layer most pairs are looked at once, from one of the two.
                let once = if layer.reach == looker.reach { 0.66 } else { 1.0 };
                each += LOOK + once * layer.price_of_a_look(2.0 * looker.reach + layer.edge + layer.edge);
            }
            for layer in around() {
                each += LOOK + layer.price_of_a_look(looker.edge + 2.0 * (looker.reach + layer.reach) + layer.edge);
            }
            each
        };
        self.iter().map(|looker| looker.population.objects * cost_each(&looker)).sum()
    }
}

impl Cut {
    /// What it costs to look at everybody in a cube of this width.
    fn price_of_a_look(&self, width: f64) -> f64 {
        // Nobody looks at lines without objects.
        let lines = (width / self.edge).powi(2).min(self.population.objects);
        LINE * lines + TEST * self.population.in_cube(width)
    }

    /// The same for somebody who looks alone, and what it costs to find out where to look.
    fn price_alone(&self, width: f64) -> f64 {
        // A path is long and thin: most of such a cube is not near it.
        let lines = (0.5 * (width / self.edge).powi(2)).min(self.population.objects);
        let tiles = self.population.objects.min(TILES);
        LOOK + PASS * tiles + LINE_ALONE * lines + TEST * self.population.in_cube(width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: Population = Population { objects: 1e5, density: 0.012 };

    fn layers(mut reaches: Vec<f64>) -> Vec<Cut> {
        Cuts::best(&mut reaches, MANY, &[]).0.iter().collect()
    }

    /// Those who are alike are not quite, after some arithmetic.
    #[test]
    fn a_few_giants_are_cut_off() {
        let mut reaches: Vec<f64> = (0..1_000).map(|number| 3.0 + 1e-7 * f64::from(number)).collect();
        reaches.extend([200.0; 3]);
        let layers = layers(reaches);
        assert_eq!(layers.iter().map(|cut| cut.least).collect::<Vec<_>>(), [3.0, 200.0]);
        assert!((layers.iter().map(|cut| cut.population.objects).sum::<f64>() - 1e5).abs() < 1.0);
    }

    #[test]
    fn those_alike_are_not_cut() {
        assert_eq!(layers(vec![3.0; 1_000]).len(), 1);
    }

    /// However different they are, there are so many layers at most, and everybody is in one.
    #[test]
    fn layers_are_few() {
        let reach = |number: u32| f64::from(1 << (number.trailing_zeros() / 2));
        let layers = layers((1..1 << 20).step_by(97).map(reach).collect());
        assert!((2..=LAYERS).contains(&layers.len()), "{layers:?}");
        assert!((layers.iter().map(|cut| cut.population.objects).sum::<f64>() - 1e5).abs() < 1.0);
    }

    /// Cells are wide where few are, so that somebody is in them; but not where many stand around those few.
    #[test]
    fn cells_hold_a_few_of_whoever_is_there() {
        let few = MANY.share(0.01);
        let (mut standing, mut moving, mut on_their_own) = ([1.0; 100], [3.0; 100], [3.0; 100]);
        let (alone, cost_alone) = Cuts::best(&mut on_their_own, few, &[]);
        assert!(alone.iter().all(|cut| few.in_cube(cut.edge) > 2.0), "{alone:?}");
        let (around, _) = Cuts::best(&mut standing, MANY.share(0.99), &[]);
        let (among_many, cost_among_many) = Cuts::best(&mut moving, few, &[around]);
        assert!(among_many.iter().all(|cut| cut.edge == 6.0), "{among_many:?}");
        assert!(cost_among_many > cost_alone);
    }
}
