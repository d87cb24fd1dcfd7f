//! Any text as a plan; see `laws/plan_file.rs`.

#![no_main]

#[path = "../laws/plan_file.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::check(data));
