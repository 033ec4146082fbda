//! Finds the server of a cluster that has the session of a user who says hello.
//!
//! A user with a resume key was in before: another server has the avatar, or is about to adopt it from one that died.
//! So the others are asked again and again for some seconds, and the user is redirected to the one that has it. A user
//! without a key is new, and its nickname must not be taken at another server.

use std::collections::{BTreeMap, BTreeSet};

use cluster::Status;
use space::{NodeId, Time};
use wire::cluster::{Seek, Sought};
use wire::{CloseReason, LinkId, ToNode};

use crate::Server;
use crate::nickname::Nickname;
use crate::receive::Greeting;

/// The other servers are asked again after this time.
const AGAIN_US: i64 = 200_000;
/// A new user waits this long, at most, for the answers of other servers.
const NEW_US: i64 = 1_000_000;
/// A session that no server has is sought for this long: a dead server's users are adopted within that time.
const LOST_US: i64 = 6_000_000;
/// If a server has this nickname, its session is probably still being handed over: it is sought for this long.
const NAMED_US: i64 = 20_000_000;
/// A session that no server had in `CALM_ASKS` complete rounds, while the cluster was calm for this long, is given up.
const CALM_US: i64 = 8_000_000;
const CALM_ASKS: u32 = 3;

/// Users whose sessions are sought at other servers.
#[derive(Debug, Default)]
pub(crate) struct Seeking {
    waiting: BTreeMap<u64, Waiting>,
    next: u64,
}

#[derive(Debug)]
struct Waiting {
    link: LinkId,
    greeting: Greeting,
    since: Time,
    asked_at: Option<Time>,
    asks: u32,
    answered: BTreeSet<NodeId>,
    is_taken: bool,
    found: Option<NodeId>,
}

impl Seeking {
    /// Takes note of another server's answer.
    pub fn answered(&mut self, from: NodeId, sought: &Sought) {
        let Some(waiting) = self.waiting.get_mut(&sought.number) else { return };
        waiting.answered.insert(from);
        waiting.is_taken |= sought.is_taken;
        if sought.is_here {
            waiting.found = Some(from);
        }
    }

    /// How many users wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }
}

/// What to do about a waiting user.
enum Next {
    Wait,
    Drop,
    Resume(NodeId),
    Redirect(NodeId),
    LetIn,
    RefuseTaken,
}

impl Server {
    /// Whether other servers may have the session of a user that this one does not know.
    pub(crate) fn has_others(&self) -> bool {
        let is_only =
            |shared: &crate::shared::Shared| shared.cluster.status() == Status::Member && shared.others().is_empty();
        self.truth.shared().is_some_and(|shared| !is_only(shared))
    }

    /// Begins to ask the other servers about a user that this one does not know.
    pub(crate) fn seek_elsewhere(&mut self, now: Time, link: LinkId, greeting: Greeting) {
        let Some(shared) = self.truth.shared_mut() else { return };
        let (seeking, most) = (&mut shared.seeking, self.settings.limits.join_queue);
        if seeking.waiting.len() >= most {
            let sentence = format!("{most} users are looked for at other servers already. Try again in some seconds.");
            return self.refuse(link, CloseReason::Full, sentence);
        }
        if seeking.waiting.values().any(|waiting| waiting.link == link) {
            return;
        }
        seeking.next += 1;
        let waiting = Waiting {
            link,
            greeting,
            since: now,
            asked_at: None,
            asks: 0,
            answered: BTreeSet::new(),
            is_taken: false,
            found: None,
        };
        seeking.waiting.insert(seeking.next, waiting);
    }

    /// Asks about waiting users, and lets them in or redirects them once the answer is known.
    pub(crate) fn look_after_seeking(&mut self, now: Time) {
        let Some(shared) = self.truth.shared() else { return };
        let numbers: Vec<u64> = shared.seeking.waiting.keys().copied().collect();
        for number in numbers {
            let next = self.next_for(now, number);
            let Some(shared) = self.truth.shared_mut() else { return };
            if let Next::Wait = next {
                // It has said hello: it is not silent.
                let link = shared.seeking.waiting.get(&number).map(|waiting| waiting.link);
                link.and_then(|link| self.links.get_mut(&link)).into_iter().for_each(|link| link.opened = now);
                continue;
            }
            let Some(Waiting { link, greeting, .. }) = shared.seeking.waiting.remove(&number) else { continue };
            match next {
                Next::Wait | Next::Drop => {}
                Next::Resume(sender) => self.resume(now, link, sender),
                Next::Redirect(node) => {
                    if let Some(address) = shared.address_of(node).map(str::to_owned) {
                        self.redirect(link, &address);
                    }
                }
                Next::LetIn => self.greet_new(now, link, greeting),
                Next::RefuseTaken => self.refuse_taken(link, &greeting.hello.nickname),
            }
        }
    }

    fn next_for(&mut self, now: Time, number: u64) -> Next {
        let Some(shared) = self.truth.shared() else { return Next::Drop };
        let Some(waiting) = shared.seeking.waiting.get(&number) else { return Next::Drop };
        let (others, key) = (shared.others(), waiting.greeting.hello.resume);
        if self.links.get(&waiting.link).is_none_or(|link| link.session.is_some()) {
            return Next::Drop;
        }
        if let Some(sender) = key.and_then(|key| self.resumable(&key)) {
            return Next::Resume(sender);
        }
        let is_member = shared.cluster.status() == Status::Member;
        let is_calm = shared.is_calm(now, CALM_US);
        let is_arriving = key.is_some_and(|key| shared.is_arriving(&key));
        // A nickname that is kept here for a session without a link may be the user's own, and is free before long.
        let is_named = waiting.greeting.nickname.as_ref().is_ok_and(|name| self.names.contains_key(&name.key()));
        let Some(shared) = self.truth.shared_mut() else { return Next::Drop };
        let Some(waiting) = shared.seeking.waiting.get_mut(&number) else { return Next::Drop };
        if let Some(node) = waiting.found.take_if(|node| others.contains(node)) {
            return Next::Redirect(node);
        }
        if !is_member || is_arriving {
            return Next::Wait;
        }
        let has_all = !others.is_empty() && others.iter().all(|node| waiting.answered.contains(node));
        let waited = now - waiting.since;
        let is_over = match key {
            None => (has_all && waiting.asked_at.is_some()) || waited > NEW_US || others.is_empty(),
            Some(_) if waiting.is_taken || is_named => waited > NAMED_US,
            Some(_) => waited > LOST_US || (has_all && is_calm && waiting.asks >= CALM_ASKS),
        };
        if is_over {
            return if waiting.is_taken { Next::RefuseTaken } else { Next::LetIn };
        }
        if waiting.asked_at.is_none_or(|asked| now - asked >= AGAIN_US) {
            waiting.asked_at = Some(now);
            waiting.asks += u32::from(has_all || waiting.asks == 0);
            waiting.answered.clear();
            let name = waiting.greeting.hello.nickname.clone();
            for node in others {
                shared.send(node, ToNode::Seek(Seek { number, key, name: name.clone() }));
            }
        }
        Next::Wait
    }

    /// Answers whether this server has the session or the nickname that another one seeks.
    pub(crate) fn answer_seek(&mut self, to: NodeId, seek: &Seek) {
        let Some(shared) = self.truth.shared() else { return };
        let name = Nickname::new(&seek.name).ok();
        let sought = Sought {
            number: seek.number,
            is_here: seek.key.is_some_and(|key| self.resumable(&key).is_some() || shared.is_arriving(&key)),
            is_taken: name.is_some_and(|name| self.names.contains_key(&name.key())),
        };
        self.truth.shared_mut().into_iter().for_each(|shared| shared.send(to, ToNode::Sought(sought)));
    }
}
