//! The door of a server that is one of several: whoever says hello and is not known here is asked for among the others.
//!
//! Who has a key was in before: another server has the avatar, or is about to adopt it from one that died. So the others are
//! asked again and again for some seconds; whoever has it is where the user is sent. Who has none is new, and its name must
//! not be taken elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use space::{NodeId, Time};
use wire::cluster::{Seek, Sought};
use wire::{CloseReason, Hello, ToNode};

use super::Server;
use super::fleet::Fleet;
use crate::nickname::Nickname;
use cluster::Status;
use wire::LinkId;

/// What was asked and not found is asked again after so long, in microseconds.
const AGAIN_US: i64 = 200_000;
/// Somebody new waits for other servers no longer than this, in microseconds.
const NEW_US: i64 = 1_000_000;
/// A session that nobody has is looked for for so long, in microseconds: a dead server's users are adopted within that.
const LOST_US: i64 = 6_000_000;
/// One whose name somebody has is likely to be about to come: it is looked for for so long, in microseconds.
const NAMED_US: i64 = 20_000_000;
/// Where nothing has happened for so long, in microseconds, and everybody has answered some times, nobody will find it.
const CALM_US: i64 = 8_000_000;
/// See above.
const CALM_ASKS: u32 = 3;

/// Who stands at the door.
#[derive(Debug, Default)]
pub(super) struct Door {
    waiting: BTreeMap<u64, Waiting>,
    next: u64,
}

#[derive(Debug)]
struct Waiting {
    link: LinkId,
    hello: Hello,
    since: Time,
    asked_at: Option<Time>,
    asks: u32,
    answered: BTreeSet<NodeId>,
    is_taken: bool,
    found: Option<NodeId>,
}

impl Door {
    /// Another server has answered.
    pub(super) fn answered(&mut self, from: NodeId, sought: &Sought) {
        let Some(waiting) = self.waiting.get_mut(&sought.number) else { return };
        waiting.answered.insert(from);
        waiting.is_taken |= sought.is_taken;
        if sought.is_here {
            waiting.found = Some(from);
        }
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}

/// What is done about somebody at the door.
enum Verdict {
    Wait,
    Gone,
    Resume(NodeId),
    Redirect(NodeId),
    LetIn,
    Taken,
}

impl Server {
    /// Somebody says hello whom nobody here knows. False if that is all there is to know: this server is alone.
    pub(super) fn stand_at_door(&mut self, now: Time, link: LinkId, hello: &Hello) -> bool {
        let Some(fleet) = &mut self.fleet else { return false };
        let is_alone = fleet.cluster.status() == Status::Member && fleet.others().is_empty();
        if is_alone {
            return false;
        }
        let most = self.settings.limits.join_queue;
        if fleet.door.waiting.len() >= most {
            let sentence = format!("{most} users are looked for at other servers already. Try again in some seconds.");
            self.refuse(link, CloseReason::Full, sentence);
            return true;
        }
        if fleet.door.waiting.values().any(|waiting| waiting.link == link) {
            return true;
        }
        fleet.door.next += 1;
        let waiting = Waiting {
            link,
            hello: hello.clone(),
            since: now,
            asked_at: None,
            asks: 0,
            answered: BTreeSet::new(),
            is_taken: false,
            found: None,
        };
        fleet.door.waiting.insert(fleet.door.next, waiting);
        true
    }

    /// Asks about those at the door, and lets them in or sends them on.
    pub(super) fn mind_door(&mut self, now: Time, fleet: &mut Fleet) {
        let numbers: Vec<u64> = fleet.door.waiting.keys().copied().collect();
        for number in numbers {
            let verdict = self.judge(now, fleet, number);
            if let Verdict::Wait = verdict {
                // It has said hello: it is not silent.
                let link = fleet.door.waiting.get(&number).and_then(|waiting| self.links.get_mut(&waiting.link));
                link.into_iter().for_each(|link| link.opened = now);
                continue;
            }
            let Some(Waiting { link, hello, .. }) = fleet.door.waiting.remove(&number) else { continue };
            match verdict {
                Verdict::Wait | Verdict::Gone => {}
                Verdict::Resume(sender) => self.resume(now, link, sender),
                Verdict::Redirect(node) => {
                    if let Some(address) = fleet.address_of(node).map(str::to_owned) {
                        self.redirect(link, &address);
                    }
                }
                Verdict::LetIn => self.greet_new(now, link, &hello),
                Verdict::Taken => {
                    let sentence = format!("Somebody is called {} already; choose another name.", hello.nickname);
                    self.refuse(link, CloseReason::NicknameTaken, sentence);
                }
            }
        }
    }

    fn judge(&self, now: Time, fleet: &mut Fleet, number: u64) -> Verdict {
        let others = fleet.others();
        let is_member = fleet.cluster.status() == Status::Member;
        let is_calm = fleet.is_calm(now, CALM_US);
        let key = fleet.door.waiting.get(&number).and_then(|waiting| waiting.hello.resume);
        let is_arriving = key.is_some_and(|key| fleet.is_arriving(&key));
        let Some(waiting) = fleet.door.waiting.get_mut(&number) else { return Verdict::Gone };
        if self.links.get(&waiting.link).is_none_or(|link| link.session.is_some()) {
            return Verdict::Gone;
        }
        if let Some(sender) = key.and_then(|key| self.resumable(&key)) {
            return Verdict::Resume(sender);
        }
        if let Some(node) = waiting.found.take_if(|node| others.contains(node)) {
            return Verdict::Redirect(node);
        }
        if !is_member || is_arriving {
            return Verdict::Wait;
        }
        let has_all = !others.is_empty() && others.iter().all(|node| waiting.answered.contains(node));
        let waited = now - waiting.since;
        // A name that is kept here for somebody without a connection may be its own, and is free before long.
        let is_named = Nickname::new(&waiting.hello.nickname).is_ok_and(|name| self.names.contains_key(&name.key()));
        let is_over = match key {
            None => (has_all && waiting.asked_at.is_some()) || waited > NEW_US || others.is_empty(),
            Some(_) if waiting.is_taken || is_named => waited > NAMED_US,
            Some(_) => waited > LOST_US || (has_all && is_calm && waiting.asks >= CALM_ASKS),
        };
        if is_over {
            return if waiting.is_taken { Verdict::Taken } else { Verdict::LetIn };
        }
        if waiting.asked_at.is_none_or(|asked| now - asked >= AGAIN_US) {
            waiting.asked_at = Some(now);
            waiting.asks += u32::from(has_all || waiting.asks == 0);
            waiting.answered.clear();
            let name = waiting.hello.nickname.clone();
            for node in others {
                let seek = Seek { number, key, name: name.clone() };
                fleet.sends.push_back((node, ToNode::Seek(seek)));
            }
        }
        Verdict::Wait
    }

    /// What this server knows of somebody at another's door.
    pub(super) fn sought(&self, fleet: &Fleet, seek: &Seek) -> Sought {
        let name = Nickname::new(&seek.name).ok();
        Sought {
            number: seek.number,
            is_here: seek.key.is_some_and(|key| self.resumable(&key).is_some() || fleet.is_arriving(&key)),
            is_taken: name.is_some_and(|name| self.names.contains_key(&name.key())),
        }
    }
}
