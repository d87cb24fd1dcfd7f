//! Any compressed messages of a connection; see `laws/inflater.rs`.

#![no_main]

#[path = "../laws/inflater.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::check(data));
