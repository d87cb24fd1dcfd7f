//! Any message of an MQTT broker; see `laws/mqtt.rs`.

#![no_main]

#[path = "../laws/mqtt.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    laws::check(data);
});
