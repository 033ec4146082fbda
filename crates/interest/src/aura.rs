//! Auras: an object's focus and nimbus (Benford and Fahlén).

use space::{Slot, Spheres, SpheresError};

/// An object's aura: it hears to the distance *focus* and is heard to the distance *nimbus*.
///
/// One object hears another if the distance of their centres is less than the first one's focus plus the second one's
/// nimbus. With focus equal to nimbus that is the overlap of two spheres, and both hear each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aura {
    pub(crate) focus: f32,
    pub(crate) nimbus: f32,
}

/// The focus of an object that hears nothing and the nimbus of one that is not heard: no sum with it is positive.
const NOTHING: f32 = f32::NEG_INFINITY;

impl Aura {
    /// The largest focus or nimbus, in metres: times any hysteresis it fits into a world.
    pub const LIMIT: f32 = Spheres::LIMIT / Aura::HYSTERESIS_MAX;
    /// The largest hysteresis.
    pub const HYSTERESIS_MAX: f32 = 10.0;
    /// The default hysteresis: a subscription ends at this multiple of the distance at which it begins.
    pub const HYSTERESIS: f32 = 1.1;

    /// An aura with equal focus and nimbus.
    pub const fn new(radius: f32) -> Aura {
        Aura { focus: radius, nimbus: radius }
    }

    pub const fn one_sided(focus: f32, nimbus: f32) -> Aura {
        Aura { focus, nimbus }
    }

    /// The aura of a spectator, which is not heard.
    pub const fn only_hears(focus: f32) -> Aura {
        Aura { focus, nimbus: NOTHING }
    }

    /// The aura of a thing, which does not hear.
    pub const fn only_heard(nimbus: f32) -> Aura {
        Aura { focus: NOTHING, nimbus }
    }

    /// The aura, widened by how far its object can move in `horizon_ticks`.
    ///
    /// If all auras are widened by it and no object exceeds its `speed_max` per tick, two objects are connected at
    /// least `horizon_ticks` before their plain auras meet: longer than an update takes to arrive. Too wide costs
    /// traffic, too narrow late meetings.
    #[must_use]
    pub fn widened(self, speed_max: f32, horizon_ticks: u32) -> Aura {
        let way = f64::from(speed_max) * f64::from(horizon_ticks);
        // Rounded outward by more than the test of distances can round.
        let wide = |radius: f32| ((f64::from(radius) + way) * (1.0 + f64::from(f32::EPSILON) * 16.0)) as f32;
        Aura { focus: wide(self.focus), nimbus: wide(self.nimbus) }
    }

    /// How far it hears; `None` if it hears nothing.
    pub fn focus(self) -> Option<f32> {
        (self.focus != NOTHING).then_some(self.focus)
    }

    /// How far it is heard; `None` if it is not.
    pub fn nimbus(self) -> Option<f32> {
        (self.nimbus != NOTHING).then_some(self.nimbus)
    }

    /// Both times a factor, the hysteresis.
    pub(crate) fn scaled(self, factor: f32) -> Aura {
        Aura { focus: self.focus * factor, nimbus: self.nimbus * factor }
    }

    /// The radius of a sphere that covers focus and nimbus.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuraField {
    Focus,
    Nimbus,
}

/// Why a change was refused. A refused change has no effect.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AuraError {
    /// A focus or nimbus out of range.
    #[error("{}: `{}` is {value}, expected 0 to 1e8 metres", slot_name(.slot), field.name())]
    OutOfRange {
        /// The object, or `None` for one about to be inserted.
        slot: Option<Slot>,
        field: AuraField,
        value: f32,
    },
    /// A hysteresis out of range.
    #[error("`hysteresis` is {value}, expected 1 to 10")]
    Hysteresis { value: f32 },
    /// A position out of range, or an unknown slot.
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
