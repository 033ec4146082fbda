//! Reports of walks as bytes: each contact has the same size, arrives as sent, and invalid bytes are refused.

use kinesphere_shapes::Pose;
use kinesphere_shapes::mesh::catalog::shape;
use kinesphere_shapes::sphere_tree::Method;
use kinesphere_shapes::traversal::{BallContact, Intersection, MANIFOLD_MAX, Placed, Question, Report, Search, wrap};
use space::workload::Random;
use space::{Quat, Vec3};

#[test]
fn a_report_arrives_as_it_was_sent_whenever_the_walk_was_stopped() {
    let tree = wrap(&shape("rabbit").unwrap(), Method::OctreeTight, 3).unwrap();
    let mut search = Search::default();
    let (mut contacts, mut levels) = (0, [0; 4]);
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let turn = Quat::from_axis_angle(random.direction(), random.between(0.0, 6.0));
        let other = Placed::new(&tree, Pose::new(random.in_ball() * 0.8, turn));
        let question = Question::new(Placed::new(&tree, Pose::IDENTITY), other);
        search.begin(&question);
        let mut operations = 1;
        loop {
            let answer = search.refine(&question, operations);
            let report = search.report(&question);
            let bytes = report.to_bytes();
            assert_eq!(bytes.len(), 4 + report.contacts.len() * BallContact::BYTES, "seed {seed}");
            assert_eq!(Report::from_bytes(&bytes).as_ref(), Ok(&report), "seed {seed}");
            assert_eq!(
                (report.intersection, report.is_complete),
                (answer.intersection, answer.is_complete),
                "seed {seed}"
            );
            assert!(report.contacts.len() <= MANIFOLD_MAX && report.level <= 3, "seed {seed}");
            assert_eq!(report.contacts.is_empty(), report.intersection == Intersection::Apart, "seed {seed}");
            contacts += report.contacts.len();
            levels[usize::from(report.level)] += 1;
            if answer.is_complete {
                assert_eq!(report.level, 3, "seed {seed}: all there is");
                break;
            }
            operations *= 4;
        }
    }
    assert!(contacts > 100 && levels.iter().all(|&reports| reports > 0), "{contacts} contacts, levels {levels:?}");
}

/// Bytes that are accepted are written again to the bit.
#[test]
fn bytes_are_a_report_or_refused() {
    let contact = BallContact {
        nodes: kinesphere_shapes::traversal::NodePair { a: 3, b: 9 },
        point: Vec3::new(1.0, 2.0, 3.0),
        normal: Vec3::NEG_Y,
        depth: (0.0, 0.5),
    };
    let report =
        Report { intersection: Intersection::Possible, level: 2, is_complete: false, contacts: vec![contact; 3] };
    let sent = report.to_bytes();
    let (mut read, mut refused) = (0, 0);
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let mut bytes = sent.clone();
        for _ in 0..random.whole(1, 4) {
            let at = random.whole(0, bytes.len() as u32) as usize;
            bytes[at] = random.whole(0, 256) as u8;
        }
        if random.unit() < 0.1 {
            bytes.truncate(random.whole(0, bytes.len() as u32) as usize);
        }
        match Report::from_bytes(&bytes) {
            Ok(report) => {
                assert_eq!(report.to_bytes(), bytes, "seed {seed}");
                read += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read > 1_000 && refused > 1_000, "{read} read, {refused} refused");
    let wrong = [
        BallContact { point: Vec3::splat(f32::NAN), ..contact },
        BallContact { normal: Vec3::ZERO, ..contact },
        BallContact { depth: (0.6, 0.5), ..contact },
        BallContact { depth: (0.0, f32::INFINITY), ..contact },
        BallContact { nodes: kinesphere_shapes::traversal::NodePair { a: u32::MAX, b: 0 }, ..contact },
    ];
    let sent = |contact| Report { contacts: vec![contact], ..report.clone() }.to_bytes();
    assert!(wrong.into_iter().all(|contact| Report::from_bytes(&sent(contact)).is_err()));
}
