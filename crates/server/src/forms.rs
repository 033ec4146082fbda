//! Which clocks of objects that change their form a client knows, and which it has to be told.
//!
//! A clock that runs with the world's needs no message: the client counts on. A client is told of a clock that is new
//! to it, and of one that has fallen behind since, because an object was in the way of the form.

use std::collections::BTreeMap;

use space::Slot;
use wire::Handle;
use wire::form::{FORMS_MAX, FormClock, Forms};

use super::heard::HeardObjects;

/// A client's knowledge of clocks.
#[derive(Clone, Debug, Default)]
pub struct FormsTold {
    /// By handle: the object, and by how many ticks its clock was behind the world's.
    behind: BTreeMap<Handle, (Slot, u64)>,
}

impl FormsTold {
    /// Forgets the clocks of objects that the client was told have left.
    pub fn left(&mut self, handles: &[Handle]) {
        if !self.behind.is_empty() {
            handles.iter().for_each(|handle| _ = self.behind.remove(handle));
        }
    }

    /// What to tell of these clocks after this tick.
    pub fn tell(&mut self, tick: u64, clocks: &[(Slot, u64)], listener: &HeardObjects) -> Option<Forms> {
        let mut forms = Vec::new();
        for &(slot, clock) in clocks {
            let Some(handle) = listener.handle(slot) else { continue };
            let known = (slot, tick.wrapping_sub(clock));
            if forms.len() < FORMS_MAX && self.behind.insert(handle, known) != Some(known) {
                forms.push(FormClock { handle, clock });
            }
        }
        (!forms.is_empty()).then_some(Forms { tick: tick as u32, forms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_told_when_it_is_new_or_has_waited() {
        let (flag, blob) = (Slot::new(1), Slot::new(2));
        let (mut listener, mut told, mut entered) = (HeardObjects::new(), FormsTold::default(), Vec::new());
        let mut clocks = |listener: &HeardObjects, tick, flag_at| {
            let forms = told.tell(tick, &[(flag, flag_at), (blob, tick)], listener)?;
            Some(forms.forms.iter().map(|form| (form.handle.0, form.clock)).collect::<Vec<_>>())
        };
        assert_eq!(clocks(&listener, 10, 10), None, "it hears of neither");
        listener.enter(flag);
        listener.tell(11, 9, &mut entered);
        assert_eq!(clocks(&listener, 11, 11), Some(vec![(0, 11)]));
        assert_eq!(clocks(&listener, 12, 12), None, "it runs");
        assert_eq!(clocks(&listener, 13, 12), Some(vec![(0, 12)]), "it waited");
        assert_eq!(clocks(&listener, 14, 13), None);
        listener.enter(blob);
        listener.tell(15, 9, &mut entered);
        assert_eq!(clocks(&listener, 15, 14), Some(vec![(1, 15)]));
        listener.leave(flag);
        let (_, left) = listener.tell(16, 9, &mut entered);
        told.left(&left);
        listener.taken(3);
        listener.enter(flag);
        listener.tell(17, 9, &mut entered);
        assert_eq!(
            told.tell(17, &[(flag, 16), (blob, 17)], &listener).map(|forms| forms.forms),
            Some(vec![FormClock { handle: Handle(0), clock: 16 }]),
            "objects that left are forgotten"
        );
    }
}
