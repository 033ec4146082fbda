//! What an operator is told of the engine is what the engine does: groups cover exactly the users who hear each other,
//! and lists of who hears an object are what the server says of each pair.

mod hall;

use std::collections::BTreeSet;

use hall::Hall;
use kinesphere_server::ServerSettings;
use kinesphere_server::inside::Insight;
use kinesphere_server::watch::{Sight, Told};
use space::ObjectId;
use wire::inside::Wanted;
use wire::operator::ToOperator;
use wire::{InputStep, Moves, ToServer};

#[test]
fn tick_after_tick() {
    // A short aura, so that not all users hear each other.
    let mut hall = Hall::new(ServerSettings { focus: 3.0, nimbus: 0.0, ..ServerSettings::default() });
    let users: Vec<_> = (1..=24).map(|number| hall.join(number, &format!("user {number}"))).collect();
    let objects: Vec<ObjectId> = hall.server.world().dynamic().map(|object| object.id).collect();
    let own: Vec<ObjectId> = users.iter().map(|(_, welcome)| welcome.own).collect();
    let (mut insight, mut told) = (Insight::new(), Told::default());
    let (mut seen, mut parted, mut kept) = (0, 0, 0);
    let mut numbers = BTreeSet::new();
    for round in 1..120_u32 {
        for (number, (link, _)) in users.iter().enumerate() {
            let angle = 0.7 * number as f32 + round as f32 * 0.05;
            let speed = |part: f32| (700.0 * part) as i16;
            let step = InputStep { velocity: [speed(angle.sin()), 0, speed(angle.cos())], ..InputStep::default() };
            hall.say(*link, &ToServer::Moves(Moves { heard: 0, tick: 0, newest: round, steps: vec![step] }));
        }
        hall.sent.clear();
        hall.ticks(1);
        let asked = objects[round as usize % objects.len()];
        let wanted = Wanted { places: false, groups: true, cells: true, object: Some(asked) };
        let mut sight = Sight::of(hall.server.world(), None);
        sight.inside = Some(insight.look(&hall.server, &[wanted]));
        let server = &hall.server;
        for message in told.tell_inside(&sight, &wanted) {
            assert_eq!(ToOperator::decode(&message.encode()), Ok(message.clone()), "what is told can be read");
            match message {
                ToOperator::Groups(groups) => {
                    assert_eq!(groups.all as usize, groups.groups.len());
                    let mut covered = BTreeSet::new();
                    for group in &groups.groups {
                        for (at, &one) in group.members.iter().enumerate() {
                            covered.extend(group.members[at + 1..].iter().map(|&other| (one, other)));
                        }
                    }
                    let mut expected = BTreeSet::new();
                    for (at, &one) in own.iter().enumerate() {
                        for &other in &own[at + 1..] {
                            if server.hears(one, other) && server.hears(other, one) {
                                expected.insert((one.min(other), one.max(other)));
                            } else {
                                parted += 1;
                            }
                        }
                    }
                    assert_eq!(covered, expected, "tick {}", groups.tick);
                    seen += covered.len();
                    let now: BTreeSet<u64> = groups.groups.iter().map(|group| group.number).collect();
                    kept += now.intersection(&numbers).count();
                    numbers = now;
                }
                ToOperator::Hearing(hearing) => {
                    assert_eq!(hearing.object, asked);
                    let heard = |hears: &dyn Fn(ObjectId) -> bool| -> Vec<ObjectId> {
                        let mut list: Vec<ObjectId> = objects.iter().copied().filter(|&other| hears(other)).collect();
                        list.sort_unstable();
                        list
                    };
                    assert_eq!(hearing.hears, heard(&|other| server.hears(asked, other)));
                    assert_eq!(hearing.heard_by, heard(&|other| server.hears(other, asked)));
                    seen += hearing.heard_by.len();
                }
                ToOperator::Cells(cells) => {
                    let inside: u32 = cells.occupied.iter().map(|(_, inside)| inside).sum();
                    assert!(cells.all as usize == cells.occupied.len() && inside as usize >= users.len());
                }
                ToOperator::Known(known) => assert!(known.iter().all(|known| sight.known.contains_key(&known.object))),
                other => panic!("nobody asked for {other:?}"),
            }
        }
        assert!(told.tell_inside(&sight, &Wanted::PLACES).is_empty(), "only who asks is told");
    }
    assert!(seen > 500 && parted > 500 && kept > 100, "{seen} seen, {parted} apart, {kept} groups kept their numbers");
}
