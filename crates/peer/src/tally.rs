//! How often what happened, and what was refused.

/// Counts of a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Messages sent on streams.
    pub messages_sent: u64,
    /// Bytes of both.
    pub bytes_sent: u64,
    /// Motions within the datagrams.
    pub motions_sent: u64,
    /// Watches within the datagrams.
    pub watches_sent: u64,
    /// Bounces of others' objects off each other that it predicted.
    pub predicted_bounces: u64,
    /// Contacts that this peer saw between its objects and others'.
    pub contacts: u64,
    /// Of them, those that it decided.
    pub decided: u64,
    /// Claims that it sent.
    pub claims: u64,
    /// Claims that it answered, having seen no contact.
    pub denied: u64,
    /// Responses that were dropped because no verdict came.
    pub dropped: u64,
    /// Verdicts that it followed with an object of its own.
    pub followed: u64,
    /// Verdicts that it keeps as all do, and did not follow: they put an own object where it cannot have been.
    pub unfollowed: u64,
    /// Peers that fell silent.
    pub silent: u64,
    /// States and digests of objects that were not announced yet, and claims by a clock that is not known yet.
    pub early: u64,
    /// What was not believed.
    pub refused: Refusals,
}

impl Tally {
    /// Counts what another one counted too.
    pub fn add(&mut self, other: &Tally) {
        self.datagrams_sent += other.datagrams_sent;
        self.messages_sent += other.messages_sent;
        self.bytes_sent += other.bytes_sent;
        self.motions_sent += other.motions_sent;
        self.watches_sent += other.watches_sent;
        self.predicted_bounces += other.predicted_bounces;
        self.contacts += other.contacts;
        self.decided += other.decided;
        self.claims += other.claims;
        self.denied += other.denied;
        self.dropped += other.dropped;
        self.followed += other.followed;
        self.unfollowed += other.unfollowed;
        self.silent += other.silent;
        self.early += other.early;
        let (own, other) = (&mut self.refused, &other.refused);
        own.bad += other.bad;
        own.hellos += other.hellos;
        own.not_the_owner += other.not_the_owner;
        own.states += other.states;
        own.digests += other.digests;
        own.claims += other.claims;
        own.verdicts += other.verdicts;
        own.beyond_bounds += other.beyond_bounds;
    }
}

/// Messages that were refused, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Bytes that are no message, or a message before the hello.
    pub bad: u64,
    /// Hellos: another version, other settings, a number that is taken, or one peer too many.
    pub hellos: u64,
    /// About an object that the sender does not own, or did not announce.
    pub not_the_owner: u64,
    /// States that cannot be.
    pub states: u64,
    /// Digests of the future, of a stranger's pair, or that say otherwise than before.
    pub digests: u64,
    /// Claims about contacts that cannot be.
    pub claims: u64,
    /// Verdicts of those who do not decide, that contradict an earlier one, or about what cannot be.
    pub verdicts: u64,
    /// Whatever is beyond a bound.
    pub beyond_bounds: u64,
}

impl Refusals {
    /// All of them.
    pub fn total(&self) -> u64 {
        let Refusals { bad, hellos, not_the_owner, states, digests, claims, verdicts, beyond_bounds } = *self;
        bad + hellos + not_the_owner + states + digests + claims + verdicts + beyond_bounds
    }
}
