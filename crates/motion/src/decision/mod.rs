//! Which host's word counts when two objects, each moved by another host, may have collided?
//!
//! Both hosts must answer alike, without asking. A rule that looks at the newest values, or at values of a moment
//! that each host picks for itself, lets them disagree ([`simple`]). The [`episode`] rule lets both run the same
//! machine over the same numbers, of fixed moments long enough ago that both hold them, and keeps a host silent that
//! does not. Where two speak all the same, in different terms, precedence among [`verdict`]s settles it everywhere.

pub mod episode;
pub mod policy;
pub mod simple;
pub mod verdict;

pub use episode::{Episode, EpisodeSettings, Standing};
pub use policy::{Digest, Policy};
pub use simple::SimpleRule;
pub use verdict::{Claim, Docket, ObjectPair, Tentative, Verdict, Verdicts};
