//! What a search may still take.

use super::Budget;

/// What is left of a budget.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowance {
    work: u64,
    memberships: u64,
}

/// A budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// However large the budget, nobody alone and no component may list more: it has to be kept.
const ALONE_MAX: u64 = 1 << 16;
const TOGETHER_MAX: u64 = 1 << 26;

impl Allowance {
    /// For an object alone.
    pub fn alone(budget: Budget) -> Allowance {
        Allowance { work: budget.work, memberships: budget.memberships.min(ALONE_MAX) }
    }

    /// For a component of so many.
    pub fn together(budget: Budget, count: usize) -> Allowance {
        let count = count as u64;
        Allowance {
            work: budget.work.saturating_mul(count),
            memberships: budget.memberships.saturating_mul(count).min(TOGETHER_MAX),
        }
    }

    /// Takes off some words looked at.
    #[inline]
    pub fn spend(&mut self, work: usize) -> Result<(), Exhausted> {
        self.work = self.work.checked_sub(work as u64).ok_or(Exhausted)?;
        Ok(())
    }

    /// Takes off a relation of so many.
    #[inline]
    pub fn list(&mut self, members: usize) -> Result<(), Exhausted> {
        self.memberships = self.memberships.checked_sub(members as u64).ok_or(Exhausted)?;
        Ok(())
    }
}
