//! Why somebody is or is not told of somebody else: the distance, the aura, whether they are heard, and what the budget
//! had room for; as a sentence and as numbers.
//!
//! Budget and priority are known to a running server alone. A journal holds what users asked for, and from that the world
//! can be made again; what was sent to whom depends on when connections stood and what they took in, and is not kept.

use serde::{Deserialize, Serialize};
use server::UpdateStatus;
use space::ObjectId;
use world::{ObjectView, World};

/// How far one hears, in metres.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Where hearing begins.
    pub begins: f32,
    /// Where it ends, for who is heard.
    pub ends: f32,
}

/// What is to be known about a listener and a speaker at one tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// After which tick.
    pub tick: u64,
    /// Who hears, or not.
    pub listener: String,
    /// Who is heard, or not.
    pub speaker: String,
    /// Metres between their centres.
    pub distance_m: f32,
    /// Up to where one begins to be heard.
    pub aura_m: f32,
    /// Up to where one goes on being heard.
    pub aura_end_m: f32,
    /// Whether the speaker's state is among what the listener is sent.
    pub is_heard: bool,
    /// What a tick's bytes had room for; none if that is not known, as from a journal, or if nothing is sent.
    pub budget: Option<Budget>,
    /// All that in words.
    pub sentence: String,
}

/// What a tick's bytes had room for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Whether the listener's connection stands; if not, nothing is sent.
    pub is_connected: bool,
    /// The last tick that told the listener of the speaker.
    pub told_tick: u64,
    /// The last tick that changed anything about the speaker.
    pub changed_tick: u64,
    /// How urgent the speaker is: ticks since it was told, divided by five metres and its distance.
    pub priority: f32,
    /// If the speaker had to wait, its place among all that had to: 1 is next.
    pub rank: Option<usize>,
    /// Bodies that the listener was told of in this tick.
    pub bodies_sent: usize,
    /// Bodies that had to wait for another.
    pub bodies_waiting: usize,
    /// Bytes of state that the listener gets per tick.
    pub bytes_per_tick: usize,
}

impl From<UpdateStatus> for Budget {
    fn from(attention: UpdateStatus) -> Budget {
        Budget {
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

impl Budget {
    /// What became of the speaker in a tick.
    fn clause(&self, tick: u64) -> String {
        let Budget { told_tick, changed_tick, bodies_sent, bodies_waiting, bytes_per_tick, priority, .. } = self;
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

/// What is known of a hearing beyond where both are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hearing {
    /// Nothing: only the rule.
    Unknown,
    /// A journal was played again: whether one is heard, but not what was sent.
    Replayed(bool),
    /// A server says so.
    Live(bool, Option<Budget>),
}

/// Explains, from where both are and from what else is known.
pub fn explain(
    world: &World,
    reach: Reach,
    listener: &str,
    speaker: &str,
    known: Hearing,
) -> Result<Explanation, String> {
    let (one, other) = (find(world, listener)?, find(world, speaker)?);
    if one.id == other.id {
        return Err(format!("{} is one and the same; name two.", name(&one)));
    }
    let distance_m = one.position().distance(other.position());
    let Reach { begins, ends } = reach;
    let is_heard = match known {
        Hearing::Unknown => distance_m <= begins,
        Hearing::Replayed(is_heard) | Hearing::Live(is_heard, _) => is_heard,
    };
    let is_heard = is_heard && one.owner.is_some();
    let tick = world.tick().number();
    let budget = if let Hearing::Live(true, budget) = known { budget } else { None };
    let sent = match known {
        Hearing::Live(true, None) => "; it was not introduced yet, as newcomers are in portions".to_owned(),
        Hearing::Live(true, Some(budget)) => format!("; {}", budget.clause(tick)),
        Hearing::Replayed(true) => "; what was sent of it, only the server knew while it ran".to_owned(),
        _ => String::new(),
    };
    let (listener, speaker) = (name(&one), name(&other));
    let near = format!("they are {distance_m:.2} m apart");
    let sentence = if one.owner.is_none() {
        format!("{listener} is nobody's avatar and is told nothing.")
    } else if is_heard && distance_m <= begins {
        format!("{listener} hears of {speaker}: {near}, within the aura of {begins} m{sent}.")
    } else if is_heard {
        format!(
            "{listener} hears of {speaker}: {near}, beyond the {begins} m where that began and within the {ends} m where it ends{sent}."
        )
    } else if distance_m <= begins {
        format!(
            "{listener} does not hear of {speaker} yet, although {near}, within the aura of {begins} m: the next tick tells."
        )
    } else {
        format!("{listener} does not hear of {speaker}: {near}, the aura ends at {begins} m.")
    };
    let (aura_m, aura_end_m) = (begins, ends);
    Ok(Explanation { tick, listener, speaker, distance_m, aura_m, aura_end_m, is_heard, budget, sentence })
}

/// Who is meant: a nickname, whatever its case, the name of an object, or its number.
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
    fn who_is_near_is_heard_and_who_is_far_is_not() {
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
        let near = explain("ann", "BOB", Hearing::Unknown).unwrap();
        assert!(near.is_heard && near.distance_m < 21.0, "{near:?}");
        let far = explain("Ann", "Cat", Hearing::Unknown).unwrap();
        assert!(!far.is_heard && far.sentence.contains("does not hear of Cat"), "{far:?}");
        assert!(explain("Ann", "Bob", Hearing::Live(false, None)).unwrap().sentence.contains("the next tick tells"));
        assert!(explain("Ann", "Ann", Hearing::Unknown).is_err());
        assert!(explain("Ann", "Nobody", Hearing::Unknown).unwrap_err().contains("Nobody is called"));
        assert!(!explain("1", "Ann", Hearing::Live(true, None)).unwrap().is_heard, "a thing hears nothing");
        let replayed = explain("Ann", "Bob", Hearing::Replayed(true)).unwrap();
        assert!(replayed.sentence.contains("only the server knew") && replayed.budget.is_none(), "{replayed:?}");

        let budget = Budget {
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
            (Budget { is_connected: false, ..budget }, "nothing is sent while the connection is lost"),
            (Budget { told_tick: 0, changed_tick: 0, ..budget }, "has not changed since tick 0"),
            (
                Budget { told_tick: 0, rank: Some(2), ..budget },
                "number 2 of 3 that the 100 bytes of tick 1 had no room",
            ),
        ] {
            let found = explain("Ann", "Bob", Hearing::Live(true, Some(budget))).unwrap();
            assert!(found.sentence.contains(expected), "{}", found.sentence);
            assert_eq!(found.budget, Some(budget));
        }
        assert!(explain("Ann", "Bob", Hearing::Live(true, None)).unwrap().sentence.contains("in portions"));
    }
}
