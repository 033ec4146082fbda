//! Why somebody is or is not told of somebody else: the distance, the aura, and whether they are heard, as a sentence
//! and as numbers.

use serde::{Deserialize, Serialize};
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
    /// All that in words.
    pub sentence: String,
}

/// Explains. `is_heard` is what is known, or none if only the rule is.
pub fn explain(
    world: &World,
    reach: Reach,
    listener: &str,
    speaker: &str,
    is_heard: Option<bool>,
) -> Result<Explanation, String> {
    let (one, other) = (find(world, listener)?, find(world, speaker)?);
    if one.id == other.id {
        return Err(format!("{} is one and the same; name two.", name(&one)));
    }
    let distance_m = one.position().distance(other.position());
    let Reach { begins, ends } = reach;
    let is_heard = is_heard.unwrap_or(distance_m <= begins) && one.owner.is_some();
    let (listener, speaker) = (name(&one), name(&other));
    let near = format!("they are {distance_m:.2} m apart");
    let sentence = if one.owner.is_none() {
        format!("{listener} is nobody's avatar and is told nothing.")
    } else if is_heard && distance_m <= begins {
        format!("{listener} hears of {speaker}: {near}, within the aura of {begins} m.")
    } else if is_heard {
        format!(
            "{listener} hears of {speaker}: {near}, beyond the {begins} m where that began and within the {ends} m where it ends."
        )
    } else if distance_m <= begins {
        format!(
            "{listener} does not hear of {speaker} yet, although {near}, within the aura of {begins} m: newcomers are told of in portions."
        )
    } else {
        format!("{listener} does not hear of {speaker}: {near}, the aura ends at {begins} m.")
    };
    let tick = world.tick().number();
    Ok(Explanation { tick, listener, speaker, distance_m, aura_m: begins, aura_end_m: ends, is_heard, sentence })
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
        let near = explain(&world, reach, "ann", "BOB", None).unwrap();
        assert!(near.is_heard && near.distance_m < 21.0, "{near:?}");
        let far = explain(&world, reach, "Ann", "Cat", None).unwrap();
        assert!(!far.is_heard && far.sentence.contains("does not hear of Cat"), "{far:?}");
        assert!(explain(&world, reach, "Ann", "Bob", Some(false)).unwrap().sentence.contains("in portions"));
        assert!(explain(&world, reach, "Ann", "Ann", None).is_err());
        assert!(explain(&world, reach, "Ann", "Nobody", None).unwrap_err().contains("Nobody is called"));
        assert!(!explain(&world, reach, "1", "Ann", None).unwrap().is_heard, "a thing hears nothing");
    }
}
