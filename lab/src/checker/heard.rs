//! Everybody within the aura is heard, soon; whoever has gone is forgotten, soon.

use std::collections::{BTreeMap, BTreeSet};

use space::ObjectId;
use world::Kind;

use super::{Checker, Observed, distance};
use crate::promise::Promise;

/// Whoever has been within a client's aura for long enough, while the client was undisturbed, is known to it.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// Since which tick somebody is within, or out of, a client's hearing.
    within: BTreeMap<(usize, ObjectId), u64>,
    beyond: BTreeMap<(usize, ObjectId), u64>,
}

impl Checker for Heard {
    fn name(&self) -> &'static str {
        "all in aura are heard"
    }

    fn look(&mut self, observed: &mut Observed<'_>, promise: &mut Promise) {
        let Observed { tick, tick_us, now, reach, reach_max, settled_us, truth, .. } = *observed;
        let (mut within, mut beyond) = (BTreeMap::new(), BTreeMap::new());
        let patience = settled_us / tick_us;
        for (index, state) in observed.clients.iter().enumerate() {
            let client = state.bot.client();
            let Some(own) = client.welcome().map(|welcome| welcome.own) else { continue };
            let Some(listener) = super::object(truth, own) else { continue };
            let known: BTreeSet<ObjectId> = client.others().iter().map(|(_, other)| other.entered.object).collect();
            let is_calm = state.is_calm(now, settled_us);
            for other in truth.iter().filter(|other| other.kind != Kind::Fixed && other.id != own) {
                let metres = distance(listener.at, other.at);
                if metres < f64::from(reach) - 0.001 {
                    let since = self.within.get(&(index, other.id)).copied().unwrap_or(tick);
                    within.insert((index, other.id), since);
                    if is_calm && (tick - since) as i64 > patience {
                        promise.check(known.contains(&other.id), || {
                            format!(
                                "tick {tick}: {} has been {metres:.2} m from {} since tick {since} and is not heard",
                                other.id, state.name
                            )
                        });
                    }
                }
            }
            for id in known {
                let metres = super::object(truth, id).map_or(f64::INFINITY, |other| distance(listener.at, other.at));
                if metres > f64::from(reach_max) + 0.001 {
                    let since = self.beyond.get(&(index, id)).copied().unwrap_or(tick);
                    beyond.insert((index, id), since);
                    if is_calm && (tick - since) as i64 > patience {
                        promise.check(false, || {
                            format!("tick {tick}: {} is {metres:.2} m from {id} and still knows it", state.name)
                        });
                    }
                }
            }
        }
        (self.within, self.beyond) = (within, beyond);
    }
}
