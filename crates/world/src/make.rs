//! Makes the bodies of a world's start from its spec.

use shapes::{Pose, Shape, exact};
use space::{GridPoint, ObjectId, Turn, Vec3, snap};

use crate::objects::{AVATAR, Card, Collider, Drive, EXACT, Kind, Label, MOVABLE, ROUTED, SLIDING, SOLID, TURNING};
use crate::scenery::ColumnGrid;
use crate::settle::CLOSEST_M;
use crate::solid::{GridBox, RoundedBox};
use crate::spec::{AvatarSpec, ContactPolicy, ObjectKind, ObjectSpec, Route, Spec, SpecError};

/// An object of the spec as the world keeps it.
pub(crate) struct Made {
    pub body: Collider,
    pub shape: Shape,
    pub turn: Turn,
}

/// Metres as whole steps, at least one.
fn steps(metres: f32) -> i32 {
    ((f64::from(metres) * f64::from(snap::STEPS_PER_METRE)).round() as i32).max(1)
}

/// A radius, a step or two thinner than in the spec: round shapes that touch in a world file must not overlap because
/// both were rounded to the grid.
fn thin(metres: f32) -> i32 {
    ((f64::from(metres) * f64::from(snap::STEPS_PER_METRE)).floor() as i32 - 1).max(1)
}

/// A box by its faces: boxes that share a face in a world file share it on the grid, or leave a step between.
fn boxed(at: Vec3, half: Vec3) -> (GridPoint, RoundedBox) {
    let (mut center, mut core) = ([0; 3], [0; 3]);
    for axis in 0..3 {
        let (at, half) = (f64::from(at[axis]), f64::from(half[axis]));
        let face = |place: f64| (place * f64::from(snap::STEPS_PER_METRE)).round() as i32;
        let (low, high) = (face(at - half), face(at + half));
        core[axis] = ((high - low) / 2).max(1);
        center[axis] = low + core[axis];
    }
    (GridPoint::new(center[0], center[1], center[2]), RoundedBox { core, radius: 0 })
}

fn metres(steps: i32) -> f32 {
    steps as f32 * snap::STEP
}

/// The upright solid of an avatar, rounded to the grid.
pub(crate) fn avatar_solid(avatar: &AvatarSpec) -> RoundedBox {
    let radius = steps(avatar.radius);
    RoundedBox { core: [0, (steps(avatar.height) / 2 - radius).max(0), 0], radius }
}

pub(crate) fn avatar_card(id: ObjectId, shape: u32, avatar: &AvatarSpec) -> Card {
    Card { id, kind: Kind::Avatar, shape, policy: avatar.policy, holds: None, held_by: None, phase: 0 }
}

pub(crate) fn avatar_body(avatar: &AvatarSpec, at: GridPoint) -> Collider {
    let policy = match avatar.policy {
        ContactPolicy::PassThrough => 0,
        ContactPolicy::Slide => SOLID | SLIDING,
        ContactPolicy::Block | ContactPolicy::Bounce => SOLID,
    };
    Collider::new(at, avatar_solid(avatar), AVATAR | policy)
}

/// The narrow phase's shape of a sphere or an upright capsule.
pub(crate) fn round_shape(solid: RoundedBox) -> Shape {
    if solid.core[1] == 0 {
        Shape::Sphere { radius: metres(solid.radius) }
    } else {
        Shape::Capsule { half_height: metres(solid.core[1]), radius: metres(solid.radius) }
    }
}

/// An object's body at the start. Upright shapes are rounded to the grid; others keep their shape, with a
/// box around it.
pub(crate) fn object(spec: &ObjectSpec) -> Result<Made, SpecError> {
    let turn = Turn::nearest(spec.rotation);
    let rotation = turn.quat();
    let is_upright = (rotation * Vec3::Y - Vec3::Y).length() < 1e-6;
    let is_level = turn == Turn::IDENTITY;
    let turns = matches!(&spec.kind, ObjectKind::Moving(route) if route.turns());
    let at = GridPoint::nearest(spec.at).ok_or_else(|| SpecError::OutOfBounds { name: spec.name.clone() })?;
    let mut flags = if spec.policy == ContactPolicy::PassThrough { 0 } else { SOLID };
    if spec.kind == ObjectKind::Movable {
        flags |= MOVABLE;
    }
    if matches!(spec.kind, ObjectKind::Moving(_)) {
        flags |= ROUTED;
    }
    if turns {
        flags |= TURNING;
    }
    let upright = match &spec.shape {
        Shape::Sphere { radius } => Some((at, RoundedBox { core: [0; 3], radius: thin(*radius) })),
        Shape::Capsule { half_height, radius } if is_upright => {
            let core = [0, (f64::from(*half_height) * f64::from(snap::STEPS_PER_METRE)).round() as i32, 0];
            Some((at, RoundedBox { core, radius: thin(*radius) }))
        }
        Shape::Box { half } if is_level && !turns => Some(boxed(spec.at, *half)),
        _ => None,
    };
    if let Some((at, solid)) = upright {
        let shape = match &spec.shape {
            Shape::Box { .. } => {
                let [x, y, z] = solid.core.map(metres);
                Shape::Box { half: Vec3::new(x, y, z) }
            }
            _ => round_shape(solid),
        };
        return Ok(Made { body: Collider::new(at, solid, flags), shape, turn });
    }
    let bounds = spec.shape.bounds();
    let mut half = Vec3::ZERO;
    for corner in 0..8 {
        let side = |bit: usize, low: f32, high: f32| if corner >> bit & 1 == 0 { low } else { high };
        let corner = Vec3::new(
            side(0, bounds.min.x, bounds.max.x),
            side(1, bounds.min.y, bounds.max.y),
            side(2, bounds.min.z, bounds.max.z),
        );
        let corner = (rotation * corner).abs();
        // A spinning object may reach equally far to all sides.
        let spun = if turns { (corner.x * corner.x + corner.z * corner.z).sqrt() } else { 0.0 };
        half = half.max(corner).max(Vec3::new(spun, 0.0, spun));
    }
    if let ObjectKind::Moving(Route::Deform(deformation)) = &spec.kind {
        // Every form is within this: the surface within the first summand, its spheres within the second. `Deforming`
        // checks it.
        let sphere = spec.shape.bounding_sphere();
        let reach = f64::from(sphere.center.length()) + f64::from(sphere.radius);
        half += Vec3::splat(deformation.farthest(reach) as f32) + Vec3::splat(sphere.radius);
    }
    let core = half.to_array().map(|half| steps(half) + 2);
    let body = Collider::new(at, RoundedBox { core, radius: 0 }, flags | EXACT);
    Ok(Made { body, shape: spec.shape.clone(), turn })
}

/// The card of an object that can move.
pub(crate) fn card(index: usize, spec: &ObjectSpec) -> Card {
    Card {
        id: object_id(index),
        kind: if spec.kind == ObjectKind::Movable { Kind::Movable } else { Kind::Moving },
        shape: index as u32,
        policy: spec.policy,
        holds: None,
        held_by: None,
        phase: 0,
    }
}

pub(crate) fn label(spec: &ObjectSpec) -> Label {
    Label { owner: None, name: spec.name.as_str().into() }
}

pub(crate) fn drive(kind: Kind) -> Drive {
    // A movable object may hang in the air at the start, so it is awake.
    Drive { awake: kind != Kind::Fixed, ..Drive::default() }
}

pub(crate) fn object_id(index: usize) -> ObjectId {
    ObjectId::new(index as u64 + 1).expect("one more than an index is not zero")
}

/// Refuses solids that overlap, and objects that reach beyond the bounds.
pub(crate) fn check_apart(spec: &Spec, made: &[Made], low: GridPoint, high: GridPoint) -> Result<(), SpecError> {
    let mut columns = ColumnGrid::over(low, high, made.len());
    let blocks: Vec<(u32, GridBox)> = made
        .iter()
        .enumerate()
        .filter(|(_, made)| made.body.is(SOLID))
        .map(|(index, made)| (index as u32, made.body.block().grown(8)))
        .collect();
    for (index, made) in made.iter().enumerate() {
        let block = made.body.block();
        // The box around a shape that is not upright is a little too large.
        let slack = if made.body.is(EXACT) { 4 } else { 0 };
        let (low, high) = ([low.x, low.y, low.z], [high.x, high.y, high.z]);
        // A deforming object does not move; its box has room for every form and may reach beyond.
        let moves = !matches!(spec.objects[index].kind, ObjectKind::Fixed | ObjectKind::Moving(Route::Deform(_)));
        if moves && (0..3).any(|axis| block.low[axis] + slack < low[axis] || block.high[axis] - slack > high[axis]) {
            return Err(SpecError::OutOfBounds { name: spec.objects[index].name.clone() });
        }
    }
    columns.fill(&blocks);
    for (index, block) in &blocks {
        let mut wrong = None;
        columns.visit(
            block,
            |other| made[other as usize].body.block().grown(8),
            |other| {
                if other < *index && wrong.is_none() {
                    wrong = check_pair(spec, made, other as usize, *index as usize).err();
                }
            },
        );
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
    }
    Ok(())
}

fn check_pair(spec: &Spec, made: &[Made], one: usize, other: usize) -> Result<(), SpecError> {
    let (a, b) = (&made[one], &made[other]);
    let names = || (spec.objects[one].name.clone(), spec.objects[other].name.clone());
    if (a.body.flags | b.body.flags) & EXACT == 0 {
        if a.body.solid.overlaps(a.body.at, b.body.solid, b.body.at) {
            let (one, other) = names();
            return Err(SpecError::Overlap { one, other });
        }
        return Ok(());
    }
    let poses = [a, b].map(|made| Pose::new(made.body.at.position(), made.turn.quat()));
    let distance = exact::distance(&a.shape, &poses[0], &b.shape, &poses[1]);
    if distance >= CLOSEST_M {
        return Ok(());
    }
    let are_fixed = [one, other].iter().all(|&index| spec.objects[index].kind == ObjectKind::Fixed);
    let depth = exact::penetration(&a.shape, &poses[0], &b.shape, &poses[1]).map_or(0.0, |found| found.depth);
    let (one, other) = names();
    if depth > snap::STEP {
        return Err(SpecError::Overlap { one, other });
    }
    // Fixed objects may touch each other.
    if are_fixed { Ok(()) } else { Err(SpecError::TooClose { one, other, distance, least: CLOSEST_M }) }
}
