//! For how many ticks the tile of an object lives.
//!
//! A long life means that an object looks around rarely, and sweeps a long way until it does so again. For most that is what
//! the plan has weighed. But somebody who is much faster than the others, if few are, would sweep half the world, and have to
//! look at all who are there in one tick. Such a *hasty* one gets shorter lives, so short that it gets about as far as
//! others are apart, and looks at a few of them each time.

/// How long tiles live, by who is in them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// The longest life, which is that of almost all.
    pub longest: u64,
    /// So far an object may get within half of it. Who is larger than this may get as far as it is large: it has as many to
    /// look at anyway.
    pub stride: f32,
}

/// The shortest life. Lives are even: an object is entered where it is halfway through one.
const SHORTEST: u64 = 2;

/// How many lives there are at most: each is half as long as another.
pub const LIVES_MAX: usize = 8;

impl Pace {
    /// For how many ticks tiles live that are for moving objects of this radius and speed.
    #[inline]
    pub fn life(self, radius: f32, speed: f32) -> u64 {
        let stride = self.stride.max(radius);
        let mut life = self.longest;
        while speed * (life / 2) as f32 > stride && life > SHORTEST {
            life = shorter(life);
        }
        life
    }

    /// All lives, the longest first.
    pub fn lives(self) -> impl Iterator<Item = u64> {
        std::iter::successors(Some(self.longest), |&life| (life > SHORTEST).then(|| shorter(life)))
    }
}

fn shorter(life: u64) -> u64 {
    (life / 2).next_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { longest: 48, stride: 8.0 };

    #[test]
    fn nobody_gets_farther_than_a_stride_or_its_own_size() {
        assert_eq!(PACE.lives().collect::<Vec<_>>(), [48, 24, 12, 6, 4, 2]);
        for (radius, speed, life) in
            [(1.0, 0.1, 48), (1.0, 0.5, 24), (1.0, 3.0, 4), (30.0, 3.0, 12), (1.0, 1e9, 2), (1.0, 0.0, 48)]
        {
            assert_eq!(PACE.life(radius, speed), life, "radius {radius}, speed {speed}");
        }
    }

    #[test]
    fn lives_are_even_and_few() {
        for longest in (2..=128).step_by(2) {
            let lives: Vec<u64> = Pace { longest, stride: 1.0 }.lives().collect();
            assert!(lives.len() <= LIVES_MAX && lives.iter().all(|life| life.is_multiple_of(2)), "{lives:?}");
        }
    }
}
