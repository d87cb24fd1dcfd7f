//! Any words of a site; see `laws/words.rs`.

#![no_main]

#[path = "../laws/words.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::check(data));
