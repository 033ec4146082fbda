//! The contact of two balls that overlap, as a collision response needs it.

use space::{DVec3, Vec3};

use super::question::Question;
use crate::simd::NodePair;

/// The least cosine of a normal cone that counts as flat: sixty degrees.
const FLAT: f32 = 0.5;

/// A contact of two balls, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BallContact {
    /// The node of the first tree and of the second.
    pub nodes: NodePair,
    pub point: Vec3,
    /// Unit vector from the first shape to the second.
    pub normal: Vec3,
    /// A lower and an upper bound of the depth, in metres.
    pub depth: (f32, f32),
}

pub(super) fn contact(question: &Question<'_>, pair: NodePair) -> BallContact {
    let ((a, ra), (b, rb)) = (question.first_ball(pair.a), question.second_ball(pair.b));
    let distance = a.distance(b);
    let depth = (ra + rb - distance).max(0.0);
    let turn = question.relative.rotation;
    let patches = question.trees.a.patch(pair.a).zip(question.trees.b.patch(pair.b));
    let between = (b - a).try_normalize();
    // Where both surfaces are nearly flat, their normals are better than the direction between centres.
    let flat = patches
        .filter(|(a, b)| a.cone >= FLAT && b.cone >= FLAT)
        .and_then(|(a, b)| (a.normal.as_dvec3() - turn * b.normal.as_dvec3()).try_normalize());
    let upward = patches.and_then(|(a, b)| (a.normal.as_dvec3() - turn * b.normal.as_dvec3()).try_normalize());
    let normal = flat.or(between).or(upward).unwrap_or(DVec3::Y);
    let along = between.unwrap_or(normal);
    let middle = a + along * (ra - depth * 0.5);
    let point = match patches {
        Some((first, second)) => {
            let second = question.relative.position + turn * second.point.as_dvec3();
            let mean = (first.point.as_dvec3() + second) * 0.5;
            into_ball(into_ball(mean, a, ra), b, rb)
        }
        None => middle,
    };
    let overhang = f64::from(question.trees.a.error(pair.a)) + f64::from(question.trees.b.error(pair.b));
    let frame = question.frame;
    let normal = frame.rotation * if question.is_swapped { -normal } else { normal };
    BallContact {
        nodes: question.for_caller(pair),
        point: (frame.position + frame.rotation * point).as_vec3(),
        normal: normal.as_vec3().normalize_or(Vec3::Y),
        depth: ((depth - overhang).max(0.0) as f32, depth as f32),
    }
}

fn into_ball(point: DVec3, center: DVec3, radius: f64) -> DVec3 {
    let offset = point - center;
    let distance = offset.length();
    if distance > radius { center + offset * (radius / distance) } else { point }
}
