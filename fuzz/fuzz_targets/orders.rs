//! Any orders of a coordinator; see `laws/orders.rs`.

#![no_main]

#[path = "../laws/orders.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::check(data));
