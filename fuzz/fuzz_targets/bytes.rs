//! Any message of a server that speaks in bytes; see `laws/bytes.rs`.

#![no_main]

#[path = "../laws/bytes.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    laws::check(data);
});
