//! What is left of a budget.

use super::Budget;

#[derive(Clone, Copy, Debug, Default)]
pub struct Quota {
    work: u64,
    memberships: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// The most memberships of an object and of a component, whatever the budget: they are kept in memory.
const ALONE_MAX: u64 = 1 << 16;
const TOGETHER_MAX: u64 = 1 << 26;

impl Quota {
    pub fn alone(budget: Budget) -> Quota {
        Quota { work: budget.work, memberships: budget.memberships.min(ALONE_MAX) }
    }

    /// The quota of a component of `count` objects.
    pub fn together(budget: Budget, count: usize) -> Quota {
        let count = count as u64;
        Quota {
            work: budget.work.saturating_mul(count),
            memberships: budget.memberships.saturating_mul(count).min(TOGETHER_MAX),
        }
    }

    /// Subtracts words of bitsets.
    #[inline]
    pub fn spend(&mut self, work: usize) -> Result<(), Exhausted> {
        self.work = self.work.checked_sub(work as u64).ok_or(Exhausted)?;
        Ok(())
    }

    /// Subtracts a relation.
    #[inline]
    pub fn list(&mut self, members: usize) -> Result<(), Exhausted> {
        self.memberships = self.memberships.checked_sub(members as u64).ok_or(Exhausted)?;
        Ok(())
    }
}
