//! Counts the bytes on the heap, so that what a bench reports as memory is measured and not added up by hand.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator { in_use: AtomicUsize::new(0) };

/// The system's allocator and a counter of the bytes that all threads have in use.
struct CountingAllocator {
    in_use: AtomicUsize,
}

// SAFETY: every call is handed to the system's allocator unchanged; the counter is beside the memory, not in it.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.in_use.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.in_use.fetch_add(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.in_use.fetch_add(size.wrapping_sub(layout.size()), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.in_use.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Does some work, and says by how many bytes the heap has grown. Negative if more was freed than allocated.
pub fn growth<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = ALLOCATOR.in_use.load(Relaxed);
    let result = work();
    (result, ALLOCATOR.in_use.load(Relaxed).wrapping_sub(before) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_counts_and_what_is_freed_does_not() {
        const MANY: usize = 100_000_000;
        let (kept, bytes) = growth(|| {
            drop(vec![1u8; MANY]);
            vec![1u8; MANY]
        });
        // Other tests allocate at the same time, far less than this.
        assert!(bytes.abs_diff(MANY as i64) < MANY as u64 / 2, "{bytes}");
        let ((), bytes) = growth(|| drop(kept));
        assert!((-bytes).abs_diff(MANY as i64) < MANY as u64 / 2, "{bytes}");
    }
}
