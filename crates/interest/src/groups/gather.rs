//! Who belongs together: pairs are brought to the homes of their circles, and whoever has none is gathered into one.

use space::{Pair, Slot};

use super::Groups;
use super::circle::{AnyCircle, GROUPS_MAX, MEMBERS_MAX, News};
use super::homes::NOWHERE;
use super::tidy::Tidying;
use crate::Graph;

/// Smaller circles are laid out in no time, and get no home.
const HOME_MIN: usize = 24;

impl Groups {
    /// Addresses pairs to the homes that they are of, and lets the graph take in all others. Circles whose members meet
    /// somebody from elsewhere give up their homes.
    pub(super) fn address(&mut self, began: &[Pair], ended: &[Pair], graph: &mut Graph) {
        for pair in began {
            let (one, other) = (self.homes.of(pair.a()), self.homes.of(pair.b()));
            if one != other {
                self.give_up_home(one, graph);
                self.give_up_home(other, graph);
            }
        }
        let [mut other_began, mut other_ended] = [&mut self.began, &mut self.ended].map(std::mem::take);
        for (pairs, begins, others) in [(ended, false, &mut other_ended), (began, true, &mut other_began)] {
            others.clear();
            others.extend(pairs.iter().filter(|pair| pair.a() != pair.b() && !self.homes.address(**pair, begins)));
        }
        graph.update(&other_began, &other_ended);
        (self.began, self.ended) = (other_began, other_ended);
    }

    /// Repairs all circles at home in which something changed.
    pub(super) fn mend_homes(&mut self, tidying: &Tidying, graph: &mut Graph) {
        for home in 1..=self.homes.last() {
            if !self.homes.news(home).is_empty() {
                self.homes.fetch(home + 1);
                self.mend_home(home, tidying, graph);
            }
        }
    }

    /// Repairs a circle at home.
    pub(super) fn mend_home(&mut self, home: u32, tidying: &Tidying, graph: &mut Graph) {
        let tick = self.seats.tick();
        if self.by_lists {
            let (mut circle, news) = (self.homes.take(home), self.homes.news(home).to_vec());
            self.mend_by_lists(&mut circle, &news, tidying, home);
            self.homes.settle(home, circle, tick);
        } else {
            self.homes.mend(home, tidying, tick, &mut self.ledger);
        }
        if self.homes.has_fallen_apart(home, tick) {
            self.give_up_home(home, graph);
        }
    }

    /// Writes a circle into the graph and the lists, if it has a home.
    fn give_up_home(&mut self, home: u32, graph: &mut Graph) {
        if home != NOWHERE {
            let circle = self.homes.give_up(home);
            circle.write_rolls(&mut self.ledger, &mut self.rolls);
            circle.write_graph(graph);
        }
    }

    /// Repairs whoever has no home, circle by circle, and by lists what is too large for one.
    pub(super) fn repair_circles(&mut self, graph: &mut Graph, tidying: &Tidying) {
        self.seats.take_in(graph);
        let mut are_all_seated = true;
        let ended = graph.ended().len();
        for index in 0..ended + graph.began().len() {
            let pair = if index < ended { graph.ended()[index] } else { graph.began()[index - ended] };
            if self.seats.is_seated(pair.a()) {
                continue;
            }
            if self.gather_circle(pair.a(), graph) {
                self.repair_circle(graph, tidying);
            } else {
                are_all_seated = false;
            }
        }
        if !are_all_seated {
            let is_left = |pair: &&Pair| !self.seats.is_in_circle(pair.a());
            let [mut ended, mut began] = [&mut self.ended, &mut self.began].map(std::mem::take);
            ended.clear();
            ended.extend(graph.ended().iter().filter(is_left));
            began.clear();
            began.extend(graph.began().iter().filter(is_left));
            self.repair_by_lists(&began, &ended, graph);
            (self.ended, self.began) = (ended, began);
        }
    }

    /// Gathers the circle of an object, unless it is too large.
    fn gather_circle(&mut self, seed: Slot, graph: &Graph) -> bool {
        self.gathered.clear();
        self.gathered_groups.clear();
        self.seats.start_circle();
        if !self.seat_everybody(seed, graph) {
            self.seats.send_away(&self.gathered);
            return false;
        }
        self.gathered.sort_unstable();
        true
    }

    /// Follows groups and pairs that began from an object to all others that they lead to, and notes the groups.
    fn seat_everybody(&mut self, seed: Slot, graph: &Graph) -> bool {
        self.start_counting();
        let Groups { gathered: slots, gathered_groups: found, seats, ledger, rolls, round, .. } = self;
        seats.sit(seed, slots, MEMBERS_MAX);
        let (mut seen, mut seen_groups) = (0, 0);
        // Ring by ring, and each ring is fetched at once: one by one, every list would be waited for.
        while seen < slots.len() {
            let ring = seen..slots.len();
            rolls.memberships.fetch(slots[ring.clone()].iter().map(|slot| slot.row()));
            for slot in &slots[ring.clone()] {
                for &group in rolls.memberships.get(slot.row()) {
                    if std::mem::replace(&mut ledger.looks[group as usize].round, *round) != *round {
                        found.push(group);
                    }
                }
                if found.len() > GROUPS_MAX {
                    return false;
                }
            }
            rolls.members.fetch(found[seen_groups..].iter().map(|&group| group as usize));
            for &group in &found[seen_groups..] {
                if !rolls.members.get(group as usize).iter().all(|&member| seats.sit(member, slots, MEMBERS_MAX)) {
                    return false;
                }
            }
            seen = ring.end;
            seen_groups = found.len();
            for index in ring {
                if !seats.sit_with(slots[index], graph.began(), slots, MEMBERS_MAX) {
                    return false;
                }
            }
        }
        true
    }

    /// Repairs the circle that has been gathered, and gives it a home if it is worth it.
    fn repair_circle(&mut self, graph: &mut Graph, tidying: &Tidying) {
        let news = self.news_of_gathered(graph);
        let home = if self.gathered.len() < HOME_MIN { NOWHERE } else { self.homes.find() };
        let mut circle = if home == NOWHERE { std::mem::take(&mut self.visitor) } else { self.homes.take(home) };
        circle.lay_out(&self.gathered, &self.gathered_groups, &self.ledger, &self.rolls);
        let freed = self.ledger.freed.len();
        if self.by_lists {
            self.mend_by_lists(&mut circle, &news, tidying, home);
        } else {
            circle.mend(&mut self.homes.desks, &news, tidying, home, &mut self.ledger);
        }
        if home == NOWHERE {
            circle.write_rolls(&mut self.ledger, &mut self.rolls);
            self.rolls.forget(&[], &self.ledger.freed[freed..]);
            self.visitor = circle;
            return;
        }
        self.rolls.forget(&self.gathered, &self.gathered_groups);
        self.gathered.iter().for_each(|&slot| graph.replace_neighbours(slot, &[]));
        circle.live_places().for_each(|place| self.ledger.places[place as usize].home = home);
        self.homes.settle(home, circle, self.seats.tick());
    }

    /// The pairs of those who have been gathered, by their tags: first those that ended.
    fn news_of_gathered(&self, graph: &Graph) -> Vec<News> {
        let tag = |slot: Slot| self.gathered.binary_search(&slot).expect("both of a pair are gathered");
        let mut news = Vec::new();
        for begins in [false, true] {
            for (one, &slot) in self.gathered.iter().enumerate() {
                let pairs = match begins {
                    false => self.seats.ended(slot, graph.ended()),
                    true => self.seats.began(slot, graph.began()),
                };
                news.extend(pairs.iter().map(|pair| News::new(one, tag(pair.b()), begins)));
            }
        }
        news
    }

    /// Repairs a circle by lists: the twin of [`AnyCircle::mend`].
    fn mend_by_lists(&mut self, circle: &mut AnyCircle, news: &[News], tidying: &Tidying, home: u32) {
        let slots = circle.slots().to_vec();
        let mut graph = Graph::new();
        circle.write_rolls(&mut self.ledger, &mut self.rolls);
        circle.write_graph(&mut graph);
        let pairs = |begins| {
            let own = news.iter().filter(move |news| news.begins() == begins).map(|news| news.tags());
            own.map(|(one, other)| Pair::new(slots[one], slots[other])).collect::<Vec<Pair>>()
        };
        graph.update(&pairs(true), &pairs(false));
        self.repair_by_lists(graph.began(), graph.ended(), &graph);
        let turns = self.groups_of_all(&slots).into_iter().filter_map(|place| Some((tidying.turn(place)?, place)));
        let mut turns: Vec<(u32, u32)> = turns.collect();
        turns.sort_unstable();
        turns.into_iter().for_each(|(_, group)| self.tidy_group(group, tidying, &graph));
        self.write_changes();
        let groups = self.groups_of_all(&slots);
        circle.lay_out(&slots, &groups, &self.ledger, &self.rolls);
        if home != NOWHERE {
            self.rolls.forget(&slots, &groups);
            groups.iter().for_each(|&place| self.ledger.places[place as usize].home = home);
        }
    }

    /// The groups that some objects are in, ascending.
    fn groups_of_all(&self, slots: &[Slot]) -> Vec<u32> {
        let all = slots.iter().flat_map(|slot| self.rolls.memberships.get(slot.row()));
        let mut groups: Vec<u32> = all.copied().collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }
}
