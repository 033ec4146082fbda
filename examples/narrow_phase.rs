//! Where two bodies touch, as exactly as there is time for: sphere-tree against sphere-tree.

use std::error::Error;

use shapes::mesh::catalog::shape;
use shapes::sphere_tree::Method;
use shapes::traversal::{Intersection, Memory, Placed, Question, Search, manifold, wrap};
use shapes::{Pose, Shape, exact};
use space::{Quat, Vec3};

fn main() -> Result<(), Box<dyn Error>> {
    let mesh = shape("rabbit").ok_or("it is shipped")?;
    let tree = wrap(&mesh, Method::OctreeTight, 3)?;
    println!(
        "{} triangles in {} balls, which stick out by {:.3} m at most",
        mesh.triangles().len(),
        tree.len(),
        tree.error_at(3)
    );

    let here = Placed::new(&tree, Pose::IDENTITY);
    let beside = |x: f32| Placed::new(&tree, Pose::new(Vec3::X * x, Quat::from_rotation_y(1.0)));
    let mut search = Search::default();

    // An answer after any number of operations; more of them make it sharper.
    let question = Question::new(here, beside(0.55));
    search.begin(&question);
    for budget in [2, 10, 50, u64::MAX] {
        let answer = search.refine(&question, budget);
        let (tolerance, operations) = (search.tolerance(&question), answer.operations);
        println!("after {operations} operations: {:?}, within {tolerance:.3} m", answer.intersection);
    }
    let mut contacts = Vec::new();
    search.contacts(&question, &mut contacts);
    let few = manifold(&contacts);
    println!("{} pairs of balls overlap; {} of them tell the others", contacts.len(), few.len());

    // One comes closer, frame by frame; what is known from the frame before spares most walks.
    let mut memory = Memory::default();
    let first = (0..300).find(|&frame| {
        let question = Question::new(here, beside(1.4 - 0.005 * frame as f32));
        memory.may_touch(&question, &mut search)
    });
    let frame = first.ok_or("they should meet")?;
    println!("in frame {frame} they may touch; {} walks, {} spared", memory.walked, memory.spared);
    let (rabbit, there) = (Shape::mesh(mesh.clone()), beside(1.4 - 0.005 * frame as f32).pose);
    println!("the meshes are {:.3} m apart then", exact::distance(&rabbit, &Pose::IDENTITY, &rabbit, &there));
    assert_eq!(search.run(&Question::new(here, beside(0.05))).intersection, Intersection::Certain);
    Ok(())
}
