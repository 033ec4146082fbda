//! The count of a list is checked against the bytes that follow, by the least size of an item. A list of the smallest
//! items shows that no item is smaller.

use kinesphere_wire::cluster::{
    Answer, Ask, Batch, Beat, Declared, Granted, GuestPose, Introduced, Member, Named, Piece, Plan, ReplicaEntry,
    Replicate, SpaceCut, StandingSolid,
};
use kinesphere_wire::form::{FormClock, Forms};
use kinesphere_wire::inside::{Group, Groups, Hearing, OccupiedCells};
use kinesphere_wire::operator::{Borders, Known, NodeRegion, ToOperator, WorldView};
use kinesphere_wire::peer::{MotionUpdate, Owns, Report, StateDigest, ToPeer, Watch};
use kinesphere_wire::scene::{FixedObject, Scene};
use kinesphere_wire::session::{Entered, EnteredKind, Roster};
use kinesphere_wire::{CollisionShape, Handle, ToClient, ToNode};
use space::{GridPoint, ObjectId, Turn};

const ORIGIN: GridPoint = GridPoint::new(0, 0, 0);
const POINT: CollisionShape = CollisionShape::Sphere { radius: 0.0 };

fn object(number: u64) -> ObjectId {
    ObjectId::new(number).unwrap()
}

/// One item, and enough that the rest of the message cannot make up for a missing byte in each.
const COUNTS: [usize; 2] = [1, 50];

#[test]
fn between_nodes() {
    let standing = StandingSolid { core: [0; 3], radius: 0, at: ORIGIN };
    for count in COUNTS {
        let granted = Granted { room: [[0; 3]; 2], standing: vec![(1, standing); count] };
        let answer = |granted| Answer { object: 1, seq: 0, asked: 0, granted };
        let ask =
            Ask { object: 1, seq: 0, asked: 0, standing: None, keeps: vec![0; count.min(4)], wants: None, mate: None };
        let batch = Batch { version: 0, tick: 0, guests: Vec::new(), asks: Vec::new(), answers: Vec::new() };
        let member = |node: usize| Member { node: node as u64, address: String::new(), is_witness: node > 1 };
        let beat = Beat {
            version: 0,
            sent_us: 0,
            tick: 0,
            load: 0,
            lag: 0,
            half: None,
            suspects: Vec::new(),
            awaiting: Vec::new(),
            adopting: vec![1; count],
        };
        let entry = ReplicaEntry { object: 1, seq: 0, parcel: &[0], session: &[] };
        let messages = [
            ToNode::Introduce {
                objects: vec![Introduced { object: 1, seq: 0, model: 0, is_user: false, name: String::new() }; count],
            },
            ToNode::Declare {
                version: 0,
                telling: 0,
                piece: Piece::WHOLE,
                standing: vec![Declared { object: 1, seq: 0, standing }; count],
            },
            ToNode::Batch(Batch {
                guests: vec![GuestPose { object: 1, place: ORIGIN, turn: Turn::IDENTITY }; count],
                ..batch.clone()
            }),
            ToNode::Batch(Batch { asks: vec![ask.clone(); count], ..batch.clone() }),
            ToNode::Batch(Batch { asks: vec![Ask { keeps: Vec::new(), ..ask }; count], ..batch.clone() }),
            ToNode::Batch(Batch { answers: vec![answer(None); count], ..batch.clone() }),
            ToNode::Batch(Batch { answers: vec![answer(Some(granted))], ..batch }),
            ToNode::Committed(Plan {
                version: 0,
                members: (1..=count).map(member).collect(),
                cuts: vec![SpaceCut::Leaf(1)],
            }),
            ToNode::Beat(beat),
            ToNode::Replicate(Replicate {
                number: 0,
                is_first: false,
                entries: vec![entry; count].into_iter().collect(),
                gone: Vec::new(),
            }),
            ToNode::Replicate(Replicate {
                number: 0,
                is_first: false,
                entries: [].into_iter().collect(),
                gone: vec![1; count],
            }),
            ToNode::Query { version: 0, piece: Piece::WHOLE, objects: vec![Named { object: 1, seq: 0 }; count] },
            ToNode::Known { version: 0, piece: Piece::WHOLE, objects: vec![1; count] },
        ];
        for message in messages {
            assert_eq!(ToNode::decode(&message.encode()), Ok(message));
        }
    }
}

#[test]
fn to_clients() {
    for count in COUNTS {
        let entered = Entered {
            handle: Handle(0),
            object: object(1),
            kind: EnteredKind::Avatar,
            name: String::new(),
            shape: POINT,
            place: ORIGIN,
            turn: Turn::IDENTITY,
            motion: [0; 3],
        };
        let solid = FixedObject { object: object(1), shape: POINT, place: ORIGIN, turn: Turn::IDENTITY };
        let messages = [
            ToClient::Roster(Roster { number: 1, tick: 0, left: Vec::new(), entered: vec![entered; count] }),
            ToClient::Roster(Roster { number: 1, tick: 0, left: vec![Handle(0); count], entered: Vec::new() }),
            ToClient::Scene(Scene { is_last: true, solids: vec![solid; count] }),
            ToClient::Forms(Forms { tick: 0, forms: vec![FormClock { handle: Handle(0), clock: 0 }; count] }),
            ToClient::Servers { addresses: vec!["a:80".to_owned(); count] },
        ];
        for message in messages {
            assert_eq!(ToClient::decode(&message.encode()), Ok(message));
        }
    }
}

#[test]
fn to_operators() {
    for count in COUNTS {
        let all = count as u32;
        let numbers = || 1..=count as u64;
        let known = |number| Known {
            object: object(number),
            kind: EnteredKind::Avatar,
            is_user: false,
            name: String::new(),
            shape: POINT,
        };
        let group = |number| Group { number, members: vec![object(1), object(2)] };
        let region = NodeRegion { node: "a".to_owned(), is_own: false, low: [0; 2], high: [0; 2] };
        let messages = [
            ToOperator::Known(numbers().map(known).collect()),
            ToOperator::View(WorldView {
                tick: 0,
                is_live: false,
                is_last: false,
                places: numbers().map(|number| (object(number), ORIGIN)).collect(),
            }),
            ToOperator::Groups(Groups { tick: 0, all, groups: numbers().map(group).collect() }),
            ToOperator::Cells(OccupiedCells {
                tick: 0,
                low: [0; 2],
                edge: 1,
                counts: [all, 1],
                all,
                occupied: (0..all).map(|cell| (cell, 1)).collect(),
            }),
            ToOperator::Hearing(Hearing {
                tick: 0,
                object: object(1),
                hears_all: 0,
                hears: Vec::new(),
                heard_by_all: all,
                heard_by: numbers().map(object).collect(),
            }),
            ToOperator::Borders(Borders { plan: 0, regions: vec![region; count] }),
        ];
        for message in messages {
            assert_eq!(ToOperator::decode(&message.encode()), Ok(message));
        }
    }
}

#[test]
fn between_peers() {
    for count in COUNTS {
        let still = MotionUpdate {
            index: 1,
            seq: 0,
            algorithm: 1,
            flags: 0,
            age_us: 0,
            place: [0; 3],
            velocity: [0; 3],
            acceleration: [0; 3],
            turn: Turn::IDENTITY,
            spin: [0; 3],
        };
        let digest = StateDigest { place: [0; 3], velocity: [0; 3], sees: false };
        let watch = Watch { own: 1, other: 1, first: 0, newest: 0, lacks: 0, digests: vec![digest] };
        let long = Watch { newest: 31, lacks: 31, digests: vec![digest; 32], ..watch.clone() };
        let reports = [
            Report { owns: vec![Owns { index: 1, radius: 0.0, aura: 0.0 }; count], ..Report::default() },
            Report { motions: vec![still; count], ..Report::default() },
            Report { watches: vec![watch; count], ..Report::default() },
            Report { watches: vec![long], ..Report::default() },
        ];
        for message in reports.map(ToPeer::Report) {
            assert_eq!(ToPeer::decode(&message.encode()), Ok(message));
        }
    }
}
