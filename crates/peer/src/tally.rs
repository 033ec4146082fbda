//! Counters of a peer.

/// What a peer has counted since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub datagrams_sent: u64,
    /// The messages on streams.
    pub messages_sent: u64,
    /// Of datagrams and messages.
    pub bytes_sent: u64,
    /// Motions in reports.
    pub motions_sent: u64,
    /// Watches in reports.
    pub watches_sent: u64,
    /// Bounces between remote objects that it predicted.
    pub predicted_bounces: u64,
    /// Contacts that it saw between own and remote objects.
    pub contacts: u64,
    /// Verdicts that it issued.
    pub decided: u64,
    pub claims: u64,
    /// Verdicts without a contact that it issued to answer claims.
    pub denied: u64,
    /// Tentative bounces that it undid, as no verdict arrived.
    pub dropped: u64,
    /// Verdicts that it applied to an own object.
    pub followed: u64,
    /// Verdicts that it keeps but did not apply, as they put an own object where it cannot have been.
    pub unfollowed: u64,
    /// Peers that it dropped because they were silent.
    pub silent: u64,
    /// States and digests that arrived before the announcement of their object, and claims before the clock was known.
    pub early: u64,
    pub refused: Refusals,
}

impl Tally {
    /// Adds the counts of another peer.
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

/// The number of refused messages, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Bytes that cannot be decoded, or a message before the hello.
    pub bad: u64,
    /// Hellos with another version, other settings, or a number that is taken.
    pub hellos: u64,
    /// Messages about an object that the sender does not own or did not announce.
    pub not_the_owner: u64,
    pub states: u64,
    /// Digests of a future epoch, of another pair, or that contradict an earlier one.
    pub digests: u64,
    /// Claims about unknown objects or impossible times.
    pub claims: u64,
    /// Verdicts of a peer that is not the decider, that contradict an earlier one, or that are impossible.
    pub verdicts: u64,
    /// Anything beyond a bound of number or rate.
    pub beyond_bounds: u64,
}

impl Refusals {
    pub fn total(&self) -> u64 {
        let Refusals { bad, hellos, not_the_owner, states, digests, claims, verdicts, beyond_bounds } = *self;
        bad + hellos + not_the_owner + states + digests + claims + verdicts + beyond_bounds
    }
}
