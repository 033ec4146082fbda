//! Nothing is sent of what is outside the aura, and what is sent is true.

use std::collections::BTreeMap;

use space::ObjectId;
use wire::{Handle, LinkId, ToClient};

use super::{Checker, Observed, SentBytes, distance, object};
use crate::promise::Promise;

/// Whatever the server says of an object, that object is within the listener's effective aura, and is just there.
#[derive(Clone, Debug, Default)]
pub struct Overheard {
    /// What each connection was told.
    told: BTreeMap<LinkId, Told>,
}

#[derive(Clone, Debug)]
struct Told {
    own: ObjectId,
    handles: BTreeMap<Handle, ObjectId>,
}

impl Checker for Overheard {
    fn name(&self) -> &'static str {
        "nothing but the truth is sent, and only within the aura"
    }

    fn look(&mut self, observed: &mut Observed<'_>, promise: &mut Promise) {
        for SentBytes { link, bytes, .. } in observed.sent {
            let message = match ToClient::decode(bytes) {
                Ok(message) => message,
                Err(error) => {
                    promise.check(false, || format!("tick {}: the server sent what is none: {error}", observed.tick));
                    continue;
                }
            };
            if let ToClient::Welcome(welcome) = &message {
                self.told.insert(*link, Told { own: welcome.own, handles: BTreeMap::new() });
            }
            if let Some(told) = self.told.get_mut(link) {
                told.follow(&message, observed, promise);
            }
        }
    }
}

impl Told {
    fn follow(&mut self, message: &ToClient, observed: &Observed<'_>, promise: &mut Promise) {
        let tick = observed.tick;
        let listener = object(observed.truth, self.own).map(|own| own.at);
        let is_near = |id: ObjectId, promise: &mut Promise| {
            let metres = match (listener, object(observed.truth, id)) {
                (Some(listener), Some(other)) => distance(listener, other.at),
                _ => f64::INFINITY,
            };
            promise.check(metres <= f64::from(observed.reach_max) + 0.001, || {
                format!("tick {tick}: the owner of {} was told of {id}, {metres:.2} m away", self.own)
            });
        };
        match message {
            ToClient::Roster(roster) => {
                for handle in &roster.left {
                    let was_known = self.handles.remove(handle).is_some();
                    promise.check(was_known, || format!("tick {tick}: {handle:?} left and had never entered"));
                }
                for entered in &roster.entered {
                    is_near(entered.object, promise);
                    let is_free = self.handles.insert(entered.handle, entered.object).is_none();
                    promise.check(is_free, || format!("tick {tick}: {:?} means two objects", entered.handle));
                }
            }
            ToClient::State(state) => {
                let is_own = listener == Some(state.head.anchor);
                promise.check(is_own, || format!("tick {tick}: {} was told that it is elsewhere", self.own));
                for (handle, body) in &state.bodies {
                    let Some(id) = self.handles.get(handle).copied() else {
                        promise.check(false, || format!("tick {tick}: {handle:?} means nobody"));
                        continue;
                    };
                    is_near(id, promise);
                    let is_true = object(observed.truth, id)
                        .is_some_and(|truth| truth.at == body.place && truth.turn == body.turn);
                    promise.check(is_true, || {
                        let truth = object(observed.truth, id).map(|truth| (truth.at, truth.turn));
                        format!("tick {tick}: {id} is at {truth:?}, and {:?} was sent", (body.place, body.turn))
                    });
                }
            }
            ToClient::Said { speaker: Some(speaker), .. } if *speaker != self.own => is_near(*speaker, promise),
            _ => {}
        }
    }
}
