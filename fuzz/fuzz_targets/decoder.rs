//! Any stream of frames; see `laws/decoder.rs`.

#![no_main]

#[path = "../laws/decoder.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::check(data));
