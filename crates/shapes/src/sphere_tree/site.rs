//! A place where a ball may be put, and what it costs to make it large.

use space::DVec3;

use super::ball::Ball;
use super::field::Field;
use super::object::{Around, Object};

/// Steps of the table.
const STEPS: usize = 20;
/// Smaller errors than this are judged by depth alone: the field is too coarse for them.
const LEAST: f64 = 2.0 * Field::PITCH;

/// A centre, how deep it is, and for a given radius how far the ball around it would stick out.
#[derive(Clone, Debug)]
pub struct Site {
    /// Where.
    pub center: DVec3,
    /// How deep inside the object; negative outside.
    pub depth: f64,
    /// A triangle near it.
    pub hint: u32,
    /// The node of the level above whose part of the surface it shares.
    pub parent: u32,
    /// Which points it was last moved for: a sum over them.
    pub moved_for: u64,
    /// How often it was moved for them.
    pub times: u8,
    /// Where a ball can fill a dent or a hole: the error at every radius that is a multiple of a step.
    table: Option<Box<Table>>,
}

#[derive(Clone, Debug)]
struct Table {
    step: f64,
    errors: [f64; STEPS],
}

/// How sites are judged: by depth alone, or with a field, by which dents are seen.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// The object.
    pub object: &'a Object,
    /// The field, for errors well above its pitch.
    pub field: Option<&'a Field>,
    /// The largest radius that is looked up in a table.
    pub radius_max: f64,
}

impl Judge<'_> {
    /// A site.
    pub fn site(&self, center: DVec3, parent: u32, hint: Option<u32>) -> Site {
        let (depth, nearest) = self.object.depth(center, hint);
        let table = self.field.map(|field| {
            let step = self.radius_max / STEPS as f64;
            let mut errors = [0.0; STEPS];
            field.farthest_out_by_radius(center, step, &mut errors);
            for (index, error) in errors.iter_mut().enumerate() {
                // A little more than the farthest node, since the farthest point is rarely one.
                let between = 0.87 * Field::PITCH;
                let proven = (step * (index + 1) as f64 - depth).max(0.0);
                *error = if proven < LEAST { proven } else { proven.min(*error + between) };
            }
            Box::new(Table { step, errors })
        });
        Site { center, depth, hint: nearest.triangle, parent, moved_for: 0, times: 0, table }
    }

    /// About how far a ball sticks out: never more than its depth proves.
    pub fn error(&self, center: DVec3, radius: f64, hints: &mut Hints) -> f64 {
        let (depth, nearest) = self.object.depth(center, hints.center);
        hints.center = Some(nearest.triangle);
        self.error_at_depth(Ball::new(center, radius), depth, hints)
    }

    /// The same, for a centre around a place.
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

/// Triangles that were nearest when a ball much like this one was judged: to its centre, and to its farthest point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints {
    center: Option<u32>,
    farthest: Option<u32>,
}

/// Begins at the farthest node and climbs: each step goes away from the nearest surface, and stays in the ball.
fn estimate(object: &Object, field: &Field, ball: Ball, depth: f64, hints: &mut Hints) -> f64 {
    let proven = (ball.radius - depth).max(0.0);
    if proven < LEAST {
        return proven;
    }
    let Some((mut place, out)) = field.farthest_node(ball.center, ball.radius) else { return proven };
    if out + Field::PITCH >= proven {
        return proven;
    }
    let mut farthest = out;
    let mut step = Field::PITCH;
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
    /// How far a ball of this radius sticks out.
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

    /// The largest radius of a ball that sticks out no farther than this; zero if there is none.
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
