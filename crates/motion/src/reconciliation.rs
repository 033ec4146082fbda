//! A client that does not wait for its server: it applies its inputs at once, and corrects itself when the reply comes.

use std::collections::VecDeque;

use space::Time;

/// Inputs older than this are dropped, in microseconds: no reply to them is still worth waiting for.
pub const INPUT_US_MAX: i64 = 1_000_000;
/// Inputs kept at most.
pub const INPUTS_MAX: usize = 256;

/// The inputs that the server has not answered yet, and the state they lead to.
#[derive(Clone, Debug)]
pub struct Reconciliation<S, I> {
    confirmed: (Time, S),
    inputs: VecDeque<(Time, I)>,
    step: fn(&S, &I, Time, Time) -> S,
    dropped: u64,
}

impl<S: Clone, I> Reconciliation<S, I> {
    /// Starts from a state of the server's. `step` applies an input to a state, from its moment to the next.
    pub fn new(at: Time, state: S, step: fn(&S, &I, Time, Time) -> S) -> Reconciliation<S, I> {
        Reconciliation { confirmed: (at, state), inputs: VecDeque::new(), step, dropped: 0 }
    }

    /// Applies an input that takes effect on the server at `at`, half a round trip from now, and lasts until the next.
    /// Inputs must come in order; one that does not is dropped.
    pub fn input(&mut self, at: Time, input: I) {
        if self.inputs.back().is_some_and(|&(last, _)| at < last) {
            self.dropped += 1;
            return;
        }
        self.inputs.push_back((at, input));
        while self.inputs.len() > INPUTS_MAX || self.inputs.front().is_some_and(|&(first, _)| at - first > INPUT_US_MAX)
        {
            self.inputs.pop_front();
            self.dropped += 1;
        }
    }

    /// The server says what was true at a moment: inputs up to then are in it, later ones will be replayed. A reply
    /// older than the last one is ignored.
    pub fn confirm(&mut self, at: Time, state: S) {
        if at < self.confirmed.0 {
            return;
        }
        self.confirmed = (at, state);
        // The last input before the reply is still in force after it.
        while self.inputs.get(1).is_some_and(|&(next, _)| next <= at) {
            self.inputs.pop_front();
        }
    }

    /// The state at a moment: the server's last word, and the inputs since.
    pub fn state(&self, at: Time) -> S {
        let (mut since, mut state) = (self.confirmed.0, self.confirmed.1.clone());
        for (index, (from, input)) in self.inputs.iter().enumerate() {
            let until = self.inputs.get(index + 1).map_or(at, |&(next, _)| next.min(at));
            let from = (*from).max(since);
            if until > from {
                state = (self.step)(&state, input, from, until);
                since = until;
            }
        }
        state
    }

    /// Inputs that were too old, too many or out of order.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(place: &i64, speed: &i64, from: Time, to: Time) -> i64 {
        place + speed * (to - from)
    }

    fn us(micros: i64) -> Time {
        Time::from_micros(micros)
    }

    #[test]
    fn a_reply_that_agrees_changes_nothing() {
        let mut client = Reconciliation::new(us(0), 0, walk);
        client.input(us(0), 2);
        client.input(us(100), 3);
        assert_eq!(client.state(us(150)), 350);
        client.confirm(us(100), 200);
        assert_eq!(client.state(us(150)), 350);
        // The server knew of a wall.
        client.confirm(us(120), 230);
        assert_eq!(client.state(us(150)), 320, "the input at 100 is still in force");
        client.confirm(us(50), 0);
        assert_eq!(client.state(us(150)), 320, "an older reply is ignored");
    }

    #[test]
    fn inputs_are_bounded() {
        let mut client = Reconciliation::new(us(0), 0, walk);
        for micros in 0..1_000 {
            client.input(us(micros), 1);
        }
        assert_eq!(client.dropped(), 1_000 - INPUTS_MAX as u64);
        client.input(us(5_000_000), 1);
        assert_eq!(client.dropped(), 1_000);
    }
}
