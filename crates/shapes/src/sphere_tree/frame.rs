//! A frame that does not change when a mesh is turned by right angles. Builders search, and a search that starts a
//! little differently may end elsewhere.
//!
//! Each axis is described by the vertices' coordinates along it, relative to their mean, with the first nonzero one
//! made positive. Axes are sorted by these lists. A right-angle turn only permutes coordinates and changes signs,
//! without rounding, so the lists, and all that follows, are the same to the bit.

use std::cmp::Ordering;

use space::DVec3;

/// A rotation by right angles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CanonicalFrame {
    /// For each new axis, the old axis and its sign.
    axes: [(usize, f64); 3],
}

impl CanonicalFrame {
    pub fn of(vertices: &[DVec3]) -> CanonicalFrame {
        let count = vertices.len().max(1) as f64;
        let mean = [0, 1, 2].map(|axis| vertices.iter().map(|vertex| vertex[axis]).sum::<f64>() / count);
        let sign = [0, 1, 2].map(|axis| {
            let first = vertices.iter().map(|vertex| vertex[axis] - mean[axis]).find(|&value| value != 0.0);
            if first.is_some_and(|value| value < 0.0) { -1.0 } else { 1.0 }
        });
        let along = |axis: usize| vertices.iter().map(move |vertex| (vertex[axis] - mean[axis]) * sign[axis]);
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| {
            let mut differences = along(a).zip(along(b)).map(|(a, b)| a.total_cmp(&b));
            differences.find(|&difference| difference != Ordering::Equal).unwrap_or(Ordering::Equal)
        });
        let mut axes = order.map(|axis| (axis, sign[axis]));
        // A rotation, not a reflection.
        let is_cyclic = (order[1] + 3 - order[0]) % 3 == 1;
        let handed = if is_cyclic { 1.0 } else { -1.0 } * sign[0] * sign[1] * sign[2];
        axes[2].1 *= handed;
        CanonicalFrame { axes }
    }

    pub fn turned(&self, point: DVec3) -> DVec3 {
        DVec3::from_array(self.axes.map(|(axis, sign)| point[axis] * sign))
    }

    pub fn back(&self, point: DVec3) -> DVec3 {
        let mut back = DVec3::ZERO;
        for (index, (axis, sign)) in self.axes.into_iter().enumerate() {
            back[axis] = point[index] * sign;
        }
        back
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::workload::Random;

    /// The rotations by right angles, as the images of the axes.
    fn turns() -> Vec<[DVec3; 3]> {
        let axes = [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X, -DVec3::Y, -DVec3::Z];
        let pairs = axes.iter().flat_map(|&a| axes.iter().map(move |&b| (a, b)));
        pairs.filter(|(a, b)| a.dot(*b) == 0.0).map(|(a, b)| [a, b, a.cross(b)]).collect()
    }

    #[test]
    fn every_turn_has_the_same_frame() {
        assert_eq!(turns().len(), 24);
        for seed in 0..20 {
            let mut random = Random::new(seed);
            // Half of them on a lattice, for symmetries.
            let place = |random: &mut Random| match seed % 2 {
                0 => random.in_ball().as_dvec3() + 3.0,
                _ => (random.in_ball().as_dvec3() * 2.0).round(),
            };
            let vertices: Vec<DVec3> = (0..9).map(|_| place(&mut random)).collect();
            let expected: Vec<DVec3> =
                vertices.iter().map(|&vertex| CanonicalFrame::of(&vertices).turned(vertex)).collect();
            for [x, y, z] in turns() {
                let turned: Vec<DVec3> =
                    vertices.iter().map(|vertex| x * vertex.x + y * vertex.y + z * vertex.z).collect();
                let frame = CanonicalFrame::of(&turned);
                for (vertex, expected) in turned.iter().zip(&expected) {
                    assert_eq!(frame.turned(*vertex), *expected, "seed {seed}");
                    assert_eq!(frame.back(frame.turned(*vertex)), *vertex, "seed {seed}");
                }
                let [a, b, c] = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| frame.turned(axis));
                assert_eq!(a.cross(b), c, "a turn, not a reflection");
            }
        }
    }
}
