//! Meshes that deform, as a flag in the wind. The spheres of their sphere-trees are refitted in every tick.
//!
//! A form is a function of the object's own clock, as a route is. Before the motions of a tick, each object takes its
//! next form if nothing is in the way of that form and of the change to it; else it waits, and its clock with it. So
//! movers meet a shape that stands still, and the proof against overlaps stays the same.

use std::sync::Arc;

use shapes::sphere_tree::Method;
use shapes::traversal::{Deformable, Form};
use shapes::{Pose, Shape, exact};
use space::snap;

use crate::make;
use crate::objects::{Collider, SOLID};
use crate::overlap::Shaped;
use crate::settle::CLOSEST_M;
use crate::solid::SKIN;
use crate::spec::{Deformation, ObjectKind, ObjectSpec, Route, SpecError};
use crate::world::World;

/// Levels of the sphere-tree below the root.
const DEPTH: usize = 3;

/// An object whose mesh deforms.
#[derive(Debug)]
pub(crate) struct Deforming {
    /// The index of the object in the spec.
    pub object: usize,
    deformation: Deformation,
    mesh: Deformable,
    /// The extent of the mesh at rest along the direction of the wave.
    ends: (f64, f64),
    form: Form,
}

impl Deforming {
    /// The object in its first form; `None` if it does not deform.
    pub fn new(object: usize, spec: &ObjectSpec) -> Result<Option<Deforming>, SpecError> {
        let (ObjectKind::Moving(Route::Deform(deformation)), Shape::Mesh(mesh)) = (&spec.kind, &spec.shape) else {
            return Ok(None);
        };
        let refused = |error: shapes::traversal::WrapError| SpecError::Object {
            name: spec.name.clone(),
            key: "mesh",
            value: error.to_string(),
            expected: "a mesh that can be wrapped in balls".to_owned(),
        };
        let ends = deformation.ends(mesh.triangles().vertices());
        let mesh = Deformable::new(mesh.triangles().clone(), Method::OctreeTight, DEPTH).map_err(refused)?;
        let form = mesh.form(|vertex| deformation.place(vertex, ends, 0.0)).map_err(refused)?;
        let made = make::object(spec)?;
        let first = Shape::balls(Arc::clone(&form.balls), u8::MAX);
        if !first.is_ok_and(|first| is_within(&first, made.turn, &made.body)) {
            let expected = "a mesh that is finer, or deforms less".to_owned();
            let (name, value) = (spec.name.clone(), "too coarse".to_owned());
            return Err(SpecError::Object { name, key: "mesh", value, expected });
        }
        Ok(Some(Deforming { object, deformation: *deformation, mesh, ends, form }))
    }

    /// The shape that others collide with now.
    pub fn shape(&self) -> Option<Shape> {
        Shape::balls(Arc::clone(&self.form.balls), u8::MAX).ok()
    }

    fn form_at(&self, seconds: f64) -> Option<Form> {
        self.mesh.form(|vertex| self.deformation.place(vertex, self.ends, seconds)).ok()
    }
}

/// Whether a shape is within the box by which the broad phase finds the body.
fn is_within(shape: &Shape, turn: space::Turn, body: &Collider) -> bool {
    let (bounds, rotation) = (shape.bounds(), turn.quat());
    let room = body.solid.half_extents().map(|half| half as f32 * snap::STEP);
    (0..8).all(|corner: u32| {
        let side = |axis: usize| if corner >> axis & 1 == 0 { bounds.min[axis] } else { bounds.max[axis] };
        let place = (rotation * space::Vec3::new(side(0), side(1), side(2))).abs();
        (0..3).all(|axis| place[axis] <= room[axis])
    })
}

impl World {
    /// Each deforming object takes its next form, or waits.
    pub(crate) fn deform(&mut self) {
        let mut deforming = std::mem::take(&mut self.deforming);
        for one in &mut deforming {
            let Some(row) = self.objects.row(make::object_id(one.object)) else { continue };
            let next = (self.objects.card(row).phase + 1) as f64 / f64::from(self.spec.tick_rate);
            let Some(form) = one.form_at(next) else { continue };
            let between = one.mesh.between(&one.form, &form).ok();
            let shapes = between.and_then(|between| {
                let on_the_way = Shape::balls(Arc::new(between), u8::MAX).ok()?;
                Some((on_the_way, Shape::balls(Arc::clone(&form.balls), u8::MAX).ok()?))
            });
            let Some((on_the_way, there)) = shapes else { continue };
            let body = &self.objects.body[row as usize];
            if !is_within(&there, self.objects.turn[row as usize], body) || !self.has_room(row, &on_the_way, &there) {
                continue;
            }
            // The schedule must learn that its surface came closer to others.
            let change = one.form.farthest_change(&form) * f64::from(snap::STEPS_PER_METRE);
            self.objects.drive[row as usize].odometer += change as i64 + 1;
            self.objects.card_mut(row).phase += 1;
            self.shapes[one.object] = there;
            one.form = form;
            let block = self.objects.body[row as usize].block().grown(2 * SKIN);
            for other in self.objects.on_object.iter() {
                self.objects.drive[other].awake |= self.objects.body[other].block().meets(&block);
            }
        }
        self.deforming = deforming;
    }

    /// Puts each deforming object into the form of its clock.
    pub(crate) fn take_forms(&mut self) {
        let mut deforming = std::mem::take(&mut self.deforming);
        for one in &mut deforming {
            let Some(row) = self.objects.row(make::object_id(one.object)) else { continue };
            let seconds = self.objects.card(row).phase as f64 / f64::from(self.spec.tick_rate);
            if let Some(form) = one.form_at(seconds) {
                one.form = form;
            }
            if let Some(shape) = one.shape() {
                self.shapes[one.object] = shape;
            }
        }
        self.deforming = deforming;
    }

    /// Whether no solid is in the way of a form and of the change to it.
    fn has_room(&self, row: u32, on_the_way: &Shape, there: &Shape) -> bool {
        let body = &self.objects.body[row as usize];
        if !body.is(SOLID) {
            return true;
        }
        let block = body.block().grown(2 * SKIN);
        let pose = Pose::new(body.at.position(), self.objects.turn[row as usize].quat());
        let is_free = |(other, shape, turn): Shaped<'_>| {
            let (shape, at) = (&self.shapes[shape as usize], Pose::new(other.at.position(), turn.quat()));
            !other.is(SOLID)
                || !other.block().meets(&block)
                || exact::distance(on_the_way, &pose, shape, &at) > 0.0
                    && exact::distance(there, &pose, shape, &at) >= CLOSEST_M
        };
        let mut others = self.objects.by_id.iter().map(|&(_, other)| other).filter(|&other| other != row);
        let mut has_room = others.all(|other| is_free(self.objects.shaped(other)));
        self.scenery.near(&block, |index| has_room &= is_free(self.scenery.shaped(index as usize)));
        has_room
    }
}
