//! Which host decides about a collision between objects of two hosts.
//!
//! ```text
//! digests of both hosts ─▶ Episode ─▶ Standing: this host decides, the other does, or neither may
//! contact ─▶ OwnVerdicts (the decider's) ─▶ Verdict ─▶ Verdicts (everywhere): of several, the lowest term counts
//!        └─▶ Claim, if the other decides
//! ```
//!
//! Both hosts must find the same decider without asking. Rules that use the newest values, or values of a moment that
//! each host chooses, let them disagree ([`simple`]). With the [`episode`] rule both run the same machine over the same
//! numbers, from epochs long enough ago that both have them, and a host that lacks one does not decide. If two hosts
//! decide in different terms, the order of [`verdict`]s settles it at all hosts alike.

pub mod episode;
pub mod policy;
pub mod simple;
pub mod verdict;

pub use episode::{Episode, EpisodeSettings, Standing};
pub use policy::{Digest, Policy};
pub use simple::SimpleRule;
pub use verdict::{Claim, ObjectPair, OwnVerdicts, Tentative, Verdict, Verdicts};
