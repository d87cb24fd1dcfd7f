//! Any text as the manifest of a server; see `laws/manifest.rs`.

#![no_main]

#[path = "../laws/manifest.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::check(data));
