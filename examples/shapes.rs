//! Shapes rather than spheres: a visitor walks towards a door that swings open, and a beam is read from a file's bytes.

use std::error::Error;

use shapes::mesh::{Format, generated, read};
use shapes::{Decomposition, Pose, RigidMotion, Shape, decompose, exact};
use space::{Quat, Vec3};

fn main() -> Result<(), Box<dyn Error>> {
    // Ahead of the visitor is a door, hinged at x = 1, that swings by a right angle in the same second.
    let visitor = Shape::capsule(0.6, 0.3)?;
    let panel: Vec<Vec3> = [(0.0, -0.02), (0.8, -0.02), (0.8, 0.02), (0.0, 0.02)]
        .into_iter()
        .flat_map(|(x, z)| [Vec3::new(x, -1.0, z), Vec3::new(x, 1.0, z)])
        .collect();
    let door = Shape::hull(&panel)?;
    let hinge = Vec3::new(1.0, 0.0, 0.0);
    let swing = RigidMotion::new(Pose::at(hinge), Pose::new(hinge, Quat::from_rotation_y(std::f32::consts::FRAC_PI_2)));
    let walk = RigidMotion::new(Pose::at(Vec3::new(1.4, 0.0, -3.0)), Pose::at(Vec3::new(1.4, 0.0, 1.0)));

    println!("at first they are {:.2} m apart", exact::distance(&visitor, &walk.from, &door, &swing.from));
    let contact = exact::first_contact(&visitor, &walk, &door, &swing, 0.01).ok_or("they should meet")?;
    println!("after {:.0} ms they meet, the door pushing along {:.2}", 1e3 * contact.time, -contact.normal);
    let gap = exact::distance(&visitor, &walk.at(contact.time), &door, &swing.at(contact.time));
    println!("they are then {:.1} mm apart", 1e3 * gap);

    // Without a check the visitor would stand in the door frame.
    let frame = Shape::cuboid(Vec3::new(0.1, 2.0, 0.1))?;
    let there = Pose::at(Vec3::new(1.65, 0.0, 0.9));
    if let Some(way) = exact::penetration(&frame, &there, &visitor, &walk.to) {
        println!("in the frame: out by {:.0} mm along {:.2}", 1e3 * way.depth, way.normal);
    }

    let beam = "TRI 4 4\n0 0 0  2 0 0  0 1 0  0 0 1\n0 2 1  0 1 3  1 2 3  2 0 3\n";
    let mesh = read(beam.as_bytes(), Format::Tri)?;
    println!("a beam of {} triangles, {:.3} cubic metres", mesh.triangles().len(), mesh.volume());
    let refusal = read(beam.replace("2 0 3", "2 0 4").as_bytes(), Format::Tri).unwrap_err();
    println!("and a broken one: {refusal}");

    let ring = generated::torus(1.0, 0.3, 24, 12)?;
    let parts = decompose(&ring, &Decomposition { resolution: 24, ..Decomposition::default() })?;
    println!("a ring of {} triangles is {} convex parts", ring.triangles().len(), parts.len());
    Ok(())
}
