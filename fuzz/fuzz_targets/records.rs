//! Any JSON as a record; see `laws/records.rs`.

#![no_main]

#[path = "../laws/records.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::check(data));
