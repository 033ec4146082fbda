//! Clocks of objects that deform: a flag in the wind, for example.
//!
//! A form is a function of the object's own clock and the world's description. The clock runs with the world's ticks
//! and stands still while something is in the way. It is told when a client first hears of the object and when the
//! clock has fallen behind.

use serde::Serialize;
use space::bytes::{Malformed, Reader, Writer};

use crate::pose::{self, Handle};
use crate::session::ROSTER_MAX;

/// The most clocks in one message.
pub const FORMS_MAX: usize = ROSTER_MAX;
/// A handle and a clock.
const FORM_BYTES_MIN: usize = 2;

/// An object's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FormClock {
    pub handle: Handle,
    /// The number of ticks that it has run.
    pub clock: u64,
}

/// Clocks of objects that the client hears.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forms {
    /// The low 32 bits of the tick after which the clocks showed this.
    pub tick: u32,
    pub forms: Vec<FormClock>,
}

impl Forms {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.tick);
        writer.list(&self.forms, FORMS_MAX, |form, writer| {
            writer.varint(form.handle.0);
            writer.varint(form.clock);
        });
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Forms, Malformed> {
        let tick = reader.u32("tick")?;
        let read = |reader: &mut Reader<'_>| {
            Ok(FormClock { handle: pose::read_handle(reader)?, clock: reader.varint(u64::MAX, "clock")? })
        };
        Ok(Forms { tick, forms: reader.list(FORMS_MAX, FORM_BYTES_MIN, "forms", read)? })
    }
}
