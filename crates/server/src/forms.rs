//! Which clocks of things that change their form a client knows, and which it has to be told.
//!
//! A clock that runs with the world's needs no telling: the client goes on counting. Told is one that is new to the client
//! and one that has fallen behind since, because somebody was in the way of the form.

use std::collections::BTreeMap;

use space::Slot;
use wire::Handle;
use wire::form::{FORMS_MAX, FormClock, Forms};

use super::listener::Listener;

/// A client's knowledge of clocks.
#[derive(Clone, Debug, Default)]
pub struct FormsTold {
    /// By handle: whose clock, and by how many ticks it was behind the world's.
    behind: BTreeMap<Handle, (Slot, u64)>,
}

impl FormsTold {
    /// The client was told that these left: what it knew of their clocks it has forgotten.
    pub fn left(&mut self, handles: &[Handle]) {
        if !self.behind.is_empty() {
            handles.iter().for_each(|handle| _ = self.behind.remove(handle));
        }
    }

    /// What to tell after this tick, of these clocks and whom the client hears of.
    pub fn tell(&mut self, tick: u64, clocks: &[(Slot, u64)], listener: &Listener) -> Option<Forms> {
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
        let (mut listener, mut told, mut entered) = (Listener::new(), FormsTold::default(), Vec::new());
        let mut clocks = |listener: &Listener, tick, flag_at| {
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
            "whoever left was forgotten"
        );
    }
}
