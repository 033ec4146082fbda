//! A client's own avatar is where the client thinks it is, as soon as nobody moves.

use std::collections::BTreeMap;

use space::{GridPoint, ObjectId};

use super::{Checker, Observed};
use crate::promise::Promise;

/// When all have stood for a while, each undisturbed client knows to the step where its avatar is, and predicts it there.
#[derive(Clone, Debug, Default)]
pub struct Reconciled {
    /// Where each own avatar was, and since which tick.
    places: BTreeMap<ObjectId, (GridPoint, u64)>,
}

/// A prediction may be off by the skin in which the world stops, in metres.
const PREDICTED_MAX: f64 = 0.02;

impl Checker for Reconciled {
    fn name(&self) -> &'static str {
        "own avatars are reconciled"
    }

    fn look(&mut self, observed: &mut Observed<'_>, promise: &mut Promise) {
        let Observed { tick, tick_us, now, settled_us, truth, is_rested, .. } = *observed;
        let mut places = BTreeMap::new();
        for state in observed.clients.iter() {
            let client = state.bot.client();
            let (Some(own), Some(welcome)) = (client.own(), client.welcome()) else { continue };
            let Some(avatar) = super::object(truth, welcome.own) else { continue };
            let since = match self.places.get(&avatar.id) {
                Some(&(at, since)) if at == avatar.at => since,
                _ => tick,
            };
            places.insert(avatar.id, (avatar.at, since));
            // Somebody on a lift goes on moving, and somebody disturbed cannot know.
            let has_stood = (tick - since) as i64 * tick_us >= settled_us;
            if !is_rested || !has_stood || !state.is_calm(now, settled_us) {
                continue;
            }
            let at = avatar.at.position().as_dvec3();
            let confirmed = own.confirmed().pos.distance(at);
            promise.check(confirmed == 0.0, || {
                format!("tick {tick}: {} was confirmed {confirmed:.4} m from where it is", state.name)
            });
            let predicted = own.predicted().pos.distance(at);
            promise.check(predicted <= PREDICTED_MAX, || {
                format!("tick {tick}: {} predicts itself {predicted:.4} m from where it is", state.name)
            });
        }
        self.places = places;
    }
}
