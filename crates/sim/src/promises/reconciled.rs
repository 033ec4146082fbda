//! A client has its own avatar where the server has it, as soon as all stand.

use std::collections::BTreeMap;

use space::{GridPoint, ObjectId};

use super::{Observed, Promise, Score};

/// When all have stood for a while, each undisturbed client knows to the grid step where its avatar is, and
/// predicts it there.
#[derive(Clone, Debug, Default)]
pub struct Reconciled {
    /// Where each avatar was, and since which tick: an avatar on a lift goes on moving.
    places: BTreeMap<ObjectId, (GridPoint, u64)>,
}

/// A prediction may be off by the skin in which the world stops, in metres.
const PREDICTED_MAX: f64 = 0.02;

impl Reconciled {
    pub const NAME: &str = "own avatars are reconciled";
}

impl Promise for Reconciled {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        let Some(avatars) = &observed.avatars else { return };
        let tick = observed.tick;
        let mut places = BTreeMap::new();
        for avatar in avatars {
            let since = match self.places.get(&avatar.object) {
                Some(&(at, since)) if at == avatar.at => since,
                _ => tick,
            };
            places.insert(avatar.object, (avatar.at, since));
            let has_stood = (tick - since) as i64 * observed.tick_us >= observed.patience_us;
            if !avatar.is_settled || !has_stood {
                continue;
            }
            let at = avatar.at.position().as_dvec3();
            let name = &avatar.name;
            let confirmed = avatar.confirmed.distance(at);
            score.check(confirmed == 0.0, || {
                format!("tick {tick}: {name} was confirmed {confirmed:.4} m from where it is")
            });
            let predicted = avatar.predicted.distance(at);
            score.check(predicted <= PREDICTED_MAX, || {
                format!("tick {tick}: {name} predicts itself {predicted:.4} m from where it is")
            });
        }
        self.places = places;
    }
}
