//! A promise that nothing can break is worth nothing. Each is broken here from outside: what a participant says is
//! changed or dropped on its way, a disk forgets what it was given, or what is observed is falsified. No participant
//! has a fault planted in it.

use kinesphere_sim::promises::{
    AllHeard, Apart, Carried, Doubled, Fair, OneOwner, OneVerdict, Owning, Promises, Reconciled, Reunited, SameVerdict,
    SeenObject, ShownClose, Survives, Truthful,
};
use kinesphere_sim::simulator::{Meddled, Meddler};
use kinesphere_sim::{nodes, peers, plaza};
use space::ObjectId;
use wire::cluster::{Answer, Batch, Granted, Offer};
use wire::{Channel, Entered, Handle, Record, ToClient, ToNode, ToPeer};

/// Everything has settled by then, and all stand or are about to, in microseconds.
const LATE_US: i64 = 14_600_000;

fn meddler(meddle: impl FnMut(Meddled<'_, '_>) -> bool + 'static) -> Option<Meddler> {
    Some(Box::new(meddle))
}

fn is_broken(promises: &Promises, promise: &str) -> bool {
    let score = promises.get(promise).unwrap();
    !score.holds() && !promises.holds() && !promises.failures().is_empty()
}

fn served(meddler: Option<Meddler>) -> Promises {
    let settings =
        plaza::Settings { clients: 6, hostile: 0, ticks: 600, loss: 0.02, upsets: false, ..Default::default() };
    plaza::run_with(&settings, meddler, &mut |_, _| {}).unwrap().promises
}

fn breaks_when_told(promise: &str, mut change: impl FnMut(i64, Channel, &mut Vec<u8>) -> bool + 'static) {
    // The first client is machine 1.
    let promises = served(meddler(move |meddled| match meddled {
        Meddled::Sent { now, from: 0, to: 1, channel, bytes, .. } => change(now.micros(), channel, bytes),
        _ => true,
    }));
    assert!(is_broken(&promises, promise), "\"{promise}\" was not broken: {promises:#?}");
}

fn avatars(objects: &[SeenObject]) -> Vec<usize> {
    (0..objects.len()).filter(|&at| objects[at].owner.is_some()).collect()
}

#[test]
fn a_server_can_break_its_promises() {
    breaks_when_told(AllHeard::NAME, |_, channel, bytes| {
        let enters = matches!(ToClient::decode(bytes), Ok(ToClient::Roster(roster)) if !roster.entered.is_empty());
        channel != Channel::Stream || !enters
    });
    let mut far: Option<Entered> = None;
    breaks_when_told(Truthful::NAME, move |_, _, bytes| {
        if let Ok(ToClient::Roster(mut roster)) = ToClient::decode(bytes)
            && let Some(entered) = roster.entered.first()
        {
            // What entered first is told again later, wherever it is by then.
            let again = far.get_or_insert_with(|| Entered { handle: Handle(4_000), ..entered.clone() }).clone();
            roster.entered.push(again);
            *bytes = ToClient::Roster(roster).encode();
        }
        true
    });
    breaks_when_told(Truthful::NAME, |_, _, bytes| {
        if let Ok(ToClient::State(mut state)) = ToClient::decode(bytes)
            && let Some((_, body)) = state.bodies.first_mut()
        {
            body.place.x += 1;
            *bytes = state.encode();
        }
        true
    });
    breaks_when_told(Reconciled::NAME, |now, channel, _| channel == Channel::Stream || now < LATE_US);
    breaks_when_told(ShownClose::NAME, |now, _, bytes| {
        if let Ok(ToClient::State(mut state)) = ToClient::decode(bytes)
            && now > LATE_US
        {
            state.bodies.iter_mut().for_each(|(_, body)| body.place.x += 20 * 1_024);
            *bytes = state.encode();
        }
        true
    });
    breaks_when_told(Fair::NAME, |now, _, bytes| {
        if now > LATE_US {
            *bytes = vec![0xff];
        }
        true
    });
    let overlapping = served(meddler(|meddled| {
        if let Meddled::Observed(observed) = meddled
            && let Some([one, .., other]) = observed.solids.as_deref_mut()
        {
            (one.at, one.is_fixed) = (other.at, false);
        }
        true
    }));
    assert!(is_broken(&overlapping, Apart::NAME));
    let doubled = served(meddler(|meddled| {
        if let Meddled::Observed(observed) = meddled
            && let Some(server) = &mut observed.server
            && let [first, ..] = avatars(&server.objects)[..]
        {
            let double = SeenObject { id: ObjectId::new(u64::MAX).unwrap(), ..server.objects[first].clone() };
            server.objects.push(double);
        }
        true
    }));
    assert!(is_broken(&doubled, Doubled::NAME));
}

/// The disk forgets the inputs of some ticks, and the server has to come back from it.
#[test]
fn a_disk_that_forgets_is_noticed() {
    let is_found = |seed: u64| {
        let settings =
            plaza::Settings { seed, clients: 8, hostile: 0, seekers: 10, ticks: 1_500, ..Default::default() };
        let mut records = 0;
        let forgets = meddler(move |meddled| {
            let is_tick = matches!(meddled, Meddled::Record { record: Record::Tick(_), .. });
            records += u64::from(is_tick);
            !is_tick || records % 50 != 0
        });
        is_broken(&plaza::run_with(&settings, forgets, &mut |_, _| {}).unwrap().promises, Survives::NAME)
    };
    assert!((1..40).any(is_found), "of many servers that came back none missed what its disk had forgotten");
}

#[test]
fn without_a_meddler_a_server_keeps_its_promises() {
    let promises = served(None);
    assert!(promises.holds(), "{}", promises.failures().join("\n"));
    let unchecked: Vec<_> = promises.iter().filter(|score| score.checks == 0).map(|score| score.promise).collect();
    assert_eq!(unchecked, [Survives::NAME], "a server that is not killed does not come back");
}

fn among_peers(meddler: Option<Meddler>) -> Promises {
    let settings = peers::Settings { hosts: 4, seconds: 25, ..Default::default() };
    peers::run_with(&settings, meddler, &mut |_, _| {}).unwrap().promises
}

#[test]
fn peers_can_break_their_promises() {
    let told = |promise: &str, mut change: Box<dyn FnMut(i64, ToPeer) -> Option<ToPeer>>| {
        let promises = among_peers(meddler(move |meddled| match meddled {
            Meddled::Sent { now, to: 0, bytes, .. } => match change(now.micros(), ToPeer::decode(bytes).unwrap()) {
                Some(message) => {
                    *bytes = message.encode();
                    true
                }
                None => false,
            },
            _ => true,
        }));
        assert!(is_broken(&promises, promise), "\"{promise}\" was not broken: {promises:#?}");
    };
    told(SameVerdict::NAME, Box::new(|_, message| (!matches!(message, ToPeer::Verdict(_))).then_some(message)));
    told(AllHeard::NAME, Box::new(|_, message| (!matches!(message, ToPeer::Report(_))).then_some(message)));
    told(
        Fair::NAME,
        Box::new(|now, message| match message {
            ToPeer::Ping { .. } if now > 2_000_000 => {
                let (own, node, other, term) = (1, 1, 1, u32::MAX);
                let forged = wire::peer::ContactVerdict { own, node, other, term, contact_us: 0, after: None };
                Some(ToPeer::Verdict(forged))
            }
            message => Some(message),
        }),
    );
    let falsified = among_peers(meddler(|meddled| {
        if let Meddled::Observed(observed) = meddled {
            if let Some(owned) = &mut observed.owned {
                owned.extend(owned.first().map(|owned| Owning { host: 3, ..*owned }));
            }
            if let Some(peers) = &mut observed.peers
                && let Some(mut held) = peers.verdicts.first().copied()
            {
                held.verdict.contact = held.verdict.contact + 100_000;
                held.verdict.term += 1;
                peers.verdicts.insert(1, held);
            }
        }
        true
    }));
    assert!(is_broken(&falsified, OneOwner::NAME) && is_broken(&falsified, OneVerdict::NAME), "{falsified:#?}");
}

#[test]
fn without_a_meddler_peers_keep_their_promises() {
    let promises = among_peers(None);
    assert!(promises.holds(), "{}", promises.failures().join("\n"));
    assert!(promises.iter().all(|score| score.checks > 0), "{promises:?}");
}

fn cluster(seed: u64, meddler: Option<Meddler>) -> Promises {
    let settings = nodes::Settings { seed, nodes: 4, users: 60, carriers: true, ..Default::default() };
    nodes::run_with(&settings, meddler, &mut |_, _| {}).unwrap().promises
}

/// What becomes of a message to a node, and what its sender is made to believe.
type Change = fn(usize, ToNode, &mut Option<ToNode>) -> Option<ToNode>;

/// In some of a few runs a message that is changed on its way breaks the promise.
fn breaks_between_nodes(promise: &str, change: Change) {
    let is_found = |seed: u64| {
        let meddler = meddler(move |meddled| {
            let Meddled::Sent { to, bytes, back, .. } = meddled else { return true };
            let mut answer = None;
            let message = change(to, ToNode::decode(bytes).unwrap(), &mut answer);
            *back = answer.map(|answer| answer.encode());
            message.map(|message| *bytes = message.encode()).is_some()
        });
        is_broken(&cluster(seed, meddler), promise)
    };
    assert!((0..12).any(is_found), "\"{promise}\" was not broken");
}

#[test]
fn a_cluster_can_break_its_promises() {
    // Every node is told that all others support its lease.
    breaks_between_nodes(OneOwner::NAME, |_, message, back| {
        if let ToNode::Beat(beat) = &message {
            *back = Some(ToNode::Vouch { version: beat.version, sent_us: beat.sent_us });
        }
        Some(message)
    });
    // Every node is told that it has the rooms that it asks for.
    breaks_between_nodes(Apart::NAME, |_, message, back| {
        if let ToNode::Batch(batch) = &message {
            let grant = |ask: &wire::cluster::Ask| Answer {
                object: ask.object,
                seq: ask.seq,
                asked: ask.asked,
                granted: ask.wants.map(|room| Granted { room, standing: Vec::new() }),
            };
            let answers: Vec<Answer> = batch.asks.iter().map(grant).collect();
            let (guests, asks) = (Vec::new(), Vec::new());
            let Batch { version, tick, .. } = *batch;
            let is_asked = !answers.is_empty();
            *back = is_asked.then_some(ToNode::Batch(Batch { version, tick, guests, asks, answers }));
        }
        Some(message)
    });
    // Offers are lost, and their senders told that they were taken.
    breaks_between_nodes(Survives::NAME, |to, message, back| match message {
        ToNode::Offer(offer) if to == 0 => {
            *back = Some(ToNode::Taken { object: offer.object, seq: offer.seq });
            None
        }
        message => Some(message),
    });
    breaks_between_nodes(AllHeard::NAME, |to, message, _| {
        let is_lost = to == 0 && matches!(message, ToNode::Introduce { .. });
        (!is_lost).then_some(message)
    });
    breaks_between_nodes(Carried::NAME, |_, message, _| match message {
        ToNode::Offer(offer) => Some(ToNode::Offer(Offer { load: None, ..offer })),
        message => Some(message),
    });
    breaks_between_nodes(Reunited::NAME, |to, message, _| {
        let is_lost = to == 0 && matches!(message, ToNode::Vouch { .. });
        (!is_lost).then_some(message)
    });
}
