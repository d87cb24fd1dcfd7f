//! Any commands of a coordinator; see `laws/commands.rs`.

#![no_main]

#[path = "../laws/commands.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::check(data));
