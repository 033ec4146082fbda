//! What time it is for things that change their form: a flag in the wind, something that breathes.
//!
//! A form is a function of the thing's own clock, which everybody knows from the world's description. The clock runs with
//! the world's, one tick per tick, and stands while somebody is in the way. So it is told when a client first hears of the
//! thing and when the clock has fallen behind, and not in between.

use serde::Serialize;

use crate::codec::{DecodeError, Reader, Writer};
use crate::pose::{self, Handle};
use crate::session::ROSTER_MAX;

/// The most clocks of one message.
pub const FORMS_MAX: usize = ROSTER_MAX;
/// A handle and a clock.
const FORM_BYTES_MIN: usize = 2;

/// A thing's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Form {
    /// Whose.
    pub handle: Handle,
    /// What it showed, in ticks.
    pub clock: u64,
}

/// Clocks of things that the client hears of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forms {
    /// The low 32 bits of the tick after which they showed this.
    pub tick: u32,
    /// The clocks.
    pub forms: Vec<Form>,
}

impl Forms {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        writer.u32(self.tick);
        let forms = &self.forms[..self.forms.len().min(FORMS_MAX)];
        writer.varint(forms.len() as u64);
        for form in forms {
            writer.varint(u64::from(form.handle.0));
            writer.varint(form.clock);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Forms, DecodeError> {
        let tick = reader.u32("tick")?;
        let count = reader.count(FORMS_MAX, FORM_BYTES_MIN, "forms")?;
        let mut forms = Vec::with_capacity(count);
        for _ in 0..count {
            forms.push(Form { handle: pose::read_handle(reader)?, clock: reader.varint(u64::MAX, "clock")? });
        }
        Ok(Forms { tick, forms })
    }
}
