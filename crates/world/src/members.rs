//! The participants, and the checks that each of their inputs has to pass.

use space::{NodeId, Turn, Vec3};

use crate::input::{Act, Input, Refusal, RefusalReason};
use crate::objects::Label;
use crate::outcome::{Joined, Left, Outcome, Said};
use crate::places::FreePlaces;
use crate::world::World;

/// The participants, by rising senders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memberships {
    list: Vec<Membership>,
    /// The order of a tick's inputs, as indices.
    order: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Membership {
    pub sender: NodeId,
    /// The row of its avatar.
    pub row: u32,
    /// The sequence number of its newest input.
    pub sequence: u32,
}

impl Memberships {
    pub fn get(&self, sender: NodeId) -> Option<&Membership> {
        self.list.binary_search_by_key(&sender, |member| member.sender).ok().map(|index| &self.list[index])
    }

    pub fn list(&self) -> &[Membership] {
        &self.list
    }

    pub fn insert(&mut self, member: Membership) {
        let at = self.list.partition_point(|known| known.sender < member.sender);
        self.list.insert(at, member);
    }

    pub fn remove(&mut self, sender: NodeId) {
        self.list.retain(|member| member.sender != sender);
    }
}

impl World {
    /// Takes the inputs of a tick by sender and sequence: the order of their arrival does not matter.
    pub(crate) fn take_inputs(&mut self, inputs: &[Input], outcome: &mut Outcome) {
        let mut order = std::mem::take(&mut self.members.order);
        order.clear();
        order.extend(0..inputs.len() as u32);
        // Of two equal inputs the first is taken and the second refused.
        order.sort_unstable_by_key(|&index| (inputs[index as usize].sender, inputs[index as usize].sequence, index));
        let mut places = None;
        // Members are sorted as the inputs are: the next sender's member is never before the last one's.
        let (mut at, mut last_sender, mut count) = (0, None, 0);
        for &index in &order {
            let input = &inputs[index as usize];
            if last_sender != Some(input.sender) {
                (last_sender, count) = (Some(input.sender), 0);
                at = self.find_from(at, input.sender);
            }
            count += 1;
            let most = self.spec.limits.inputs_per_tick;
            let verdict = if count > most {
                Err(RefusalReason::TooManyInputs { most })
            } else {
                self.take(input, at, &mut places, outcome)
            };
            if let Err(reason) = verdict {
                outcome.refused.push(Refusal { sender: input.sender, sequence: input.sequence, reason });
            }
        }
        self.members.order = order;
    }

    /// The place of `sender` among the members, at `from` or later.
    fn find_from(&self, from: usize, sender: NodeId) -> usize {
        let list = &self.members.list;
        let mut at = from.min(list.len());
        // Most members have inputs in most ticks: a few steps suffice.
        for _ in 0..4 {
            if at >= list.len() || list[at].sender >= sender {
                return at;
            }
            at += 1;
        }
        at + list[at..].partition_point(|member| member.sender < sender)
    }

    fn take(
        &mut self,
        input: &Input,
        at: usize,
        places: &mut Option<FreePlaces>,
        outcome: &mut Outcome,
    ) -> Result<(), RefusalReason> {
        let known = self.members.list.get(at).filter(|member| member.sender == input.sender).copied();
        if let Act::Join { name, avatar, at: place } = &input.act {
            if known.is_some() {
                return Err(RefusalReason::AlreadyHere);
            }
            return self.join(input, at, name, *avatar, *place, places, outcome);
        }
        let member = known.ok_or(RefusalReason::UnknownSender)?;
        if input.sequence <= member.sequence {
            return Err(RefusalReason::OldSequence { last: member.sequence });
        }
        self.members.list[at].sequence = input.sequence;
        let row = member.row;
        match &input.act {
            Act::Join { .. } => unreachable!("taken care of above"),
            Act::Leave => {
                outcome.released.extend(self.release(row));
                self.grabs.retain(|grab| grab.2 != row);
                outcome.left.push(Left { sender: input.sender, object: self.objects.card(row).id });
                self.members.list.remove(at);
                self.remove(row);
                // A place has become free, for joins after this.
                *places = None;
            }
            Act::Move { velocity } => self.wish(row, *velocity)?,
            Act::Turn { heading } => {
                if !heading.is_finite() {
                    return Err(RefusalReason::NotFinite { field: "heading" });
                }
                self.objects.turn[row as usize] = Turn::upright(*heading);
            }
            Act::Jump => {
                let drive = &mut self.objects.drive[row as usize];
                if !drive.standing {
                    return Err(RefusalReason::NotStanding);
                }
                drive.jump = true;
                drive.awake = true;
            }
            Act::Grab { object } => self.grabs.push((input.sender, input.sequence, row, *object)),
            Act::Release => {
                let held = self.release(row).ok_or(RefusalReason::HandsEmpty)?;
                outcome.released.push(held);
            }
            Act::Say { text } => {
                check_length("text", text, self.spec.limits.text_bytes)?;
                let object = self.objects.card(row).id;
                outcome.said.push(Said { sender: input.sender, object, text: text.clone() });
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "one caller, and each is a thing of its own")]
    fn join(
        &mut self,
        input: &Input,
        at: usize,
        name: &str,
        avatar: u16,
        place: Option<Vec3>,
        places: &mut Option<FreePlaces>,
        outcome: &mut Outcome,
    ) -> Result<(), RefusalReason> {
        check_length("name", name, self.spec.limits.name_bytes)?;
        let known = self.spec.avatars.len() as u16;
        if avatar >= known {
            return Err(RefusalReason::NoSuchAvatar { asked: avatar, known });
        }
        if place.is_some_and(|place| !place.is_finite()) {
            return Err(RefusalReason::NotFinite { field: "at" });
        }
        let most = self.spec.limits.avatars;
        let seekers = self.spec.crowd.map_or(0, |crowd| crowd.seekers as usize);
        if self.members.list.len() + seekers >= most as usize {
            return Err(RefusalReason::Full { most });
        }
        let places = places.get_or_insert_with(|| FreePlaces::new(&self.objects));
        let (row, object) = self.place_avatar(places, avatar, place)?;
        self.objects.label[row as usize] = Label { owner: Some(input.sender), name: name.into() };
        self.members.list.insert(at, Membership { sender: input.sender, row, sequence: input.sequence });
        outcome.joined.push(Joined { sender: input.sender, object });
        Ok(())
    }

    fn wish(&mut self, row: u32, velocity: Vec3) -> Result<(), RefusalReason> {
        if !velocity.is_finite() {
            return Err(RefusalReason::NotFinite { field: "velocity" });
        }
        let velocity = if self.spec.gravity > 0.0 { Vec3::new(velocity.x, 0.0, velocity.z) } else { velocity };
        let (speed, most) = (velocity.length(), self.spec.limits.speed);
        // The product of a direction and the greatest speed may be a little longer by rounding.
        if speed > most * 1.0001 {
            return Err(RefusalReason::TooFast { speed, most });
        }
        let drive = &mut self.objects.drive[row as usize];
        drive.wish = velocity.to_array();
        drive.wish_until = self.tick.number() + u64::from(self.spec.limits.wish_ticks);
        Ok(())
    }
}

fn check_length(field: &'static str, text: &str, most: usize) -> Result<(), RefusalReason> {
    if text.is_empty() || text.len() > most {
        return Err(RefusalReason::BadLength { field, bytes: text.len(), most });
    }
    Ok(())
}
