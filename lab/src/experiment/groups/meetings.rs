//! Predictive interest: are two joined in time, when their auras are widened by how far they get?
//!
//! An update that is sent now arrives up to a *horizon* later. Two objects meet when their plain auras begin to
//! overlap; they were joined *in time* if they had heard each other for at least the horizon by then. The papers'
//! target seekers turn without notice, so that only their speed can be known.

use std::collections::BTreeMap;

use interest::{Audience, AudienceSettings, Aura, Subscription};
use serde::Serialize;
use space::workload::{self, Motion, Workload, WorkloadError};
use space::{BroadPhase, Kinesphere, Pair, Slot};

/// The longest way of an update, in ticks.
pub const HORIZON: u32 = 10;
/// For how many ticks auras are widened.
const WIDENED: [u32; 5] = [0, 2, 5, 10, 20];

#[derive(Clone, Debug, Serialize)]
pub struct Meetings {
    /// For how many ticks auras are widened.
    pub widened_ticks: u32,
    /// For how many ticks a pair must have been joined when it meets.
    pub horizon_ticks: u32,
    /// Pairs that met.
    pub meetings: u64,
    /// Those of them that had been joined for the horizon.
    pub in_time: u64,
    pub share_in_time: f64,
    /// What each object hears, over what it hears with plain auras: the price in traffic.
    pub hearings_per_plain: f64,
}

/// Runs the seekers once for each widening. `progress` is told how many ticks are done.
pub fn run(
    objects: usize,
    ticks: u32,
    seed: u64,
    progress: &mut dyn FnMut(u32),
) -> Result<Vec<Meetings>, WorkloadError> {
    let mut rows: Vec<Meetings> = Vec::new();
    let mut plain = 0.0;
    for (index, widened_ticks) in WIDENED.into_iter().enumerate() {
        let workload = Workload::new(workload::Settings {
            motion: Motion::Seekers,
            objects,
            coverage_percent: 5.0,
            seed,
            ..workload::Settings::default()
        })?;
        let (meetings, in_time, hearings) =
            follow(workload, widened_ticks, ticks, &mut |tick| progress(index as u32 * ticks + tick));
        if widened_ticks == 0 {
            plain = hearings;
        }
        rows.push(Meetings {
            widened_ticks,
            horizon_ticks: HORIZON,
            meetings,
            in_time,
            share_in_time: in_time as f64 / meetings.max(1) as f64,
            hearings_per_plain: if plain > 0.0 { hearings / plain } else { 1.0 },
        });
    }
    Ok(rows)
}

/// Runs of the world.
pub const RUNS: u32 = WIDENED.len() as u32;

/// Meetings, how many were in time, and the mean number of hearings.
fn follow(mut workload: Workload, widened_ticks: u32, ticks: u32, progress: &mut dyn FnMut(u32)) -> (u64, u64, f64) {
    // Without hysteresis: only the widening may join two early.
    let settings = AudienceSettings { hysteresis: 1.0, ..AudienceSettings::default() };
    let mut audience = Audience::with(settings).expect("no hysteresis is a hysteresis of one");
    let columns = workload.spheres().columns();
    // The longest step is the speed in radii; places are rounded, so a little more.
    let speed = workload.settings().speed * 1.001;
    for slot in workload.spheres().slots() {
        let sphere = columns.sphere(slot.row());
        let aura = Aura::new(sphere.radius).widened(speed * sphere.radius, widened_ticks);
        audience.insert(sphere.center, aura).expect("the world is within the limits");
    }
    let mut broad_phase = Kinesphere::new().tracking_changes();
    let mut pairs = Vec::new();
    let mut joined: BTreeMap<Pair, u32> = BTreeMap::new();
    let (mut meetings, mut in_time, mut hearings) = (0, 0, 0);
    for tick in 0..ticks {
        progress(tick);
        let columns = workload.spheres().columns();
        for row in workload.spheres().moved().iter() {
            let moved = audience.move_to(Slot::new(row as u32), columns.sphere(row).center);
            moved.expect("the same objects live in both worlds");
        }
        audience.update();
        hearings += audience.hearings();
        let pair = |hearing: &Subscription| Pair::new(hearing.listener, hearing.speaker);
        for hearing in audience.left() {
            joined.remove(&pair(hearing));
        }
        for hearing in audience.entered() {
            joined.insert(pair(hearing), tick);
        }
        broad_phase.pairs(workload.spheres(), &mut pairs);
        // Pairs that met before had no time to be joined.
        if tick >= HORIZON {
            for pair in broad_phase.began() {
                meetings += 1;
                in_time += u64::from(joined.get(pair).is_some_and(|since| tick - since >= HORIZON));
            }
        }
        workload.step();
    }
    (meetings, in_time, hearings as f64 / f64::from(ticks.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auras_widened_for_the_horizon_join_in_time() {
        let rows = run(400, 120, 3, &mut |_| {}).unwrap();
        assert_eq!(rows.len(), RUNS as usize);
        assert!(rows[0].meetings > 200 && rows[0].in_time == 0, "{:?}", rows[0]);
        for pair in rows.windows(2) {
            assert_eq!(pair[0].meetings, pair[1].meetings);
            assert!(pair[0].in_time <= pair[1].in_time && pair[0].hearings_per_plain <= pair[1].hearings_per_plain);
        }
        for row in rows.iter().filter(|row| row.widened_ticks >= HORIZON) {
            assert_eq!(row.in_time, row.meetings, "{row:?}");
        }
    }
}
