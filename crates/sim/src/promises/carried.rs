//! A user that carries something keeps it across the borders of a cluster.

use std::collections::BTreeMap;

use space::{NodeId, ObjectId, Time};

use super::{Observed, Promise, Score};

/// No user lets go in these worlds: what an object carried at one node it carries at the next, unless something went
/// wrong since it was last seen. An object that is adopted from a copy has empty hands.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// Carrier, load, where and when.
    carriers: BTreeMap<ObjectId, (ObjectId, NodeId, Time)>,
}

impl Carried {
    pub const NAME: &str = "what is carried stays carried across borders";
}

impl Promise for Carried {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        for carrier in &observed.carriers {
            if let Some(&(load, before, at)) = self.carriers.get(&carrier.object)
                && before != carrier.node
                && observed.well_since < at
            {
                score.check(carrier.load == Some(load), || {
                    let now = observed.now;
                    format!("{now}: {} carried {load} at {before}, and now {:?}", carrier.object, carrier.load)
                });
            }
            match carrier.load {
                Some(load) => drop(self.carriers.insert(carrier.object, (load, carrier.node, observed.now))),
                None => drop(self.carriers.remove(&carrier.object)),
            }
        }
    }
}
