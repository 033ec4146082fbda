//! No user is there twice, however often they come back.

use std::collections::{BTreeMap, BTreeSet};

use space::ObjectId;
use wire::ToClient;

use super::{Observed, Promise, Score, object};

/// One avatar per user and name; a session that resumes has the avatar that it had.
#[derive(Clone, Debug, Default)]
pub struct Doubled {
    owned: BTreeMap<String, ObjectId>,
}

impl Doubled {
    pub const NAME: &str = "no avatar is doubled";
}

impl Promise for Doubled {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        let Some(server) = &observed.server else { return };
        let tick = observed.tick;
        let (mut owners, mut names) = (BTreeSet::new(), BTreeSet::new());
        for avatar in server.objects.iter().filter(|object| object.owner.is_some()) {
            let is_first = owners.insert(avatar.owner) & names.insert(avatar.name.to_lowercase());
            score.check(is_first, || format!("tick {tick}: {} is there twice", avatar.name));
        }
        for sent in server.sent {
            let Ok(ToClient::Welcome(welcome)) = ToClient::decode(&sent.bytes) else { continue };
            let before = self.owned.insert(welcome.nickname.clone(), welcome.own);
            let is_same = before.is_none_or(|before| before == welcome.own);
            // A new user of the same name is fine once the first is gone. The object's number may have a new object: a
            // crash forgets who came in its last moments, and their numbers are free again.
            let is_gone = |before| object(&server.objects, before).is_none_or(|other| other.name != welcome.nickname);
            let is_fine = is_same || !welcome.is_resumed && before.is_none_or(is_gone);
            score.check(is_fine, || {
                format!("tick {tick}: {} had {before:?} and was given {}", welcome.nickname, welcome.own)
            });
        }
    }
}
