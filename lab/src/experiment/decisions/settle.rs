//! Verdicts, claims and answers between two hosts, until all is delivered.

use motion::decision::{Claim, Digest, ObjectPair, OwnVerdicts, Standing, Tentative, Verdict, Verdicts};
use motion::state::KinematicState;
use space::workload::Random;
use space::{DVec3, ObjectId, Time};

use super::HOSTS;
use super::sighting::{EPOCH_US, HostView, Sighting};

/// Verdicts about contacts no farther apart than this are about the same one, in microseconds.
const OVERLAP_US: i64 = 2_000_000;
/// The latency bound that the session publishes, in microseconds.
const LATENCY_US_BOUND: i64 = 250_000;

/// Lets deciders send verdicts, the others claims and deciders answers, until all is delivered, in any order and some
/// twice. Says whether the two hosts and a bystander hold different verdicts then, and how many claims were left open.
pub(super) fn settle(sighting: &Sighting, seed: u64, standings: &[Standing; 2]) -> (bool, u64) {
    let object = |number| ObjectId::new(number).expect("one and two are names");
    let pair = ObjectPair::new(object(1), object(2));
    let mut issued = HOSTS.map(|host| OwnVerdicts::new(host, OVERLAP_US));
    let mut sent: Vec<Verdict> = Vec::new();
    let mut waiting: Vec<(usize, Tentative)> = Vec::new();
    for index in [0, 1] {
        let contact = sighting.hosts[index].detected;
        let term = match standings[index] {
            Standing::InTerm { term, .. } => Some(term),
            _ => None,
        };
        let claim = Claim { pair, term, contact };
        match issued[index].decide(claim, standings[index], Some(after(&sighting.hosts[index], index))) {
            Some(ruling) => sent.push(ruling),
            None => waiting.push((index, Tentative { claim, since: contact })),
        }
    }
    let mut open = 0;
    for (index, tentative) in waiting {
        // Each claim comes twice: an answer must not depend on how often it is asked for.
        let decider = &mut issued[1 - index];
        let answers = [0, 1].map(|_| decider.answer(tentative.claim, standings[1 - index]));
        match answers {
            [Some(one), Some(other)] if one == other => sent.push(one),
            [None, None] => {
                // Neither decides: the claim runs out, and each goes on with its own motion.
                let last = tentative.since + 2 * (LATENCY_US_BOUND + EPOCH_US) + 1;
                open += u64::from(!tentative.is_dropped(last, LATENCY_US_BOUND, EPOCH_US));
            }
            _ => open += 1,
        }
    }
    let mut random = Random::new(seed ^ 0x5eed);
    let mut held = [0, 1, 2].map(|_| Verdicts::new(OVERLAP_US));
    for verdicts in &mut held {
        let mut order = sent.clone();
        for place in (1..order.len()).rev() {
            order.swap(place, random.whole(0, place as u32 + 1) as usize);
        }
        if let Some(&again) = order.first().filter(|_| random.unit() < 0.3) {
            order.push(again);
        }
        for ruling in order {
            verdicts.handle(ruling);
        }
    }
    let [one, other, bystander] = held.map(|verdicts| verdicts.counting());
    // Two verdicts that count about one contact would be two truths. Hosts that see theirs farther apart than that saw
    // two: a replica that turned away in time, and later the real one.
    let apart_us = sighting.hosts[0].detected - sighting.hosts[1].detected;
    let is_split = one.len() > 1 && apart_us.abs() <= OVERLAP_US;
    (one != other || one != bystander || is_split, open)
}

/// The states after a collision as this host sees it: the two exchange their velocities.
fn after(host: &HostView, index: usize) -> [KinematicState; 2] {
    let metres = |steps: [i64; 3]| DVec3::from_array(steps.map(|step| step as f64 / 1024.0));
    let newest =
        |updates: &[(Time, Digest)]| updates.last().map_or(([0; 3], [0; 3]), |(_, digest)| (digest.pos, digest.vel));
    let ((own_pos, own_vel), (other_pos, other_vel)) = (newest(&host.own_updates), newest(&host.heard_updates));
    let moving = |pos, vel| KinematicState { vel: metres(vel), ..KinematicState::at_rest(host.detected, metres(pos)) };
    let states = [moving(own_pos, other_vel), moving(other_pos, own_vel)];
    if index == 0 { states } else { [states[1], states[0]] }
}
