//! What the server says about which client was told of which object is what its datagrams say, tick by tick.

mod hall;

use std::collections::BTreeMap;

use hall::Hall;
use kinesphere_server::ServerSettings;
use kinesphere_server::limits::Limits;
use wire::{Handle, InputStep, Moves, ToClient, ToServer};

#[test]
fn attention_is_what_the_datagrams_say() {
    let limits = Limits { state_bytes_per_tick: 100, ..Limits::default() };
    let mut hall = Hall::new(ServerSettings { limits, ..ServerSettings::default() });
    let users: Vec<_> = (1..=20).map(|number| hall.join(number, &format!("user {number}"))).collect();
    let (asked, own) = (users[0].0, users[0].1.own);
    let mut known: BTreeMap<Handle, space::ObjectId> = BTreeMap::new();
    let (mut told, mut waited, mut at_rest) = (0, 0, 0);
    for round in 1..200_u32 {
        let mut heard = 0;
        for message in hall.to(asked) {
            if let ToClient::Roster(roster) = message {
                heard = roster.number;
                known.retain(|handle, _| !roster.left.contains(handle));
                known.extend(roster.entered.iter().map(|entered| (entered.handle, entered.object)));
            }
        }
        for (number, (link, _)) in users.iter().enumerate() {
            // Some walk, each at times of their own.
            let speed = if round as usize % (number + 3) < 3 { 300 } else { 0 };
            let step = InputStep { velocity: [speed, 0, 100 - 20 * number as i16], ..InputStep::default() };
            let step = if speed == 0 { InputStep::default() } else { step };
            let heard = if *link == asked { heard } else { 0 };
            hall.say(*link, &ToServer::Moves(Moves { heard, tick: 0, newest: round, steps: vec![step] }));
        }
        hall.sent.retain(|(link, message)| *link == asked && matches!(message, ToClient::Roster(_)));
        hall.ticks(1);
        let tick = hall.server.world().tick().number();
        let mut sent: Vec<Handle> = Vec::new();
        for message in hall.to(asked) {
            match message {
                ToClient::State(state) => sent.extend(state.bodies.iter().map(|(handle, _)| *handle)),
                ToClient::Roster(roster) => known.extend(roster.entered.iter().map(|one| (one.handle, one.object))),
                _ => {}
            }
        }
        let mut ranks = Vec::new();
        for (handle, &object) in &known {
            let Some(attention) = hall.server.attention(own, object) else { continue };
            if sent.contains(handle) {
                assert_eq!((attention.told, attention.rank), (tick, None), "round {round}");
                told += 1;
            } else if let Some(rank) = attention.rank {
                assert!(attention.told < tick && attention.priority > 0.0, "round {round}: {attention:?}");
                assert_eq!(attention.budget_bytes, 100);
                ranks.push((rank, attention));
                waited += 1;
            } else {
                assert!(attention.changed <= attention.told, "round {round}: news and not sent: {attention:?}");
                at_rest += 1;
            }
        }
        ranks.sort_by_key(|&(rank, _)| rank);
        let priorities: Vec<f32> = ranks.iter().map(|(_, attention)| attention.priority).collect();
        assert!(priorities.is_sorted_by(|one, other| one >= other), "round {round}: {priorities:?}");
    }
    assert!(told > 100 && waited > 100 && at_rest > 10, "told {told}, waited {waited}, at rest {at_rest}");
}
