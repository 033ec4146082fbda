//! How to cut space: how long tiles live, and which layers there are.
//!
//! A long life means that an object is sorted and looks for others rarely, but then sweeps a larger ball and has more
//! others to look at. Layers keep large balls from widening the cells of small ones, but every object has to look into
//! every layer. Both are weighed by counting tests, on a sample; no clock is involved, so the plan is the same on every
//! machine.

/// What the plan is made from: some objects that stand for all.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Radius with slack, and speed, of each object of the sample.
    pub sample: Vec<(f32, f32)>,
    /// How many objects there are.
    pub objects: usize,
    /// Objects per cubic metre where objects are.
    pub density: f64,
}

/// How to cut space.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How many ticks a tile lives for.
    pub life: u64,
    /// The layers of moving objects, then those of standing ones.
    pub layers: Vec<LayerPlan>,
    /// Tests per object and tick, about.
    pub cost: f64,
}

/// One layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerPlan {
    /// The largest reach it takes.
    pub reach: f32,
    /// The edge of its cells.
    pub edge: f32,
    /// A tile has two to these powers of cells along each axis.
    pub tile_bits: [u32; 3],
    /// Whether its objects stand.
    pub standing: bool,
}

/// What it costs to sort an object and to begin looking, in tests of one object against another.
const SORTING: f64 = 45.0;
/// What it costs to look into a layer at all.
const LOOKING: f64 = 12.0;
/// What it costs to look at one line of cells.
const LINE: f64 = 3.0;
/// Objects per cell that cells are widened for, where nothing else asks for wide cells.
const OCCUPANCY: f64 = 2.5;
/// More layers than this never pay.
const LAYERS: usize = 6;
/// Lives that are considered.
const LIVES: [u64; 8] = [8, 12, 16, 24, 32, 48, 64, 96];

impl Census {
    /// The best plan for objects that follow courses.
    pub fn plan(&self) -> Plan {
        let plans = LIVES.iter().map(|&life| self.plan_for(life));
        plans.min_by(|a, b| a.cost.total_cmp(&b.cost)).expect("there are lives to consider")
    }

    /// The best plan for finding pairs within one tick, from where the objects are.
    pub fn plan_direct(&self) -> Plan {
        self.plan_for(0)
    }

    fn plan_for(&self, life: u64) -> Plan {
        let ticks = life as f64;
        let mut layers = Vec::new();
        let mut cost = 0.0;
        for standing in [false, true] {
            let mut reaches: Vec<f64> = self
                .sample
                .iter()
                .filter(|(_, speed)| (*speed == 0.0) == standing)
                .map(|&(radius, speed)| f64::from(radius) + f64::from(speed) * ticks / 2.0)
                .collect();
            if reaches.is_empty() {
                continue;
            }
            reaches.sort_unstable_by(f64::total_cmp);
            let share = reaches.len() as f64 / self.sample.len() as f64;
            let (cuts, cost_each) = cut(&reaches, self.density * share);
            cost += cost_each * share / if standing { f64::from(u16::MAX) } else { ticks.max(1.0) };
            layers.extend(cuts.iter().map(|layer| self.layer(layer, share, ticks, standing)));
        }
        // Checking, and running the meetings, costs about as much whatever the plan.
        Plan { life, layers, cost: cost + if life == 0 { 0.0 } else { 6.0 } }
    }

    fn layer(&self, cut: &Cut, share: f64, life: f64, standing: bool) -> LayerPlan {
        let objects = self.objects as f64 * share * cut.share;
        let cells = objects / (self.density * share * cut.share * cut.edge.powi(3)).max(1.0);
        let side = cells.cbrt();
        // Tiles are long, since lines of cells are read in one go, and otherwise as thick as leaves enough of them for
        // about as many to fall due at every tick.
        let long = (side.log2().ceil()).clamp(2.0, 6.0) as u32;
        let thick =
            (0..4).rev().find(|&bits| standing || (side / f64::from(1 << bits)).powi(2) > life / 2.0).unwrap_or(0);
        // A little more than the sample has seen, for those it has not.
        LayerPlan {
            reach: (cut.reach * 1.03) as f32,
            edge: (cut.edge * 1.03) as f32,
            tile_bits: [long, thick, thick],
            standing,
        }
    }
}

/// A run of similar reaches.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Their share of all.
    share: f64,
    reach: f64,
    edge: f64,
}

/// Cuts ascending reaches into the runs that cost least, and says what an object costs then.
fn cut(reaches: &[f64], density: f64) -> (Vec<Cut>, f64) {
    let last = reaches.len();
    let mut ends = vec![last];
    let mut best = cost(reaches, &ends, density);
    while ends.len() < LAYERS {
        // Cuts are tried where the reach has grown by a fifth.
        let mut candidate: Option<(f64, Vec<usize>)> = None;
        let mut previous = 0.0;
        for end in 1..last {
            if reaches[end - 1] < previous * 1.2 || reaches[end - 1] == reaches[end] || ends.contains(&end) {
                continue;
            }
            previous = reaches[end - 1];
            let mut more = ends.clone();
            more.push(end);
            more.sort_unstable();
            let price = cost(reaches, &more, density);
            if candidate.as_ref().is_none_or(|(least, _)| price < *least) {
                candidate = Some((price, more));
            }
        }
        match candidate {
            Some((price, more)) if price < best * 0.9 => (best, ends) = (price, more),
            _ => break,
        }
    }
    (cuts(reaches, &ends, density), best)
}

fn cuts(reaches: &[f64], ends: &[usize], density: f64) -> Vec<Cut> {
    let mut start = 0;
    ends.iter()
        .map(|&end| {
            let share = (end - start) as f64 / reaches.len() as f64;
            let reach = reaches[end - 1];
            start = end;
            let roomy = (OCCUPANCY / (density * share).max(1e-30)).cbrt();
            Cut { share, reach, edge: (2.0 * reach).max(roomy) }
        })
        .collect()
}

/// What an object costs, on average: it is sorted once, and looks into every layer.
fn cost(reaches: &[f64], ends: &[usize], density: f64) -> f64 {
    let layers = cuts(reaches, ends, density);
    let mut sum = 0.0;
    for looker in &layers {
        let mut each = SORTING;
        for layer in &layers {
            let width = 2.0 * looker.reach + 2.0 * layer.reach + layer.edge;
            let lines = (width / layer.edge).powi(2);
            // Within a layer every pair is looked at once, from one of the two.
            let once = if layer.reach == looker.reach { 0.6 } else { 1.0 };
            each += LOOKING + once * (lines * LINE + density * layer.share * width.powi(3));
        }
        sum += looker.share * each;
    }
    sum
}
