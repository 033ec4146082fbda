//! A contact manifold: many contacts of balls reduced to the few that a response needs.

use space::Vec3;

use super::contact::BallContact;

/// The cosine of thirty degrees: contacts with normals closer than that are of one surface.
const SAME_SURFACE: f32 = 0.866_025_4;
const PER_SURFACE: usize = 4;
/// The most contacts of a manifold, since they go over networks.
pub const MANIFOLD_MAX: usize = 16;

/// For each direction the deepest contact, the one farthest from it, and those that span the largest area. The order of
/// `contacts` does not matter.
pub fn manifold(contacts: &[BallContact]) -> Vec<BallContact> {
    let mut left: Vec<BallContact> = contacts.to_vec();
    left.sort_unstable_by(|one, other| other.depth.1.total_cmp(&one.depth.1).then(one.nodes.cmp(&other.nodes)));
    let mut kept = Vec::new();
    while let Some(&deepest) = left.first()
        && kept.len() < MANIFOLD_MAX
    {
        let (mut same, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|contact| contact.normal.dot(deepest.normal) >= SAME_SURFACE);
        left = others;
        let mut chosen = vec![same.remove(0)];
        while chosen.len() < PER_SURFACE && !same.is_empty() {
            // Ties go to the deeper contact, which comes first.
            let gain = |contact: &BallContact| spread(&chosen, contact.point);
            let best = (0..same.len()).reduce(|a, b| if gain(&same[b]) > gain(&same[a]) { b } else { a }).unwrap_or(0);
            if gain(&same[best]) <= 0.0 {
                break;
            }
            chosen.push(same.remove(best));
        }
        kept.extend(chosen);
    }
    kept.truncate(MANIFOLD_MAX);
    kept
}

/// By how much a point widens the span of some contacts: a squared length for the second, an area for others.
fn spread(chosen: &[BallContact], point: Vec3) -> f32 {
    match chosen {
        [] => f32::INFINITY,
        [only] => only.point.distance_squared(point),
        [first, rest @ ..] => rest
            .windows(2)
            .map(|pair| (pair[0].point, pair[1].point))
            .chain(rest.last().map(|last| (first.point, last.point)))
            .map(|(a, b)| (a - point).cross(b - point).length())
            .fold(f32::INFINITY, f32::min),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traversal::NodePair;

    #[test]
    fn a_face_is_told_by_its_corners_and_its_deepest_point() {
        let mut contacts = Vec::new();
        for index in 0..100u32 {
            let (x, z) = ((index % 10) as f32, (index / 10) as f32);
            let depth = if index == 44 { 0.2 } else { 0.1 };
            let nodes = NodePair { a: index, b: 0 };
            contacts.push(BallContact { nodes, point: Vec3::new(x, 0.0, z), normal: Vec3::Y, depth: (0.0, depth) });
        }
        contacts.push(BallContact { normal: Vec3::X, ..contacts[3] });
        let kept = manifold(&contacts);
        assert_eq!(kept.len(), 5);
        assert_eq!(kept[0].nodes.a, 44);
        assert_eq!(kept.iter().filter(|contact| contact.normal == Vec3::X).count(), 1);
        contacts.reverse();
        assert_eq!(manifold(&contacts), kept);
        assert!(manifold(&[]).is_empty());
    }
}
