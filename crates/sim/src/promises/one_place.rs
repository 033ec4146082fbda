//! A server tells one place of an object per tick, to all its users.

use super::{Observed, Promise, Score};

/// No two users are told different places of one object for one tick, nor two handles of one object.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnePlace;

impl OnePlace {
    pub const NAME: &str = "an object has one place per tick";
}

impl Promise for OnePlace {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        score.checks += observed.places_told;
        for contradiction in &observed.contradictions {
            score.check(false, || contradiction.clone());
        }
    }
}
