//! What the cluster must reach, and what came out.

use sim::promises::Score;

use super::{Row, Settings};
use crate::report::claim::{ClaimResult, judged};
use crate::report::number::grouped;
use crate::study::Report;

pub fn all(report: &Report<Settings>) -> Vec<ClaimResult> {
    let facts = &report.facts;
    let promise = |claim: &str, holds: Vec<bool>, evidence: String| judged(claim, "our promise", holds, evidence);
    let checks: u64 = facts.promises.iter().map(|promise| promise.checks).sum();
    let most = |of: fn(&Row) -> f64| report.rows.iter().map(of).fold(0.0, f64::max);
    vec![
        promise(
            "Whatever is lost, cut off, frozen or killed: one owner, nothing lost, nothing doubled, nothing overlaps",
            facts.promises.iter().map(Score::holds).collect(),
            format!(
                "{} checks over seeds {} with {} upsets, {} hand-overs and {} adoptions.",
                grouped(checks),
                report.settings.seeds.words(),
                grouped(facts.upsets),
                grouped(facts.handovers),
                grouped(facts.adopted)
            ),
        ),
        promise(
            "One object among three nodes, one of which dies: every interleaving goes well",
            vec![facts.explored_failure.is_none()],
            format!(
                "All of up to {} steps: {} states, {} steps between them; one message lost or doubled.",
                facts.explored_depth,
                grouped(facts.explored_states as u64),
                grouped(facts.explored_steps)
            ),
        ),
        promise(
            "Between nodes go at most 1.1 times the messages and 1.3 times the bytes that another node needs",
            vec![facts.messages_over_needed <= 1.1, facts.bytes_over_needed <= 1.3],
            format!(
                "{:.2} and {:.2} times. Needed is a batch with a move that a listener over there hears, or with \
                 something asked or answered for the first time; copies, beats and introductions are counted apart.",
                facts.messages_over_needed, facts.bytes_over_needed
            ),
        ),
        promise(
            "A node costs less than a fifth more as the cluster grows from 1 to 64 nodes",
            report.rows.iter().map(|row| row.over_one < 1.2).collect(),
            format!(
                "At most {:.2} times what one node alone takes, which has no border and keeps no copies, and {:.2} \
                 times what each of four takes; {:.2} times where all run in turn in one process. A node is a whole \
                 server with its users: what they send, the world's step, border, copies, messages between nodes, \
                 and what each user is told. Sockets are not in it.",
                most(|row| row.over_one),
                most(|row| row.over_four),
                most(|row| row.in_turn_over_one)
            ),
        ),
    ]
}
