//! What a walk found, in bytes: contacts go over networks, and each takes the same room.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | verdict: 0 apart, 1 possible, 2 certain |
//! | 1 | level that was reached |
//! | 1 | whether the walk was complete |
//! | 1 | how many contacts follow, at most [`MANIFOLD_MAX`] |
//! | 40 each | node of the first tree and of the second (`u32`), point and normal (three `f32` each), least and greatest depth (`f32`); the low byte first |

use space::Vec3;

use super::contact::BallContact;
use super::manifold::MANIFOLD_MAX;
use super::search::Verdict;
use crate::ball_tree::BallTree;
use crate::simd::NodePair;

/// What was found about two shapes, to be told to somebody else.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What is known.
    pub verdict: Verdict,
    /// No ball that a contact is between stands above this level.
    pub level: u8,
    /// Whether there is nothing left to find out from these trees.
    pub is_complete: bool,
    /// The contacts that tell the others, at most [`MANIFOLD_MAX`].
    pub contacts: Vec<BallContact>,
}

/// Bytes before the contacts.
const HEAD: usize = 4;

impl Report {
    /// The bytes. Contacts beyond [`MANIFOLD_MAX`] are left out.
    pub fn to_bytes(&self) -> Vec<u8> {
        let contacts = &self.contacts[..self.contacts.len().min(MANIFOLD_MAX)];
        let verdict = match self.verdict {
            Verdict::Apart => 0,
            Verdict::Possible => 1,
            Verdict::Certain => 2,
        };
        let mut bytes = vec![verdict, self.level, u8::from(self.is_complete), contacts.len() as u8];
        contacts.iter().for_each(|contact| bytes.extend_from_slice(&contact.to_bytes()));
        bytes
    }

    /// The report that these bytes are; none if they are not one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Report> {
        let (&[verdict, level, is_complete, count], rest) = bytes.split_first_chunk::<HEAD>()?;
        let verdict = [Verdict::Apart, Verdict::Possible, Verdict::Certain].get(usize::from(verdict)).copied()?;
        let (contacts, end) = rest.as_chunks::<{ BallContact::BYTES }>();
        let is_sound = level <= BallTree::MAX_DEPTH
            && is_complete <= 1
            && usize::from(count) <= MANIFOLD_MAX
            && contacts.len() == usize::from(count)
            && end.is_empty();
        if !is_sound {
            return None;
        }
        let contacts = contacts.iter().map(BallContact::from_bytes).collect::<Option<Vec<_>>>()?;
        Some(Report { verdict, level, is_complete: is_complete == 1, contacts })
    }
}

impl BallContact {
    /// What every contact takes.
    pub const BYTES: usize = 40;

    /// The bytes.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let [point, normal] = [self.point, self.normal].map(|vector| vector.to_array().map(f32::to_bits));
        let depth = [self.depth.0, self.depth.1].map(f32::to_bits);
        let words = [&[self.nodes.a, self.nodes.b][..], &point, &normal, &depth].concat();
        let mut bytes = [0; Self::BYTES];
        for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// The contact that these bytes are. None for nodes that no tree has, a number that is not finite, a normal that is not
    /// of length one, or a depth that ends before it begins.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<BallContact> {
        let word = |at: usize| u32::from_le_bytes(bytes.as_chunks::<4>().0[at]);
        let number = |at: usize| f32::from_bits(word(at));
        let vector = |at: usize| Vec3::new(number(at), number(at + 1), number(at + 2));
        let contact = BallContact {
            nodes: NodePair { a: word(0), b: word(1) },
            point: vector(2),
            normal: vector(5),
            depth: (number(8), number(9)),
        };
        let is_node = |node: u32| (node as usize) < BallTree::MAX_NODES;
        let is_sound = is_node(contact.nodes.a)
            && is_node(contact.nodes.b)
            && contact.point.is_finite()
            && contact.normal.is_normalized()
            && 0.0 <= contact.depth.0
            && contact.depth.0 <= contact.depth.1
            && contact.depth.1.is_finite();
        is_sound.then_some(contact)
    }
}
