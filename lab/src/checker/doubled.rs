//! Nobody is there twice, however often they come back.

use std::collections::{BTreeMap, BTreeSet};

use space::ObjectId;
use wire::ToClient;

use super::{Checker, Observed, object};
use crate::promise::Promise;

/// One avatar per user and name; whoever resumes gets the one it had.
#[derive(Clone, Debug, Default)]
pub struct Doubled {
    owned: BTreeMap<String, ObjectId>,
}

impl Checker for Doubled {
    fn name(&self) -> &'static str {
        "no avatar is doubled"
    }

    fn look(&mut self, observed: &mut Observed<'_>, promise: &mut Promise) {
        let (mut owners, mut names) = (BTreeSet::new(), BTreeSet::new());
        for avatar in observed.truth.iter().filter(|object| object.owner.is_some()) {
            let is_first = owners.insert(avatar.owner) & names.insert(avatar.name.to_lowercase());
            promise.check(is_first, || format!("tick {}: {} is there twice", observed.tick, avatar.name));
        }
        for sent in observed.sent {
            let Ok(ToClient::Welcome(welcome)) = ToClient::decode(&sent.bytes) else { continue };
            let before = self.owned.insert(welcome.nickname.clone(), welcome.own);
            let is_same = before.is_none_or(|before| before == welcome.own);
            // Somebody new of the same name is fine once the first is gone. What it was may be somebody else's: a crash forgets
            // who came in its last moments, and their numbers are free again.
            let is_gone = |before| object(observed.truth, before).is_none_or(|other| other.name != welcome.nickname);
            let is_fine = is_same || !welcome.is_resumed && before.is_none_or(is_gone);
            promise.check(is_fine, || {
                format!("tick {}: {} had {before:?} and was given {}", observed.tick, welcome.nickname, welcome.own)
            });
        }
    }
}
