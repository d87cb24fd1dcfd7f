//! Any reports of a site; see `laws/reports.rs`.

#![no_main]

#[path = "../laws/reports.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::check(data));
