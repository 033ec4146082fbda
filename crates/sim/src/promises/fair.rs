//! A participant that follows the rules is served, whatever others do.

use std::collections::{BTreeMap, BTreeSet};

use super::{Observed, Promise, Score};

/// None that follows the rules is sent away for misbehaving, silence or slowness, and none is told what cannot be.
#[derive(Clone, Debug, Default)]
pub struct Fair {
    complaints: BTreeMap<usize, u64>,
    sent_away: BTreeSet<(usize, String)>,
}

impl Fair {
    pub const NAME: &str = "who follows the rules is served and understood";
}

impl Promise for Fair {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        for treated in &observed.treated {
            let (name, now) = (&treated.name, observed.now);
            let before = self.complaints.insert(treated.host, treated.complaints).unwrap_or_default();
            let more = treated.complaints.saturating_sub(before);
            score.check(more == 0, || format!("{now}: {name} took {more} messages for wrong"));
            if let Some(why) = &treated.sent_away
                && self.sent_away.insert((treated.host, why.clone()))
            {
                score.check(false, || format!("{now}: {name} was sent away: {why}"));
            }
        }
    }
}
