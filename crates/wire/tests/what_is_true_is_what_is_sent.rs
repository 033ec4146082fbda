//! A settled pose survives the wire to the bit, at any distance from its listener; the error of motion is bounded.

use kinesphere_wire::state::{Body, Head, MOTION_MAX, MOTION_UNIT, Own, State};
use kinesphere_wire::{DATAGRAM_MAX, Handle, ToClient};
use proptest::prelude::*;
use space::{GridPoint, Quat, Turn};

const EDGE: i32 = 8_388_608;

fn points() -> impl Strategy<Value = GridPoint> {
    prop_oneof![
        (-EDGE..=EDGE, -EDGE..=EDGE, -EDGE..=EDGE),
        (-40_000..40_000, -3_000..3_000, -40_000..40_000),
        (-EDGE..=-EDGE + 5, EDGE - 5..=EDGE, -2..=2),
    ]
    .prop_map(|(x, y, z)| GridPoint::new(x, y, z))
}

fn turns() -> impl Strategy<Value = Turn> {
    prop_oneof![
        Just(Turn::IDENTITY),
        any::<u8>().prop_map(kinesphere_wire::pose::heading),
        (-10f32..10.0).prop_map(Turn::upright),
        prop::array::uniform4(-1f32..1.0).prop_map(|numbers| Turn::nearest(Quat::from_array(numbers))),
    ]
}

fn bodies() -> impl Strategy<Value = Body> {
    let motion = prop_oneof![Just(0_i16), -40..40_i16, -8_191..=8_191_i16];
    (points(), turns(), prop::array::uniform3(motion), any::<bool>())
        .prop_map(|(place, turn, motion, is_elsewhere)| Body { place, turn, motion, is_elsewhere })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_decoded_pose_is_the_settled_pose(
        tick: u32,
        anchor in points(),
        own in prop::option::of((any::<u16>(), prop::array::uniform3(-32_767..=32_767_i16), any::<bool>())),
        bodies in prop::collection::btree_map(0..=4_095_u16, bodies(), 0..45),
    ) {
        let own = own.map(|(acknowledged, velocity, is_grounded)| Own { acknowledged, velocity, is_grounded });
        let bodies = bodies.into_iter().map(|(handle, body)| (Handle(handle), body)).collect();
        let state = State { head: Head { tick, anchor, own }, bodies };
        let bytes = state.encode();
        prop_assert!(bytes.len() <= DATAGRAM_MAX);
        prop_assert_eq!(ToClient::decode(&bytes), Ok(ToClient::State(state)));
    }

    #[test]
    fn motion_is_told_within_half_a_unit(before in points(), after in points()) {
        let told = Body::motion_of(before, after);
        for (told, moved) in told.into_iter().zip([after.x - before.x, after.y - before.y, after.z - before.z]) {
            let most = MOTION_MAX * MOTION_UNIT;
            prop_assert!((i32::from(told) * MOTION_UNIT - moved.clamp(-most, most)).abs() <= MOTION_UNIT / 2);
        }
    }
}

#[test]
fn a_crowd_costs_less_than_ten_bytes_each() {
    // Thirty walkers around a listener, all moving and turned differently: the share of the head included.
    let own = Some(Own { acknowledged: 1_000, velocity: [512, 0, 100], is_grounded: true });
    let head = Head { tick: 100_000, anchor: GridPoint::new(60_000, 922, -60_000), own };
    let walker = |number: u16| {
        let away = i32::from(number) * 800;
        let place = GridPoint::new(60_000 - away, 922, -60_000 + away);
        (
            Handle(number),
            Body {
                place,
                turn: kinesphere_wire::pose::heading(3 + number as u8 * 7),
                motion: [17, 0, -12],
                is_elsewhere: false,
            },
        )
    };
    let state = State { head, bodies: (0..30).map(walker).collect() };
    let each = state.encode().len() as f64 / 30.0;
    assert!(each <= 10.0, "{each} bytes");
}

#[test]
fn what_does_not_fit_is_left_for_the_next_datagram() {
    let bodies: Vec<(Handle, Body)> = (0..400).map(|number| (Handle(number), Body::default())).collect();
    let state = State { head: Head::default(), bodies };
    let bytes = state.encode();
    assert!((DATAGRAM_MAX - 8..=DATAGRAM_MAX).contains(&bytes.len()), "{} bytes", bytes.len());
    let Ok(ToClient::State(decoded)) = ToClient::decode(&bytes) else { panic!("it is a state") };
    assert_eq!(decoded.bodies[..], state.bodies[..decoded.bodies.len()]);
}
