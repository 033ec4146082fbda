//! Every object has one owner: at any time at most one host may move it.

use std::collections::BTreeMap;

use super::{Observed, Promise, Score};

/// No two hosts own one object, and who owns an object has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneOwner;

impl OneOwner {
    pub const NAME: &str = "every object has one owner";
}

impl Promise for OneOwner {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        let mut owners = BTreeMap::new();
        for owned in observed.owned.iter().flatten() {
            let before = owners.insert(owned.object, owned.host);
            score.check(before.is_none() && owned.is_right, || {
                let (object, host, now) = (owned.object, owned.host + 1, observed.now);
                format!("{now}: {object} is owned by host {host} and by {before:?}; that is right: {}", owned.is_right)
            });
        }
    }
}
