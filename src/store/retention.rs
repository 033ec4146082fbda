//! The bounds of the stored past. A snapshot and the records up to the next one are a stretch. Whole stretches are
//! removed, the oldest first; the newest always stays.

use redb::{ReadableTable, Table};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Bytes of all snapshots and records. The newest stretch stays even if it is larger.
    pub bytes_max: u64,
    /// Seconds since a stretch ended.
    pub age_s_max: u64,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { bytes_max: 256 << 20, age_s_max: 24 * 60 * 60 }
    }
}

struct Stretch {
    tick: u64,
    ended_at_s: u64,
    bytes: u64,
}

impl Retention {
    /// Removes the stretches beyond the bounds.
    pub(super) fn apply(
        &self,
        snapshots: &mut Table<'_, u64, (u64, &'static [u8])>,
        journal: &mut Table<'_, u64, &'static [u8]>,
        sizes: &mut Table<'_, u64, u64>,
        now_s: u64,
    ) -> Result<(), redb::Error> {
        if self.bytes_max == u64::MAX && self.age_s_max == u64::MAX {
            return Ok(());
        }
        let stretches = stretches(snapshots, sizes)?;
        let mut bytes: u64 = stretches.iter().map(|stretch| stretch.bytes).sum();
        let mut kept_from = 0;
        for stretch in &stretches[..stretches.len().saturating_sub(1)] {
            if bytes <= self.bytes_max && now_s.saturating_sub(stretch.ended_at_s) <= self.age_s_max {
                break;
            }
            bytes -= stretch.bytes;
            kept_from += 1;
        }
        let Some(first) = stretches.get(kept_from) else { return Ok(()) };
        // The record of the snapshot's own tick is not needed to continue from it.
        snapshots.retain_in(..first.tick, |_, _| false)?;
        journal.retain_in(..=first.tick, |_, _| false)?;
        sizes.retain_in(..first.tick, |_, _| false)?;
        Ok(())
    }
}

/// All stretches, the oldest first. A stretch ends when the next snapshot is stored.
fn stretches(
    snapshots: &Table<'_, u64, (u64, &'static [u8])>,
    sizes: &Table<'_, u64, u64>,
) -> Result<Vec<Stretch>, redb::Error> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for entry in snapshots.iter()? {
        let (tick, value) = entry?;
        let (stored_at_s, bytes) = value.value();
        if let Some(last) = stretches.last_mut() {
            last.ended_at_s = stored_at_s;
        }
        let tick = tick.value();
        let records = sizes.get(tick)?.map_or(0, |size| size.value());
        stretches.push(Stretch { tick, ended_at_s: stored_at_s, bytes: bytes.len() as u64 + records });
    }
    Ok(stretches)
}
