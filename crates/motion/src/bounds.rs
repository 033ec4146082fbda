//! Upper bounds on how far a replica can be from the truth.
//!
//! ```text
//! error at the owner ≤ limit          (the owner sends as soon as its ghost is farther off)
//! error at an observer ≤ limit + what the motion can do within the delay
//! ```

/// The time from the truth to an observer's screen, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    /// One way over the network, jitter included.
    pub latency: f64,
    /// The owner's frame.
    pub owner_frame: f64,
    /// The observer's frame.
    pub observer_frame: f64,
}

impl Delay {
    /// The sum of all parts.
    pub fn total(&self) -> f64 {
        self.latency + self.owner_frame + self.observer_frame
    }
}

/// The bound where velocity may jump: within the delay, truth and replica part at the sum of their speeds.
pub fn across_a_kink(limit: f64, speed_max: f64, speed_predicted: f64, delay: Delay) -> f64 {
    limit + (speed_max + speed_predicted) * delay.total()
}

/// The bound for prediction with constant velocity, where velocity is continuous: `acceleration` bounds the difference
/// of the accelerations of truth and replica.
pub fn first_order(limit: f64, acceleration: f64, delay: Delay) -> f64 {
    let late = delay.total();
    // Between two frames the error may exceed what is seen at either.
    let m = limit + acceleration * delay.owner_frame * delay.owner_frame / 8.0;
    // Not sqrt(2 a m): the error may cross from one side of the limit to the other before an update is sent.
    m + 2.0 * (acceleration * m).sqrt() * late + 0.5 * acceleration * late * late
}

/// The bound for prediction with constant acceleration, where acceleration is continuous: `jerk` bounds the difference
/// of the jerks, and `acceleration` that of the accelerations, for what happens between two frames.
///
/// The constants are those of the Landau-Kolmogorov inequality on a half line.
pub fn second_order(limit: f64, acceleration: f64, jerk: f64, delay: Delay) -> f64 {
    let late = delay.total();
    let m = limit + acceleration * delay.owner_frame * delay.owner_frame / 8.0;
    let (m3, j3) = (libm::cbrt(m), libm::cbrt(jerk));
    let c1 = libm::cbrt(243.0 / 8.0);
    let c2 = libm::cbrt(24.0);
    m + c1 * m3 * m3 * j3 * late + 0.5 * c2 * m3 * j3 * j3 * late * late + jerk * late * late * late / 6.0
}
