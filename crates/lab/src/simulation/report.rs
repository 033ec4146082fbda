//! What a simulation came to.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use wire::kind;

use super::{Settings, Simulation};
use crate::checker::SentBytes;
use crate::promise::{Promise, Promises};
use crate::report::number::grouped;
use crate::report::table::Table;

/// Counted while it runs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// How much of `sent` is on its way.
    pub flushed: usize,
    pub cuts: u64,
    pub partitions: u64,
    pub restarts: u64,
    pub refusals: BTreeMap<String, u64>,
    pub broken_replays: Vec<String>,
    state_bytes: u64,
    state_bodies: u64,
    messages: u64,
}

impl Tally {
    pub fn note(&mut self, sent: &[SentBytes]) {
        for one in sent {
            self.messages += 1;
            if one.bytes.first() == Some(&kind::STATE)
                && let Ok(wire::ToClient::State(state)) = wire::ToClient::decode(&one.bytes)
            {
                self.state_bytes += one.bytes.len() as u64;
                self.state_bodies += state.bodies.len() as u64;
            }
        }
    }
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    /// What the run was made from.
    pub seed: u64,
    /// Clients that mean well.
    pub clients: usize,
    /// Hostile ones.
    pub hostile: usize,
    /// Ticks of the server.
    pub ticks: u64,
    /// Simulated seconds.
    pub seconds: f64,
    /// The share of datagrams that were lost.
    pub loss: f64,
    /// One way.
    pub latency_ms: f64,
    /// What comes on top, at most.
    pub jitter_ms: f64,
    /// Users let in.
    pub joined: u64,
    /// Times that one came back to its avatar.
    pub resumed: u64,
    /// Clients that are in at the end.
    pub in_at_end: usize,
    /// Connections that were cut.
    pub cuts: u64,
    /// Partitions of the network.
    pub partitions: u64,
    /// Times that the server was killed and came back from its journal.
    pub restarts: u64,
    /// Messages that the last server rejected.
    pub rejected: u64,
    /// How often clients that mean well were refused or sent away, by reason.
    pub refusals: BTreeMap<String, u64>,
    /// How far avatars are shown from where they are, on average.
    pub shown_error_m: f64,
    /// State bytes per object and update, its share of heads included.
    pub state_bytes_per_object: f64,
    /// Messages that the server sent.
    pub messages: u64,
    /// The world at the end, in a number: the same run ends the same.
    pub hash: String,
    /// How the promises were kept.
    #[serde(rename = "rows", serialize_with = "serialize_with_examples")]
    pub promises: Promises,
}

/// One run is looked at more closely than many: its promises are told with all examples, by the names of their checkers.
fn serialize_with_examples<S: Serializer>(promises: &Promises, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        checker: &'static str,
        checks: u64,
        violations: u64,
        examples: &'a [String],
    }
    serializer.collect_seq(promises.iter().map(|Promise { promise, checks, violations, examples }| Row {
        checker: promise,
        checks: *checks,
        violations: *violations,
        examples,
    }))
}

impl Report {
    /// Whether every promise was kept.
    pub fn holds(&self) -> bool {
        self.promises.holds()
    }

    /// The broken promises, in words.
    pub fn failures(&self) -> Vec<String> {
        self.promises.failures()
    }

    /// The report for a terminal.
    pub fn to_text(&self) -> String {
        let mut table = Table::new(["promise", "checks", "broken"]);
        for Promise { promise, checks, violations, .. } in self.promises.iter() {
            table.row([(*promise).to_owned(), grouped(*checks), grouped(*violations)]);
        }
        format!(
            "{table}\n{:.0} simulated seconds, {} clients and {} hostile ones, loss {}, {} ms and up to {} ms more one way.\n\
             {} joined, {} resumed, {} in at the end; {} cuts, {} partitions, {} restarts; {} messages rejected.\n\
             Avatars are shown {:.3} m from where they are, on average. {:.2} state bytes per object and update.\n\
             World at the end: {}\n",
            self.seconds,
            self.clients,
            self.hostile,
            self.loss,
            self.latency_ms,
            self.jitter_ms,
            self.joined,
            self.resumed,
            self.in_at_end,
            self.cuts,
            self.partitions,
            self.restarts,
            grouped(self.rejected),
            self.shown_error_m,
            self.state_bytes_per_object,
            self.hash
        )
    }
}

impl Settings {
    /// The command line that repeats the run.
    pub fn command(&self) -> String {
        let Settings { seed, clients, hostile, ticks, loss, latency_ms, jitter_ms, speed, seekers, .. } = self;
        let behaviour = client::bot::Behaviour::ALL.iter().find(|(_, behaviour)| Some(*behaviour) == self.behaviour);
        let behaviour = behaviour.map_or_else(String::new, |(name, _)| format!(" --behaviour {name}"));
        let calm = if self.upsets { "" } else { " --calm" };
        format!(
            "kinesphere lab simulate --seed {seed} --clients {clients} --hostile {hostile} --ticks {ticks} --loss {loss} \
             --latency {latency_ms} --jitter {jitter_ms} --speed {speed} --crowd {seekers}{behaviour}{calm}"
        )
    }
}

pub(super) fn report(simulation: Simulation) -> Report {
    let Simulation { settings, checkers, shown, tally, server, clients, now, ticks, .. } = simulation;
    let (shown_promise, shown) = shown;
    let shown_error_m = shown.sum / (shown.count as f64).max(1.0);
    let replay_promise = Promise {
        promise: "the journal brings the world back",
        checks: tally.restarts,
        violations: tally.broken_replays.len() as u64,
        examples: tally.broken_replays,
    };
    let promises = checkers.into_iter().map(|(promise, _)| promise).chain([shown_promise, replay_promise]).collect();
    let counts = server.as_ref().map(server::Server::counts).unwrap_or_default();
    let resumed = clients.iter().map(|state| state.bot.client().counts().resumed).sum();
    let in_at_end = clients.iter().filter(|state| *state.bot.client().phase() == client::Phase::Joined).count();
    Report {
        command: settings.command(),
        seed: settings.seed,
        clients: settings.clients,
        hostile: settings.hostile,
        ticks,
        seconds: now.micros() as f64 * 1e-6,
        loss: settings.loss,
        latency_ms: settings.latency_ms,
        jitter_ms: settings.jitter_ms,
        joined: counts.joined,
        resumed,
        in_at_end,
        cuts: tally.cuts,
        partitions: tally.partitions,
        restarts: tally.restarts,
        rejected: counts.rejected,
        refusals: tally.refusals,
        shown_error_m,
        state_bytes_per_object: tally.state_bytes as f64 / (tally.state_bodies as f64).max(1.0),
        messages: tally.messages,
        hash: server.as_ref().map_or_else(String::new, |server| format!("{:?}", server.world().hash())),
        promises,
    }
}
