//! Every way in which one object can change hands among three nodes, one of which may die: all interleavings of
//! messages, losses, doubles, deaths and plans, up to a depth.
//!
//! The nodes' custody is the real one; the world is one place. A node that dies may be dead, or only cut off: then it
//! goes on with what it believes, and may no longer act. After every step at most one node may move the object; from
//! every state that was reached, when everything arrives from then on, exactly one does.

use std::collections::{BTreeSet, VecDeque};

use cluster::handover::{Custody, ObjectAccess, Parcel};
use space::{NodeId, ObjectId, Time};
use wire::ToNode;

/// What to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many steps at most.
    pub depth: usize,
    /// How many messages are lost or doubled at most.
    pub upsets: usize,
    /// How many nodes keep copies.
    pub copies: usize,
    /// How many states to look at, at most: beyond that the depth is not complete.
    pub states_max: usize,
    /// A mistake to make: it must be found.
    pub mistake: Option<Mistake>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { depth: 9, upsets: 1, copies: 1, states_max: 400_000, mistake: None }
    }
}

/// A mistake to make: messages are sent that a node should not send yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// What was taken is acknowledged before its copies are safe.
    AcknowledgesAtOnce,
    /// A node that has copies adopts without asking.
    AdoptsWithoutAsking,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    pub states: usize,
    /// Steps that were tried.
    pub steps: u64,
    /// The depth up to which all were looked at.
    pub depth: usize,
    /// What is wrong, with the steps that lead there.
    pub failure: Option<String>,
}

const NODES: usize = 3;
const NOW: Time = Time::from_micros(0);

#[derive(Clone, Debug)]
struct Place {
    is_here: bool,
    owner: NodeId,
}

impl ObjectAccess for Place {
    fn parcel(&self, _: ObjectId) -> Option<Parcel> {
        self.is_here.then(|| Parcel { object: vec![1], session: Vec::new() })
    }

    fn put(&mut self, _: ObjectId, _: &Parcel, _: bool) -> bool {
        self.is_here = true;
        true
    }

    fn lift(&mut self, _: ObjectId) {
        self.is_here = false;
    }

    fn gone(&mut self, _: ObjectId, _: NodeId, _: u32) {
        self.is_here = false;
    }

    fn owner_of(&self, _: &Parcel) -> Option<NodeId> {
        Some(self.owner)
    }
}

#[derive(Clone, Debug)]
struct State {
    nodes: Vec<(Custody, Place)>,
    /// The node that is dead, or only taken for dead.
    dead: Option<usize>,
    is_zombie: bool,
    /// Whether the plan without it holds, and who acts by it.
    is_committed: bool,
    acts_by: [u64; NODES],
    /// How often the object's place has changed its owner.
    moves: usize,
    network: BTreeSet<(usize, usize, Vec<u8>)>,
    upsets: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Deliver(usize),
    DeliverAndKeep(usize),
    Lose(usize),
    Wake(usize),
    Offer(usize),
    Die(usize, bool),
    Commit,
    Activate(usize),
    /// The object's place goes to the next node.
    Shift,
}

fn node(index: usize) -> NodeId {
    NodeId::new(index as u64 + 1)
}

fn object() -> ObjectId {
    ObjectId::new(7).expect("not zero")
}

pub fn explore(settings: &Settings) -> Explored {
    let mut found = Explored::default();
    let start = State::new(settings);
    let mut seen: BTreeSet<u128> = BTreeSet::from([start.fingerprint()]);
    let mut queue: VecDeque<(State, Vec<Step>)> = VecDeque::from([(start, Vec::new())]);
    while let Some((state, path)) = queue.pop_front() {
        found.states += 1;
        found.depth = path.len();
        if let Some(wrong) = state.wrong().or_else(|| state.clone().ends_wrong(settings)) {
            found.failure = Some(format!("{wrong} after {path:?}"));
            return found;
        }
        if path.len() == settings.depth || found.states >= settings.states_max {
            continue;
        }
        for step in state.steps(settings) {
            found.steps += 1;
            let mut next = state.clone();
            next.take(step, settings);
            if seen.insert(next.fingerprint()) {
                let mut path = path.clone();
                path.push(step);
                queue.push_back((next, path));
            }
        }
    }
    found
}

impl State {
    fn new(settings: &Settings) -> State {
        let members: Vec<NodeId> = (0..NODES).map(node).collect();
        let mut nodes = Vec::new();
        for index in 0..NODES {
            let mut place = Place { is_here: index == 0, owner: node(1) };
            let mut custody = Custody::new(node(index), settings.copies);
            custody.activate(1, &members, &mut place, NOW);
            if index == 0 {
                custody.begin(object());
            }
            nodes.push((custody, place));
        }
        let mut state = State {
            nodes,
            dead: None,
            is_zombie: false,
            is_committed: false,
            acts_by: [1; NODES],
            moves: 0,
            network: BTreeSet::new(),
            upsets: 0,
        };
        // Copies are in place before anything happens.
        for _ in 0..4 {
            (0..NODES).for_each(|index| state.take(Step::Wake(index), settings));
            while !state.network.is_empty() {
                state.take(Step::Deliver(0), settings);
            }
        }
        state
    }

    fn fingerprint(&self) -> u128 {
        let text = format!("{self:?}");
        let mut hash = [0xcbf2_9ce4_8422_2325_u64, 0x9e37_79b9_7f4a_7c15];
        for (at, byte) in text.bytes().enumerate() {
            let lane = &mut hash[at % 2];
            *lane = (*lane ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
        }
        u128::from(hash[0]) << 64 | u128::from(hash[1])
    }

    fn is_left_out(&self, index: usize) -> bool {
        self.dead == Some(index) && self.is_committed
    }

    fn runs(&self, index: usize) -> bool {
        self.dead != Some(index) || self.is_zombie
    }

    /// Whether a node may move what it has: who is left out has no lease any more.
    fn may_act(&self, index: usize) -> bool {
        self.runs(index) && !self.is_left_out(index)
    }

    fn steps(&self, settings: &Settings) -> Vec<Step> {
        let mut steps = Vec::new();
        for number in 0..self.network.len() {
            steps.push(Step::Deliver(number));
            if self.upsets < settings.upsets {
                steps.push(Step::DeliverAndKeep(number));
                steps.push(Step::Lose(number));
            }
        }
        for index in 0..NODES {
            if self.runs(index) {
                steps.push(Step::Wake(index));
            }
            if self.may_act(index) && self.nodes[index].0.owns(object()) && self.nodes[index].1.owner != node(index) {
                steps.push(Step::Offer(index));
            }
            if self.dead.is_none() {
                steps.push(Step::Die(index, false));
                steps.push(Step::Die(index, true));
            }
            if self.is_committed && self.dead != Some(index) && self.acts_by[index] == 1 {
                steps.push(Step::Activate(index));
            }
        }
        if self.dead.is_some() && !self.is_committed {
            steps.push(Step::Commit);
        }
        if self.dead.is_none() && self.moves < 2 {
            steps.push(Step::Shift);
        }
        steps
    }

    fn take(&mut self, step: Step, settings: &Settings) {
        match step {
            Step::Deliver(number) | Step::DeliverAndKeep(number) => {
                let message = self.network.iter().nth(number).cloned().expect("only what is on its way is delivered");
                if step == Step::Deliver(number) {
                    self.network.remove(&message);
                } else {
                    self.upsets += 1;
                }
                let (from, to, bytes) = message;
                if self.runs(to) {
                    let may_take = self.may_act(to);
                    let message = ToNode::decode(&bytes).expect("it was encoded");
                    let (custody, place) = &mut self.nodes[to];
                    let is_member = self.acts_by[to] == 1 || self.dead != Some(from);
                    if is_member {
                        custody.handle(NOW, node(from), &message, may_take, place);
                    }
                    if let (Some(Mistake::AcknowledgesAtOnce), ToNode::Offer(offer)) = (settings.mistake, &message)
                        && self.nodes[to].0.owns(object())
                    {
                        let taken = ToNode::Taken { object: offer.object, seq: offer.seq };
                        self.network.insert((to, from, taken.encode()));
                    }
                    self.collect(to, settings);
                }
            }
            Step::Lose(number) => {
                let message = self.network.iter().nth(number).cloned().expect("only what is on its way is lost");
                self.network.remove(&message);
                self.upsets += 1;
            }
            Step::Wake(index) => {
                let (custody, place) = &mut self.nodes[index];
                custody.lose_patience();
                custody.wake(NOW, place);
                let (adopting, version) = (custody.adopting(), self.acts_by[index]);
                // What beats tell, as if they arrived at once.
                let adopting: Vec<u64> = adopting.iter().map(|node| node.number()).collect();
                for other in (0..NODES).filter(|&other| other != index) {
                    if self.runs(other) {
                        self.nodes[other].0.mourn(node(index), version, &adopting);
                    }
                }
                self.collect(index, settings);
            }
            Step::Offer(index) => {
                let (custody, place) = &mut self.nodes[index];
                let to = place.owner;
                custody.offer(object(), to, place);
                self.collect(index, settings);
            }
            Step::Die(index, is_zombie) => (self.dead, self.is_zombie) = (Some(index), is_zombie),
            Step::Commit => self.is_committed = true,
            Step::Activate(index) => {
                self.acts_by[index] = 2;
                let dead = self.dead.expect("only a death makes a plan");
                let members: Vec<NodeId> = (0..NODES).filter(|&other| other != dead).map(node).collect();
                let (custody, place) = &mut self.nodes[index];
                if place.owner == node(dead) {
                    place.owner = members[0];
                }
                custody.activate(2, &members, place, NOW);
                self.collect(index, settings);
            }
            Step::Shift => {
                self.moves += 1;
                for (_, place) in &mut self.nodes {
                    place.owner = node(place.owner.number() as usize % NODES);
                }
            }
        }
    }

    fn collect(&mut self, index: usize, settings: &Settings) {
        while let Some((to, message)) = self.nodes[index].0.poll() {
            let to = to.number() as usize - 1;
            match message {
                // No node is asked: it is as if all had answered that they know nothing.
                ToNode::Query { version, piece, .. } if settings.mistake == Some(Mistake::AdoptsWithoutAsking) => {
                    let known = ToNode::Known { version, piece, objects: Vec::new() };
                    self.network.insert((to, index, known.encode()));
                }
                message => drop(self.network.insert((index, to, message.encode()))),
            }
        }
    }

    /// What must never be.
    fn wrong(&self) -> Option<String> {
        let owners: Vec<usize> =
            (0..NODES).filter(|&index| self.may_act(index) && self.nodes[index].0.owns(object())).collect();
        (owners.len() > 1).then(|| format!("{owners:?} may move the object at once"))
    }

    /// What must not be in the end, when all messages arrive and all nodes act by the last plan.
    fn ends_wrong(mut self, settings: &Settings) -> Option<String> {
        if self.dead.is_some() {
            self.is_committed = true;
            self.is_zombie = false;
        }
        for _ in 0..12 {
            for index in 0..NODES {
                if self.is_committed && self.dead != Some(index) && self.acts_by[index] == 1 {
                    self.take(Step::Activate(index), settings);
                }
                if self.runs(index) {
                    self.take(Step::Wake(index), settings);
                }
            }
            while !self.network.is_empty() {
                self.take(Step::Deliver(0), settings);
                if let Some(wrong) = self.wrong() {
                    return Some(wrong);
                }
            }
        }
        let owns = |index: &usize| self.runs(*index) && self.nodes[*index].0.owns(object());
        let owners = (0..NODES).filter(owns).count();
        let has_all = (0..NODES).filter(owns).all(|index| self.nodes[index].1.is_here);
        (owners != 1 || !has_all).then(|| format!("{owners} nodes have the object in the end"))
    }
}
