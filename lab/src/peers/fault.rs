//! Faults to plant: a promise that nothing can break is worth nothing.

use motion::decision::Verdict;
use space::Time;
use wire::ToPeer;

use super::watcher::promise;

/// Something that must not go unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Verdicts never reach the first host.
    LostVerdicts,
    /// A host keeps two verdicts about one contact.
    TwoVerdicts,
    /// A second host goes by the first one's number.
    Impostor,
    /// The first host hears no reports.
    Deaf,
    /// The first host is sent verdicts that nobody made.
    Forged,
}

impl Fault {
    /// All of them, with the promise that each breaks.
    pub const ALL: [(Fault, &'static str); 5] = [
        (Fault::LostVerdicts, promise::SAME),
        (Fault::TwoVerdicts, promise::ONE_VERDICT),
        (Fault::Impostor, promise::ONE_OWNER),
        (Fault::Deaf, promise::AUDIENCE),
        (Fault::Forged, promise::HONEST),
    ];
}

/// What becomes of a message to `to`.
pub fn in_flight(fault: Option<Fault>, to: Option<usize>, bytes: Vec<u8>, now: Time) -> Option<Vec<u8>> {
    let Some(fault) = fault.filter(|_| to == Some(0)) else { return Some(bytes) };
    match (fault, ToPeer::decode(&bytes)) {
        (Fault::LostVerdicts, Ok(ToPeer::Verdict(_))) | (Fault::Deaf, Ok(ToPeer::Report(_))) => None,
        (Fault::Forged, Ok(ToPeer::Ping { .. })) if now.micros() > 2_000_000 => {
            let forged =
                wire::peer::ContactVerdict { own: 1, node: 1, other: 1, term: u32::MAX, contact_us: 0, after: None };
            Some(ToPeer::Verdict(forged).encode())
        }
        _ => Some(bytes),
    }
}

/// What is seen of the verdicts that a host keeps.
pub fn seen(fault: Option<Fault>, index: usize, verdicts: &mut Vec<Verdict>) {
    if fault == Some(Fault::TwoVerdicts)
        && index == 0
        && let Some(first) = verdicts.first().copied()
    {
        verdicts.push(Verdict { contact: first.contact + 100_000, term: first.term + 1, ..first });
    }
}
