//! The laws of the fuzz targets `commands` and `reports` over their committed corpora, without a fuzzer,
//! and what either may take of memory.

#[path = "../../../fuzz/laws/commands.rs"]
mod commands;
#[path = "../../../fuzz/laws/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/laws/reports.rs"]
mod reports;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// An allocator that notes the largest piece of memory that was asked for.
struct Largest;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// serde takes no more than a mebibyte on the word of a length that the bytes state.
const BOUND: usize = 2 << 20;

// SAFETY: every call is the system allocator's, with what was given.
unsafe impl GlobalAlloc for Largest {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: `place` is the system's, and the layout is that of its making.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Largest = Largest;

#[test]
fn commands_that_are_accepted_obey_the_plan_and_reports_survive_their_writing() {
    corpus::check_all("commands", commands::check);
    corpus::check_all("reports", reports::check);
    let largest = LARGEST.load(Ordering::Relaxed);
    assert!(largest < BOUND, "{largest} bytes at once");
}
