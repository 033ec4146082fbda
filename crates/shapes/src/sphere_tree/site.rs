//! A candidate centre for a ball, and the error of the ball for every radius.

use space::DVec3;

use super::ball::Ball;
use super::field::DistanceField;
use super::object::{Around, Object};

const STEPS: usize = 20;
/// Errors below this are judged by depth alone, as the field is too coarse.
const LEAST: f64 = 2.0 * DistanceField::PITCH;

/// A centre, its depth, and the error of a ball there as a function of its radius.
#[derive(Clone, Debug)]
pub struct Site {
    pub center: DVec3,
    /// The depth inside the object; negative outside.
    pub depth: f64,
    pub hint: u32,
    /// The node of the level above whose part of the surface it shares.
    pub parent: u32,
    /// A hash of the points for which it was last moved.
    pub moved_for: u64,
    /// The number of times it was moved for them.
    pub times: u8,
    /// With a distance field: errors at multiples of a step of the radius.
    table: Option<Box<Table>>,
}

#[derive(Clone, Debug)]
struct Table {
    step: f64,
    errors: [f64; STEPS],
}

/// How errors are estimated: by depth alone, or with a distance field, which sees that balls may fill dents.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    pub object: &'a Object,
    /// Only for errors well above its pitch.
    pub field: Option<&'a DistanceField>,
    /// The largest radius in a table.
    pub radius_max: f64,
}

impl Judge<'_> {
    pub fn site(&self, center: DVec3, parent: u32, hint: Option<u32>) -> Site {
        let (depth, nearest) = self.object.depth(center, hint);
        let table = self.field.map(|field| {
            let step = self.radius_max / STEPS as f64;
            let mut errors = [0.0; STEPS];
            field.farthest_out_by_radius(center, step, &mut errors);
            for (index, error) in errors.iter_mut().enumerate() {
                // A margin, since the farthest point is rarely a node.
                let between = 0.87 * DistanceField::PITCH;
                let proven = (step * (index + 1) as f64 - depth).max(0.0);
                *error = if proven < LEAST { proven } else { proven.min(*error + between) };
            }
            Box::new(Table { step, errors })
        });
        Site { center, depth, hint: nearest.triangle, parent, moved_for: 0, times: 0, table }
    }

    /// An estimate of the error, never above the bound by depth.
    pub fn error(&self, center: DVec3, radius: f64, hints: &mut Hints) -> f64 {
        let (depth, nearest) = self.object.depth(center, hints.center);
        hints.center = Some(nearest.triangle);
        self.error_at_depth(Ball::new(center, radius), depth, hints)
    }

    /// As [`Judge::error`], for a centre in a vicinity.
    pub fn error_around(&self, around: &mut Around<'_>, center: DVec3, radius: f64, hints: &mut Hints) -> f64 {
        let (depth, _) = self.object.depth_around(around, center);
        self.error_at_depth(Ball::new(center, radius), depth, hints)
    }

    fn error_at_depth(&self, ball: Ball, depth: f64, hints: &mut Hints) -> f64 {
        match self.field {
            Some(field) => estimate(self.object, field, ball, depth, hints),
            None => (ball.radius - depth).max(0.0),
        }
    }
}

/// Triangles that were nearest to the centre and to the farthest point of a similar ball.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints {
    center: Option<u32>,
    farthest: Option<u32>,
}

/// Begins at the farthest node and ascends: each step goes away from the nearest surface and stays in the ball.
fn estimate(object: &Object, field: &DistanceField, ball: Ball, depth: f64, hints: &mut Hints) -> f64 {
    let proven = (ball.radius - depth).max(0.0);
    if proven < LEAST {
        return proven;
    }
    let Some((mut place, out)) = field.farthest_node(ball.center, ball.radius) else { return proven };
    if out + DistanceField::PITCH >= proven {
        return proven;
    }
    let mut farthest = out;
    let mut step = DistanceField::PITCH;
    for _ in 0..2 {
        let (out, nearest) = object.out(place, hints.farthest);
        hints.farthest = Some(nearest.triangle);
        farthest = farthest.max(out);
        let ahead = place + (place - nearest.point).normalize_or_zero() * step;
        let offset = ahead - ball.center;
        let distance = offset.length();
        place = if distance > ball.radius { ball.center + offset * (ball.radius / distance) } else { ahead };
        step *= 0.5;
    }
    proven.min(farthest.max(object.out(place, hints.farthest).0))
}

impl Site {
    pub fn error_at(&self, radius: f64) -> f64 {
        let proven = (radius - self.depth).max(0.0);
        let Some(table) = &self.table else { return proven };
        let at = radius / table.step;
        let index = at as usize;
        if index >= STEPS {
            return proven;
        }
        let below = if index == 0 { (-self.depth).max(0.0) } else { table.errors[index - 1] };
        let here = below + (table.errors[index] - below) * (at - index as f64);
        here.min(proven)
    }

    /// The largest radius of a ball with this error; zero if there is none.
    pub fn reach(&self, error: f64) -> f64 {
        let proven = (self.depth + error).max(0.0);
        let Some(table) = &self.table else { return proven };
        let mut reach = 0.0;
        let mut below = (-self.depth).max(0.0);
        if below > error {
            return 0.0;
        }
        for (index, &here) in table.errors.iter().enumerate() {
            if here <= error {
                reach = table.step * (index + 1) as f64;
                below = here;
                continue;
            }
            if here > below {
                reach = table.step * (index as f64 + (error - below) / (here - below));
            }
            break;
        }
        proven.max(reach)
    }
}
