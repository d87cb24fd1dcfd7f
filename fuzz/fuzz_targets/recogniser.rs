//! Any message of a server; see `laws/recogniser.rs`.

#![no_main]

#[path = "../laws/recogniser.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    laws::check(data);
});
