//! A part of a larger world keeps its border: no object enters the space of another node without a room, none enters a
//! guest or its rooms, and an object that is abroad without a room stays in its place.

mod crowd;

use crowd::Hostile;
use kinesphere_world::{Border, GridBox, Guest, PlacedSolid, Placing, Plaza, PutError, Room, RoundedBox, World};
use space::workload::Random;
use space::{GridPoint, NodeId, ObjectId};

const OTHER: NodeId = NodeId::new(2);

/// This node decides about the space west of x = 0, another one about the rest.
fn halves() -> (GridBox, GridBox) {
    let far = 1 << 20;
    (GridBox { low: [-far; 3], high: [0, far, far] }, GridBox { low: [0, -far, -far], high: [far; 3] })
}

fn name(number: u64) -> ObjectId {
    ObjectId::new(number).unwrap()
}

#[test]
fn no_object_enters_space_without_a_room() {
    for seed in 0..3 {
        let mut world = World::new(Plaza { seekers: 60, side: 24.0, seed, ..Plaza::default() }.spec()).unwrap();
        let (home, abroad) = halves();
        let mut random = Random::new(seed);
        let mut hostile = Hostile::new(seed, 12);
        let mut crossed = 0;
        for tick in 0..120 {
            let mut border = Border { home: vec![home], abroad: vec![(OTHER, abroad)], ..Border::default() };
            let before: Vec<PlacedSolid> = world.dynamic().filter_map(|object| world.standing(object.id)).collect();
            // Some objects have rooms, and there are guests beside the objects.
            for standing in &before {
                if random.unit() < 0.5 {
                    let block = world.prospect(standing.object, 4).unwrap();
                    border.rooms.insert(standing.object, vec![Room { grantor: OTHER, block, standing: Vec::new() }]);
                }
            }
            for number in 0..20 {
                let place = |random: &mut Random| random.between(-12_000.0, 12_000.0) as i32 & !1;
                let at = GridPoint::new(place(&mut random), 900, place(&mut random));
                let standing = PlacedSolid {
                    object: name(1 << 40 | number),
                    solid: RoundedBox { core: [0, 600, 0], radius: 300 },
                    at,
                };
                let rooms = if random.unit() < 0.5 { vec![standing.block().grown(200).even()] } else { Vec::new() };
                let guest = Guest { standing, rooms };
                let is_free =
                    |one: &PlacedSolid| guest.obstacles().all(|(solid, at)| !one.solid.overlaps(one.at, solid, at));
                if before.iter().all(is_free) {
                    border.guests.push(guest);
                }
            }
            world.set_border(Some(border.clone()));
            world.step(&hostile.inputs(&world));
            assert_eq!(world.first_overlap(), None, "seed {seed}, tick {tick}");
            for object in world.dynamic() {
                let Some(now) = world.standing(object.id) else { continue };
                for guest in &border.guests {
                    for (solid, at) in guest.obstacles() {
                        assert!(
                            !now.solid.overlaps(now.at, solid, at),
                            "seed {seed}, tick {tick}: {object:?} in {guest:?}"
                        );
                    }
                }
                let Some(then) = before.iter().find(|one| one.object == object.id) else { continue };
                if then.at == now.at || now.block().high[0] <= 0 {
                    continue;
                }
                crossed += 1;
                let rooms = border.rooms.get(&object.id).map_or(&[][..], Vec::as_slice);
                let walls = rooms.iter().fold(vec![abroad], |walls, room| {
                    walls.iter().flat_map(|wall| wall.without(&room.block)).collect()
                });
                for wall in walls {
                    let (solid, at) = wall.as_solid();
                    assert!(!now.solid.overlaps(now.at, solid, at), "seed {seed}, tick {tick}: {then:?} to {now:?}");
                }
            }
        }
        assert!(crossed > 40, "seed {seed}: only {crossed} motions abroad");
    }
}

#[test]
fn what_is_taken_out_can_be_put_in() {
    let spec = std::sync::Arc::new(Plaza { seekers: 20, side: 24.0, ..Plaza::default() }.spec());
    let mut world = World::new(spec.clone()).unwrap();
    let mut other = World::empty(spec).unwrap();
    let mut hostile = Hostile::new(3, 6);
    for _ in 0..100 {
        world.step(&hostile.inputs(&world));
    }
    other.catch_up(world.tick());
    let ids: Vec<ObjectId> = world.dynamic().map(|object| object.id).collect();
    let moved = ids.len();
    for id in ids {
        let parcel = world.parcel(id).unwrap();
        let then = world.object(id).map(|object| (object.at, object.turn, object.owner)).unwrap();
        assert_eq!(World::parcel_place(&parcel), Some((id, then.0)));
        assert!(world.take_out(id));
        assert_eq!(world.object(id).map(|object| object.id), None);
        assert_eq!(other.put_in(&parcel, Placing::Exact), Ok(id));
        assert_eq!(other.put_in(&parcel, Placing::Exact), Err(PutError::AlreadyHere(id)));
        assert_eq!(other.object(id).map(|object| (object.at, object.turn, object.owner)), Some(then));
    }
    assert_eq!(world.dynamic().count(), 0);
    assert_eq!(other.dynamic().count(), moved);
    assert_eq!(other.first_overlap(), None);
    assert!(moved > 20);
    for _ in 0..50 {
        other.step(&hostile.inputs(&other));
        assert_eq!(other.first_overlap(), None);
    }
}

#[test]
fn a_parcel_of_any_bytes_changes_nothing() {
    let spec = std::sync::Arc::new(Plaza { seekers: 6, side: 24.0, ..Plaza::default() }.spec());
    let mut world = World::new(spec).unwrap();
    let last = world.dynamic().last().unwrap().id;
    let parcel = world.parcel(last).unwrap();
    world.take_out(last);
    let hash = world.hash();
    let mut random = Random::new(9);
    for _ in 0..3_000 {
        let mut bytes = parcel.clone();
        for _ in 0..random.whole(1, 4) {
            let at = random.whole(0, bytes.len() as u32) as usize;
            bytes[at] = random.whole(0, 256) as u8;
        }
        bytes.truncate(random.whole(0, 2 * bytes.len() as u32) as usize);
        if let Ok(put) = world.put_in(&bytes, Placing::Exact) {
            assert_eq!(world.first_overlap(), None);
            assert!(world.take_out(put));
        }
        assert_eq!(world.hash(), hash);
    }
}
