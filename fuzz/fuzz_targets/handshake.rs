//! Any answer to an upgrade; see `laws/handshake.rs`.

#![no_main]

#[path = "../laws/handshake.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::check(data));
