//! One message of each kind and form, shared by the golden vectors and the corpus.

use kinesphere_wire::cluster;
use kinesphere_wire::form::{FormClock, Forms};
use kinesphere_wire::inside::{Group, Groups, Hearing, OccupiedCells, Wanted};
use kinesphere_wire::operator::{
    Borders, FromOperator, Known, NodeRegion, OPERATOR_VERSION, ToOperator, Watched, WorldView,
};
use kinesphere_wire::peer::{self, PEER_VERSION, ToPeer};
use kinesphere_wire::scene::{FixedObject, Scene};
use kinesphere_wire::session::{CloseReason, Entered, EnteredKind, Hello, Refused, Roster, Walking, Welcome};
use kinesphere_wire::state::{Body, Head, Own, State};
use kinesphere_wire::{CollisionShape, Handle, InputStep, Moves, ToClient, ToNode, ToServer, VERSION};
use space::{GridPoint, ObjectId, Quat, Turn};

fn object(number: u64) -> ObjectId {
    ObjectId::new(number).unwrap()
}

fn point(x: i32, y: i32, z: i32) -> GridPoint {
    GridPoint::new(x, y, z)
}

/// Messages of clients, by name.
pub fn to_server() -> Vec<(&'static str, ToServer)> {
    let step = |x, z, heading, is_jump| InputStep { velocity: [x, 0, z], heading, is_jump };
    vec![
        ("hello", ToServer::Hello(Hello { version: VERSION, nickname: "Zoë".into(), avatar: 2, ..Hello::default() })),
        (
            "hello_resume",
            ToServer::Hello(Hello {
                version: VERSION,
                nickname: "Ann".into(),
                avatar: 0,
                token: vec![1, 2, 3],
                resume: Some(std::array::from_fn(|at| at as u8 * 17)),
            }),
        ),
        ("say", ToServer::Say { text: "Guten Tag!".into() }),
        ("grab", ToServer::Grab { object: object(300) }),
        ("release", ToServer::Release),
        ("leave", ToServer::Leave),
        ("moves_one", ToServer::Moves(Moves { heard: 0, tick: 90, newest: 1, steps: vec![step(512, 0, 64, false)] })),
        (
            "moves_repeated",
            ToServer::Moves(Moves {
                heard: 7,
                tick: 70_000,
                newest: 4_000,
                steps: vec![
                    step(-300, 299, 10, true),
                    step(-300, 299, 10, false),
                    step(-300, 299, 11, false),
                    InputStep { velocity: [0, -50, 0], heading: 11, is_jump: false },
                ],
            }),
        ),
        ("ping", ToServer::Ping { asked_us: -5 }),
    ]
}

/// Messages of servers, by name.
pub fn to_client() -> Vec<(&'static str, ToClient)> {
    let capsule = CollisionShape::Capsule { half_height: 0.55, radius: 0.35 };
    let free = Turn::nearest(Quat::from_xyzw(0.1, -0.7, 0.3, 0.5).normalize());
    let body = |x, y, z| Body { place: point(x, y, z), ..Body::default() };
    vec![
        (
            "welcome",
            ToClient::Welcome(Welcome {
                version: VERSION,
                resume_key: [0xab; 16],
                is_resumed: true,
                own: object(1_001),
                nickname: "Zoë".into(),
                tick: 123_456,
                tick_us: 33_333,
                time_us: 4_115_158_848,
                aura: 24.0,
                walking: Walking { speed_max: 5.0, jump_speed: 4.5, gravity: 9.81, step_height: 0.35 },
                bounds: [point(-65_536, 0, -65_536), point(65_536, 16_384, 65_536)],
                shape: capsule.clone(),
                place: point(1_024, 922, -2_048),
                turn: kinesphere_wire::pose::heading(64),
                newest: 77,
            }),
        ),
        (
            "refused",
            ToClient::Refused(Refused {
                version: VERSION,
                reason: CloseReason::NicknameTaken,
                sentence: "Somebody is called Ann already; choose another name.".into(),
            }),
        ),
        (
            "scene",
            ToClient::Scene(Scene {
                is_last: true,
                solids: vec![
                    FixedObject {
                        object: object(1),
                        shape: CollisionShape::Box { half: [64.0, 0.5, 64.0] },
                        place: point(0, -512, 0),
                        turn: Turn::IDENTITY,
                    },
                    FixedObject {
                        object: object(2),
                        shape: CollisionShape::Model { name: "fountain".into(), radius: 2.5 },
                        place: point(8_192, 0, 0),
                        turn: free,
                    },
                ],
            }),
        ),
        (
            "roster",
            ToClient::Roster(Roster {
                number: 2,
                tick: 123_457,
                left: vec![Handle(0), Handle(300)],
                entered: vec![
                    Entered {
                        handle: Handle(1),
                        object: object(1_002),
                        kind: EnteredKind::Avatar,
                        name: "Bob".into(),
                        shape: capsule,
                        place: point(2_000, 922, -3_000),
                        turn: Turn::upright(1.0),
                        motion: [17, 0, -3],
                    },
                    Entered {
                        handle: Handle(2),
                        object: object(40),
                        kind: EnteredKind::Movable,
                        name: "ball".into(),
                        shape: CollisionShape::Sphere { radius: 0.25 },
                        place: point(0, 256, 0),
                        turn: Turn::IDENTITY,
                        motion: [0; 3],
                    },
                ],
            }),
        ),
        ("said", ToClient::Said { speaker: Some(object(1_002)), name: "Bob".into(), text: "Hello.".into() }),
        (
            "said_by_the_server",
            ToClient::Said { speaker: None, name: String::new(), text: "The server stops in a minute.".into() },
        ),
        ("grabbed", ToClient::Grabbed { object: object(40), is_held: true }),
        (
            "forms",
            ToClient::Forms(Forms {
                tick: 4_000_000_123,
                forms: vec![
                    FormClock { handle: Handle(3), clock: 0 },
                    FormClock { handle: Handle(4_095), clock: 90_000 },
                ],
            }),
        ),
        (
            "closed",
            ToClient::Closed(Refused {
                version: VERSION,
                reason: CloseReason::Idle,
                sentence: "Nothing was heard of you for 30 seconds.".into(),
            }),
        ),
        ("state_alone", ToClient::State(State::default())),
        (
            "state",
            ToClient::State(State {
                head: Head {
                    tick: 123_458,
                    anchor: point(1_024, 922, -2_048),
                    own: Some(Own { acknowledged: 78, velocity: [512, 0, -3], is_grounded: true }),
                },
                bodies: vec![
                    (
                        Handle(0),
                        Body {
                            place: point(2_068, 922, -3_012),
                            turn: kinesphere_wire::pose::heading(200),
                            motion: [17, 0, -3],
                            is_elsewhere: false,
                        },
                    ),
                    (Handle(1), body(-30_000, 1_400, -2_048)),
                    (
                        Handle(7),
                        Body {
                            place: point(1_000, 12_000, 30_000),
                            turn: Turn::upright(1.0),
                            motion: [-100, 60, 5],
                            is_elsewhere: true,
                        },
                    ),
                    (
                        Handle(4_095),
                        Body {
                            place: point(-8_388_608, 8_388_608, 0),
                            turn: free,
                            motion: [-8_191, 8_191, 200],
                            is_elsewhere: false,
                        },
                    ),
                ],
            }),
        ),
        (
            "pong",
            ToClient::Pong {
                asked_us: 1,
                received_us: 2_000_000,
                replied_us: 2_000_100,
                tick: 60,
                ticked_us: 1_999_980,
            },
        ),
        ("redirect", ToClient::Redirect { address: "http://10.0.0.2:7777".into() }),
        (
            "servers",
            ToClient::Servers { addresses: vec!["http://10.0.0.1:7777".into(), "https://plaza.example".into()] },
        ),
        ("servers_none", ToClient::Servers { addresses: vec![] }),
    ]
}

/// Messages of peers, by name.
pub fn to_peer() -> Vec<(&'static str, ToPeer)> {
    let digest = |x: i32, sees| peer::StateDigest { place: [x, -900, 17], velocity: [8_000, 0, -1], sees };
    let motion = peer::MotionUpdate {
        index: 1,
        seq: 300,
        algorithm: 5,
        flags: 0,
        age_us: 0,
        place: [102_400, 0, -5],
        velocity: [8_192, 0, 64],
        acceleration: [0; 3],
        turn: Turn::IDENTITY,
        spin: [0; 3],
    };
    let turning = peer::MotionUpdate {
        index: 2,
        flags: 5,
        age_us: 16_667,
        acceleration: [0, -10_045, 0],
        turn: Turn::upright(1.0),
        spin: [0, 512, 0],
        algorithm: 8,
        ..motion
    };
    let watch = peer::Watch {
        own: 1,
        other: 3,
        first: 40,
        newest: 52,
        lacks: 50,
        digests: vec![digest(5_000, true), digest(4_200, false), digest(3_400, false)],
    };
    let after = |x: i32, speed: i32| peer::After { place: [x, 0, 0], velocity: [speed, 0, 12] };
    let verdict = peer::ContactVerdict { own: 1, node: 9, other: 3, term: 53, contact_us: 5_432_100, after: None };
    vec![
        (
            "hello",
            ToPeer::Hello(peer::PeerHello {
                version: PEER_VERSION,
                node: 77,
                name: "Zoë".into(),
                settings: 0x0123_4567_89ab_cdef,
                time_us: 1_000_000,
            }),
        ),
        ("owns", ToPeer::Owns(peer::Owns { index: 1, radius: 2.71, aura: 60.0 })),
        ("drops", ToPeer::Drops { index: 1 }),
        ("report_empty", ToPeer::Report(peer::Report { time_us: -1, ..peer::Report::default() })),
        (
            "report",
            ToPeer::Report(peer::Report {
                time_us: 5_300_000,
                owns: vec![peer::Owns { index: 2, radius: 0.5, aura: 30.0 }],
                motions: vec![motion, turning],
                watches: vec![watch],
            }),
        ),
        ("claim", ToPeer::Claim(peer::ContactClaim { own: 1, other: 3, term: 0, contact_us: 5_432_100 })),
        ("verdict_no_contact", ToPeer::Verdict(verdict)),
        (
            "verdict",
            ToPeer::Verdict(peer::ContactVerdict {
                after: Some([after(-2_775, -8_000), after(2_775, 8_000)]),
                ..verdict
            }),
        ),
        ("ping", ToPeer::Ping { asked_us: -5 }),
        ("pong", ToPeer::Pong { asked_us: -5, received_us: 7, replied_us: 9 }),
        ("leave", ToPeer::Leave),
        ("says", ToPeer::Says { text: "Grüße".to_owned() }),
    ]
}

/// Messages of operators, by name.
#[allow(dead_code, reason = "not every test has to do with operators")]
pub fn from_operator() -> Vec<(&'static str, FromOperator)> {
    vec![
        ("watch", FromOperator::Watch { version: OPERATOR_VERSION, token: b"4a7f".to_vec() }),
        ("play", FromOperator::Play { from: 3_000, to: 3_299, every: 3 }),
        ("look", FromOperator::Look(Wanted { places: false, groups: true, cells: true, object: Some(object(700)) })),
        ("look_at_places", FromOperator::Look(Wanted::PLACES)),
    ]
}

/// Messages to operators, by name.
#[allow(dead_code, reason = "not every test has to do with operators")]
pub fn to_operator() -> Vec<(&'static str, ToOperator)> {
    let watched = Watched {
        version: OPERATOR_VERSION,
        name: "plaza".into(),
        tick_us: 33_333,
        aura: 20.0,
        bounds: [point(-40_960, 0, -40_960), point(40_960, 30_720, 40_960)],
        past: Some((120, 9_000)),
    };
    let known = |number, kind, is_user, name: &str, shape| Known {
        object: object(number),
        kind,
        is_user,
        name: name.into(),
        shape,
    };
    let walker = CollisionShape::Capsule { half_height: 0.6, radius: 0.3 };
    let places =
        vec![(object(7), point(0, 1_024, -5)), (object(8), point(70_000, 9, 8)), (object(900), point(1, 2, 3))];
    vec![
        ("watched", ToOperator::Watched(watched.clone())),
        ("watched_without_a_past", ToOperator::Watched(Watched { past: None, ..watched })),
        (
            "operators_only",
            ToOperator::Refused(Refused {
                version: OPERATOR_VERSION,
                reason: CloseReason::Token,
                sentence: "This is for operators.".into(),
            }),
        ),
        (
            "known",
            ToOperator::Known(vec![
                known(7, EnteredKind::Avatar, true, "Zoë", walker),
                known(8, EnteredKind::Movable, false, "ball", CollisionShape::Sphere { radius: 0.25 }),
            ]),
        ),
        ("view", ToOperator::View(WorldView { tick: 3_001, is_live: true, is_last: true, places: places.clone() })),
        ("view_of_the_past", ToOperator::View(WorldView { tick: 3_000, is_live: false, is_last: false, places })),
        ("played", ToOperator::Played { to: 3_299 }),
        (
            "groups",
            ToOperator::Groups(Groups {
                tick: 3_006,
                all: 40,
                groups: vec![
                    Group { number: 3, members: vec![object(7), object(9)] },
                    Group { number: (2 << 32) + 5, members: vec![object(7), object(8), object(900)] },
                ],
            }),
        ),
        (
            "cells",
            ToOperator::Cells(OccupiedCells {
                tick: 3_006,
                low: [-40_960, -40_960],
                edge: 1_024,
                counts: [81, 81],
                all: 3,
                occupied: vec![(0, 2), (5, 1), (6_560, 300)],
            }),
        ),
        (
            "hearing",
            ToOperator::Hearing(Hearing {
                tick: 3_006,
                object: object(7),
                hears_all: 2_000,
                hears: vec![object(8), object(900)],
                heard_by_all: 1,
                heard_by: vec![object(9)],
            }),
        ),
        (
            "heard_by_nobody",
            ToOperator::Hearing(Hearing {
                tick: 3_012,
                object: object(8),
                hears_all: 0,
                hears: vec![],
                heard_by_all: 0,
                heard_by: vec![],
            }),
        ),
        (
            "borders",
            ToOperator::Borders(Borders {
                plan: 9,
                regions: vec![
                    NodeRegion { node: "ann".into(), is_own: true, low: [-40_960, -40_960], high: [512, 40_960] },
                    NodeRegion {
                        node: "http://10.0.0.2:7777".into(),
                        is_own: false,
                        low: [512, -40_960],
                        high: [40_960, 40_960],
                    },
                ],
            }),
        ),
    ]
}

pub fn to_node() -> Vec<(&'static str, ToNode)> {
    let standing = cluster::StandingSolid { core: [0, 614, 0], radius: 307, at: GridPoint::new(-2_048, 921, 40) };
    let ballot = cluster::Ballot { round: 3, node: 2 };
    let member = |node: u64, is_witness| cluster::Member { node, address: format!("10.0.0.{node}:7777"), is_witness };
    let plan = cluster::Plan {
        version: 7,
        members: vec![member(1, false), member(2, false), member(9, true)],
        cuts: vec![
            cluster::SpaceCut::X(-1_024),
            cluster::SpaceCut::Leaf(1),
            cluster::SpaceCut::Z(4_096),
            cluster::SpaceCut::Leaf(2),
            cluster::SpaceCut::Leaf(1),
        ],
    };
    let ask = cluster::Ask {
        object: 1 << 40 | 12,
        seq: 4,
        asked: 900,
        standing: Some(standing),
        keeps: vec![898],
        wants: Some([[-2_400, 0, -300], [-1_700, 1_900, 380]]),
        mate: None,
    };
    let granted = cluster::Granted { room: [[-2_400, 0, -300], [-1_900, 1_900, 380]], standing: vec![(77, standing)] };
    vec![
        (
            "beat",
            ToNode::Beat(cluster::Beat {
                version: 7,
                sent_us: 1_234_567,
                tick: 900,
                load: 412,
                lag: 3,
                half: Some((1, cluster::SpaceCut::Z(-64))),
                suspects: vec![4],
                awaiting: vec![2],
                adopting: vec![3, 4],
            }),
        ),
        ("vouch", ToNode::Vouch { version: 7, sent_us: 1_234_567 }),
        (
            "join",
            ToNode::Join { version: 2, world: 0x0123_4567_89ab_cdef, address: "[::1]:7777".into(), is_witness: true },
        ),
        ("prepare", ToNode::Prepare { slot: 8, ballot }),
        ("promise", ToNode::Promise { slot: 8, ballot, accepted: None }),
        (
            "promise, with what was accepted",
            ToNode::Promise { slot: 7, ballot, accepted: Some((ballot, plan.clone())) },
        ),
        ("accept", ToNode::Accept { ballot, plan: plan.clone() }),
        ("accepted", ToNode::Accepted { slot: 7, ballot }),
        ("committed", ToNode::Committed(plan)),
        (
            "declare",
            ToNode::Declare {
                version: 7,
                telling: 2,
                piece: cluster::Piece { number: 1, count: 3 },
                standing: vec![cluster::Declared { object: 5, seq: 1, standing }],
            },
        ),
        (
            "batch",
            ToNode::Batch(cluster::Batch {
                version: 7,
                tick: 900,
                guests: vec![
                    cluster::GuestPose { object: 5, place: GridPoint::new(100, 921, -7), turn: Turn::IDENTITY },
                    cluster::GuestPose { object: 6, place: GridPoint::new(100, 921, -9_000), turn: Turn::upright(1.0) },
                ],
                asks: vec![
                    ask.clone(),
                    cluster::Ask { object: 13, standing: None, keeps: Vec::new(), wants: None, mate: Some(14), ..ask },
                ],
                answers: vec![
                    cluster::Answer { object: 5, seq: 2, asked: 17, granted: Some(granted) },
                    cluster::Answer { object: 6, seq: 1, asked: 3, granted: None },
                ],
            }),
        ),
        (
            "introduce",
            ToNode::Introduce {
                objects: vec![cluster::Introduced { object: 5, seq: 2, model: 31, is_user: true, name: "Ann".into() }],
            },
        ),
        (
            "offer",
            ToNode::Offer(cluster::Offer {
                version: 7,
                object: 5,
                seq: 3,
                is_exact: true,
                parcel: vec![1, 2, 3],
                session: vec![9],
                load: None,
            }),
        ),
        (
            "offer, of a carrier and its load",
            ToNode::Offer(cluster::Offer {
                version: 7,
                object: 5,
                seq: 3,
                is_exact: true,
                parcel: vec![1, 2, 3],
                session: vec![9],
                load: Some(cluster::Load { object: 6, seq: 4, parcel: vec![4, 5] }),
            }),
        ),
        ("taken", ToNode::Taken { object: 5, seq: 3 }),
        ("closed", ToNode::Closed { object: 5, seq: 3 }),
        (
            "replicate",
            ToNode::Replicate(cluster::Replicate {
                number: 12,
                is_first: true,
                entries: [cluster::ReplicaEntry { object: 5, seq: 3, parcel: &[1, 2, 3], session: &[] }]
                    .into_iter()
                    .collect(),
                gone: vec![6],
            }),
        ),
        ("replicated", ToNode::Replicated { number: 12 }),
        (
            "query",
            ToNode::Query {
                version: 8,
                piece: cluster::Piece::WHOLE,
                objects: vec![cluster::Named { object: 5, seq: 3 }],
            },
        ),
        ("known", ToNode::Known { version: 8, piece: cluster::Piece::WHOLE, objects: vec![5] }),
        ("hello", ToNode::Hello { version: 2, world: 0x0123_4567_89ab_cdef, plan: 7 }),
        ("turned away", ToNode::TurnedAway { version: 2, world: 0xfedc_ba98_7654_3210 }),
        ("seek", ToNode::Seek(cluster::Seek { number: 40, key: Some([0x5a; 16]), name: "Zoë".into() })),
        ("seek, of somebody new", ToNode::Seek(cluster::Seek { number: 41, key: None, name: "Ann".into() })),
        ("sought", ToNode::Sought(cluster::Sought { number: 40, is_here: true, is_taken: false })),
        ("said", ToNode::Said { object: 5, name: "Ann".into(), text: "Guten Tag!".into() }),
    ]
}
