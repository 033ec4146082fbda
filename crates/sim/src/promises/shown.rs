//! A client shows others no farther from the truth than what it last heard allows.

use std::collections::BTreeMap;

use space::ObjectId;

use super::{Observed, Promise, Score};

/// The error of every object shown is within a bound that grows with the age of what was heard. The errors of
/// avatars are measured.
#[derive(Clone, Debug, Default)]
pub struct ShownClose {
    /// How old what was heard has been in the last ticks: a correction is not shown at once.
    ages: BTreeMap<(usize, ObjectId), [f64; BLEND_TICKS]>,
}

/// The fastest that anything moves here, in metres per second: a ball that is thrown.
const SPEED_MAX: f64 = 12.0;
/// An update is shown in full after this many ticks.
const BLEND_TICKS: usize = 5;
/// What convergence and rounding add, in metres.
const SLACK: f64 = 0.3;

impl ShownClose {
    pub const NAME: &str = "shown errors are within their bound";
}

impl Promise for ShownClose {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        let Some(pictures) = &observed.pictures else { return };
        let mut ages = BTreeMap::new();
        for picture in pictures {
            let key = (picture.client, picture.object);
            let mut recent = self.ages.get(&key).copied().unwrap_or([picture.age_s; BLEND_TICKS]);
            recent.rotate_right(1);
            recent[0] = picture.age_s;
            ages.insert(key, recent);
            let age_s = recent.into_iter().fold(0.0, f64::max);
            let error = picture.shown.distance(picture.at.position().as_dvec3());
            // What was predicted and what is true may go opposite ways.
            let bound = SLACK + 2.0 * SPEED_MAX * (age_s + 0.1);
            score.check(error <= bound, || {
                let (client, object, shown) = (picture.client, picture.object, picture.shown);
                format!(
                    "tick {}: client {client} shows {object} at {shown:.2}, {error:.2} m from where it is; heard \
                     {age_s:.2} s ago, that is more than {bound:.2} m",
                    observed.tick
                )
            });
            if picture.is_avatar {
                score.measure(error);
            }
        }
        self.ages = ages;
    }
}
