//! Explains why a listener is or is not told of a speaker: the distance, the aura, and the byte budget, as a sentence
//! and as numbers.
//!
//! Only a running server knows the budget and the priority. A journal holds inputs, from which the world can be
//! replayed; what was sent depends on connections, and is not kept.

use serde::{Deserialize, Serialize};
use server::UpdateStatus;
use space::ObjectId;
use world::{ObjectView, World};

/// The distances of hearing, in metres.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// The distance at which hearing begins.
    pub begins: f32,
    /// The larger distance at which it ends.
    pub ends: f32,
}

/// The hearing of a speaker by a listener after a tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    pub tick: u64,
    pub listener: String,
    pub speaker: String,
    /// The distance between their centres.
    pub distance_m: f32,
    /// The distance at which hearing begins.
    pub aura_m: f32,
    /// The distance at which hearing ends.
    pub aura_end_m: f32,
    /// Whether the listener is sent the speaker's state.
    pub is_heard: bool,
    /// `None` if it is not known, as from a journal, or if nothing is sent.
    pub budget: Option<BudgetReport>,
    /// The explanation in words.
    pub sentence: String,
}

/// How a tick spent the bytes of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetReport {
    /// Whether the listener is connected; if not, nothing is sent.
    pub is_connected: bool,
    /// The last tick that told the listener of the speaker.
    pub told_tick: u64,
    /// The last tick that changed the speaker's state.
    pub changed_tick: u64,
    /// Ticks since the speaker was told, divided by five metres plus its distance.
    pub priority: f32,
    /// The speaker's place among the bodies that had to wait: 1 is next.
    pub rank: Option<usize>,
    /// Bodies that this tick told.
    pub bodies_sent: usize,
    /// Bodies that had to wait.
    pub bodies_waiting: usize,
    /// The listener's budget of state per tick.
    pub bytes_per_tick: usize,
}

impl From<UpdateStatus> for BudgetReport {
    fn from(attention: UpdateStatus) -> BudgetReport {
        BudgetReport {
            is_connected: attention.is_connected,
            told_tick: attention.told,
            changed_tick: attention.changed,
            priority: attention.priority,
            rank: attention.rank,
            bodies_sent: attention.sent,
            bodies_waiting: attention.waiting,
            bytes_per_tick: attention.budget_bytes,
        }
    }
}

impl BudgetReport {
    /// The part of the sentence about the budget.
    fn clause(&self, tick: u64) -> String {
        let BudgetReport { told_tick, changed_tick, bodies_sent, bodies_waiting, bytes_per_tick, priority, .. } = self;
        match self.rank {
            _ if !self.is_connected => {
                format!("tick {told_tick} told of it, and nothing is sent while the connection is lost")
            }
            Some(rank) => format!(
                "it waits since tick {told_tick}, number {rank} of {bodies_waiting} that the {bytes_per_tick} bytes of \
                 tick {tick} had no room for after {bodies_sent} more urgent ones, with a priority of {priority:.2}"
            ),
            None if *told_tick == tick => {
                format!("tick {tick} told of it, one of {bodies_sent} within {bytes_per_tick} bytes")
            }
            None => format!("tick {told_tick} told of it, and it has not changed since tick {changed_tick}"),
        }
    }
}

/// What is known of a hearing besides the distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Evidence {
    /// Nothing: the distance decides.
    Unknown,
    /// From a replay: whether the speaker is heard, but not what was sent.
    Replayed(bool),
    /// From a server.
    Live(bool, Option<BudgetReport>),
}

/// Explains a hearing from the world and from the evidence.
pub fn explain(
    world: &World,
    reach: Reach,
    listener: &str,
    speaker: &str,
    known: Evidence,
) -> Result<Explanation, String> {
    let (one, other) = (find(world, listener)?, find(world, speaker)?);
    if one.id == other.id {
        return Err(format!("{} is one and the same; name two.", name(&one)));
    }
    let distance_m = one.position().distance(other.position());
    let Reach { begins, ends } = reach;
    let is_heard = match known {
        Evidence::Unknown => distance_m <= begins,
        Evidence::Replayed(is_heard) | Evidence::Live(is_heard, _) => is_heard,
    };
    let is_heard = is_heard && one.owner.is_some();
    let tick = world.tick().number();
    let budget = if let Evidence::Live(true, budget) = known { budget } else { None };
    let sent = match known {
        Evidence::Live(true, None) => "; it was not introduced yet, as newcomers are in portions".to_owned(),
        Evidence::Live(true, Some(budget)) => format!("; {}", budget.clause(tick)),
        Evidence::Replayed(true) => "; only the running server knew what was sent of it".to_owned(),
        _ => String::new(),
    };
    let (listener, speaker) = (name(&one), name(&other));
    let near = format!("they are {distance_m:.2} m apart");
    let sentence = if one.owner.is_none() {
        format!("{listener} is no user's avatar and is told nothing.")
    } else if is_heard && distance_m <= begins {
        format!("{listener} hears of {speaker}: {near}, within the aura of {begins} m{sent}.")
    } else if is_heard {
        format!(
            "{listener} hears of {speaker}: {near}, beyond the {begins} m where that began and within the {ends} m \
             where it ends{sent}."
        )
    } else if distance_m <= begins {
        format!(
            "{listener} does not hear of {speaker} yet, although {near}, within the aura of {begins} m: the next tick \
             tells."
        )
    } else {
        format!("{listener} does not hear of {speaker}: {near}, the aura ends at {begins} m.")
    };
    let (aura_m, aura_end_m) = (begins, ends);
    Ok(Explanation { tick, listener, speaker, distance_m, aura_m, aura_end_m, is_heard, budget, sentence })
}

/// The object with a nickname in any case, a name, or a number.
pub fn find<'a>(world: &'a World, who: &str) -> Result<ObjectView<'a>, String> {
    let key = who.trim().to_lowercase();
    let mut named = world.objects().filter(|object| !object.name.is_empty() && object.name.to_lowercase() == key);
    let by_number = || world.object(ObjectId::new(key.parse().ok()?)?);
    named.next().or_else(by_number).ok_or_else(|| {
        format!("Nobody is called {who:?} at tick {}; objects go by their name or number.", world.tick().number())
    })
}

fn name(object: &ObjectView<'_>) -> String {
    if object.name.is_empty() { object.id.to_string() } else { object.name.to_owned() }
}

#[cfg(test)]
mod tests {
    use space::{NodeId, Tick, Vec3};
    use world::{Act, Input, Plaza};

    use super::*;

    #[test]
    fn near_speakers_are_heard_and_far_ones_are_not() {
        let mut world = World::new(Plaza { seekers: 0, ..Plaza::default() }.spec()).unwrap();
        let join = |sender: u64, name: &str, x: f32| Input {
            sender: NodeId::new(sender),
            sequence: 1,
            made_for: Tick::new(1),
            act: Act::Join { name: name.into(), avatar: 0, at: Some(Vec3::new(x, 0.0, -14.0)) },
        };
        world.step(&[join(1, "Ann", 0.0), join(2, "Bob", 5.0), join(3, "Cat", 30.0)]);
        let reach = Reach { begins: 21.0, ends: 23.1 };
        let explain = |one: &str, other: &str, known| explain(&world, reach, one, other, known);
        let near = explain("ann", "BOB", Evidence::Unknown).unwrap();
        assert!(near.is_heard && near.distance_m < 21.0, "{near:?}");
        let far = explain("Ann", "Cat", Evidence::Unknown).unwrap();
        assert!(!far.is_heard && far.sentence.contains("does not hear of Cat"), "{far:?}");
        assert!(explain("Ann", "Bob", Evidence::Live(false, None)).unwrap().sentence.contains("the next tick tells"));
        assert!(explain("Ann", "Ann", Evidence::Unknown).is_err());
        assert!(explain("Ann", "Nobody", Evidence::Unknown).unwrap_err().contains("Nobody is called"));
        assert!(!explain("1", "Ann", Evidence::Live(true, None)).unwrap().is_heard, "a thing hears nothing");
        let replayed = explain("Ann", "Bob", Evidence::Replayed(true)).unwrap();
        assert!(
            replayed.sentence.contains("only the running server knew") && replayed.budget.is_none(),
            "{replayed:?}"
        );

        let budget = BudgetReport {
            is_connected: true,
            told_tick: 1,
            changed_tick: 1,
            priority: 0.5,
            rank: None,
            bodies_sent: 7,
            bodies_waiting: 3,
            bytes_per_tick: 100,
        };
        for (budget, expected) in [
            (budget, "tick 1 told of it, one of 7 within 100 bytes"),
            (BudgetReport { is_connected: false, ..budget }, "nothing is sent while the connection is lost"),
            (BudgetReport { told_tick: 0, changed_tick: 0, ..budget }, "has not changed since tick 0"),
            (
                BudgetReport { told_tick: 0, rank: Some(2), ..budget },
                "number 2 of 3 that the 100 bytes of tick 1 had no room",
            ),
        ] {
            let found = explain("Ann", "Bob", Evidence::Live(true, Some(budget))).unwrap();
            assert!(found.sentence.contains(expected), "{}", found.sentence);
            assert_eq!(found.budget, Some(budget));
        }
        assert!(explain("Ann", "Bob", Evidence::Live(true, None)).unwrap().sentence.contains("in portions"));
    }
}
