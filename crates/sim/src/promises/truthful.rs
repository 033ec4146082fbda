//! A server sends nothing but the truth, and only what is within the listener's area of interest.

use std::collections::BTreeMap;

use space::ObjectId;
use wire::{Endpoint, Handle, ToClient};

use super::{Observed, Promise, Score, SeenServer, SentBytes, distance, object};

/// What a server says of an object is so, and the object is within the listener's area of
/// interest, hysteresis included.
#[derive(Clone, Debug, Default)]
pub struct Truthful {
    listeners: BTreeMap<Endpoint, Told>,
}

/// What the handles of one connection mean.
#[derive(Clone, Debug)]
struct Told {
    own: ObjectId,
    handles: BTreeMap<Handle, ObjectId>,
}

impl Truthful {
    pub const NAME: &str = "nothing but the truth is sent, and only within an area of interest";
}

impl Promise for Truthful {
    fn look(&mut self, observed: &Observed<'_>, score: &mut Score) {
        let Some(server) = &observed.server else { return };
        for SentBytes { endpoint, bytes, .. } in server.sent {
            let message = match ToClient::decode(bytes) {
                Ok(message) => message,
                Err(error) => {
                    score.check(false, || format!("tick {}: the server sent no message: {error}", observed.tick));
                    continue;
                }
            };
            if let ToClient::Welcome(welcome) = &message {
                self.listeners.insert(*endpoint, Told { own: welcome.own, handles: BTreeMap::new() });
            }
            if let Some(told) = self.listeners.get_mut(endpoint) {
                told.follow(&message, observed.tick, server, score);
            }
        }
    }
}

impl Told {
    fn follow(&mut self, message: &ToClient, tick: u64, server: &SeenServer<'_>, score: &mut Score) {
        let own = self.own;
        let listener = object(&server.objects, own).map(|own| own.at);
        let is_near = |id: ObjectId, score: &mut Score| {
            let metres = match (listener, object(&server.objects, id)) {
                (Some(listener), Some(other)) => distance(listener, other.at),
                _ => f64::INFINITY,
            };
            score.check(metres <= f64::from(server.reach_max) + 0.001, || {
                format!("tick {tick}: the owner of {own} was told of {id}, {metres:.2} m away")
            });
        };
        match message {
            ToClient::Roster(roster) => {
                for handle in &roster.left {
                    let was_known = self.handles.remove(handle).is_some();
                    score.check(was_known, || format!("tick {tick}: {handle:?} left and had never entered"));
                }
                for entered in &roster.entered {
                    is_near(entered.object, score);
                    let is_free = self.handles.insert(entered.handle, entered.object).is_none();
                    score.check(is_free, || format!("tick {tick}: {:?} means two objects", entered.handle));
                }
            }
            ToClient::State(state) => {
                let is_own = listener == Some(state.head.anchor);
                score.check(is_own, || format!("tick {tick}: {own} was told that it is elsewhere"));
                for (handle, body) in &state.bodies {
                    let Some(id) = self.handles.get(handle).copied() else {
                        score.check(false, || format!("tick {tick}: {handle:?} means no object"));
                        continue;
                    };
                    is_near(id, score);
                    let truth = object(&server.objects, id).map(|truth| (truth.at, truth.turn));
                    score.check(truth == Some((body.place, body.turn)), || {
                        format!("tick {tick}: {id} is at {truth:?}, and {:?} was sent", (body.place, body.turn))
                    });
                }
            }
            ToClient::Said { speaker: Some(speaker), .. } if *speaker != own => is_near(*speaker, score),
            _ => {}
        }
    }
}
