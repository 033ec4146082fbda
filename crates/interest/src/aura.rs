//! How far an object hears, and how far it is heard.

use space::{Slot, Spheres, SpheresError};

/// An object's aura: its *focus* is how far it hears, its *nimbus* how far it is heard.
///
/// One object hears another when the distance of their centres is less than the first one's focus and the second one's
/// nimbus together. With an equal focus and nimbus that is the overlap of two spheres, and both hear each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aura {
    pub(crate) focus: f32,
    pub(crate) nimbus: f32,
}

/// What an object that hears nobody has for a focus, and one that nobody hears for a nimbus: no sum with it is
/// positive.
const NOTHING: f32 = f32::NEG_INFINITY;

impl Aura {
    /// No focus and no nimbus reaches farther, in metres: with hysteresis it still fits into a world.
    pub const LIMIT: f32 = Spheres::LIMIT / Aura::HYSTERESIS_MAX;
    /// No pair is let go at more than so many times the distance at which it was joined.
    pub const HYSTERESIS_MAX: f32 = 10.0;
    /// At how many times that distance it is let go, where nobody says otherwise.
    pub const HYSTERESIS: f32 = 1.1;

    /// An aura that hears as far as it is heard.
    pub const fn new(radius: f32) -> Aura {
        Aura { focus: radius, nimbus: radius }
    }

    /// An aura that hears to one distance and is heard to another.
    pub const fn one_sided(focus: f32, nimbus: f32) -> Aura {
        Aura { focus, nimbus }
    }

    /// An aura that hears and that nobody hears: a spectator.
    pub const fn only_hears(focus: f32) -> Aura {
        Aura { focus, nimbus: NOTHING }
    }

    /// An aura that is heard and hears nobody: a thing.
    pub const fn only_heard(nimbus: f32) -> Aura {
        Aura { focus: NOTHING, nimbus }
    }

    /// Widened by how far its object gets in a time.
    ///
    /// An update that is sent now is seen up to a horizon later. If all auras are widened by it, and nobody moves
    /// farther per tick than it said, two objects are joined at least `horizon_ticks` before their plain auras meet.
    /// Too wide costs traffic, too narrow costs a late meeting.
    #[must_use]
    pub fn widened(self, speed_max: f32, horizon_ticks: u32) -> Aura {
        let way = f64::from(speed_max) * f64::from(horizon_ticks);
        // Outward, by more than the test of distances can round: its error is some units in the last place of the
        // reach.
        let wide = |radius: f32| ((f64::from(radius) + way) * (1.0 + f64::from(f32::EPSILON) * 16.0)) as f32;
        Aura { focus: wide(self.focus), nimbus: wide(self.nimbus) }
    }

    /// How far it hears; `None` if it hears nobody.
    pub fn focus(self) -> Option<f32> {
        (self.focus != NOTHING).then_some(self.focus)
    }

    /// How far it is heard; `None` if nobody hears it.
    pub fn nimbus(self) -> Option<f32> {
        (self.nimbus != NOTHING).then_some(self.nimbus)
    }

    /// The aura in which what was joined stays so.
    pub(crate) fn scaled(self, factor: f32) -> Aura {
        Aura { focus: self.focus * factor, nimbus: self.nimbus * factor }
    }

    /// The radius of a sphere outside of which nobody is heard and nobody hears, whoever they are.
    pub(crate) fn reach(self) -> f32 {
        self.focus.max(self.nimbus).max(0.0)
    }

    pub(crate) fn check(self, slot: Option<Slot>) -> Result<(), AuraError> {
        for (field, value) in [(AuraField::Focus, self.focus), (AuraField::Nimbus, self.nimbus)] {
            // NaN is in no range.
            if value != NOTHING && !(0.0..=Aura::LIMIT).contains(&value) {
                return Err(AuraError::OutOfRange { slot, field, value });
            }
        }
        Ok(())
    }
}

/// A number of an aura.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuraField {
    /// How far it hears.
    Focus,
    /// How far it is heard.
    Nimbus,
}

/// Why a change was refused. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AuraError {
    /// A focus or nimbus that no object can have.
    #[error("{}: `{}` is {value}, expected 0 to 1e8 metres", slot_name(.slot), field.name())]
    OutOfRange {
        /// The object, or `None` for one about to be inserted.
        slot: Option<Slot>,
        /// Which of its numbers.
        field: AuraField,
        /// What was given.
        value: f32,
    },
    /// A hysteresis that makes no sense.
    #[error("`hysteresis` is {value}, expected 1 to 10")]
    Hysteresis {
        /// What was given.
        value: f32,
    },
    /// A place that no world has, or an object that is not there.
    #[error(transparent)]
    Spheres(#[from] SpheresError),
}

impl AuraField {
    fn name(self) -> &'static str {
        match self {
            AuraField::Focus => "focus",
            AuraField::Nimbus => "nimbus",
        }
    }
}

fn slot_name(slot: &Option<Slot>) -> String {
    slot.map_or_else(|| "the new object".to_owned(), |slot| slot.to_string())
}
