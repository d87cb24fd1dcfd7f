//! The laws of the fuzz target of MQTT over its committed corpus, without a fuzzer.

#[path = "../../../../fuzz/laws/mqtt.rs"]
mod mqtt;

use proptest::prelude::*;
use std::collections::BTreeSet;

/// The files of the corpus.
fn corpus() -> Vec<Vec<u8>> {
    crate::corpus::files("mqtt")
}

#[test]
fn intact_answers_are_packets_with_the_stamp_at_their_end() {
    let mut met = BTreeSet::new();
    for bytes in corpus() {
        (0..bytes.len()).for_each(|end| drop(mqtt::check(&bytes[..end])));
        met.extend(mqtt::check(&bytes));
    }
    let met: Vec<&str> = met.into_iter().collect();
    assert_eq!(met, ["broadcast", "echo", "message"]);
}

proptest! {
    /// A file of the corpus with one byte changed, and others behind it.
    #[test]
    fn the_laws_hold_of_packets_that_were_changed(
        file: prop::sample::Index,
        change: (prop::sample::Index, u8),
        behind in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut bytes = file.get(&corpus()).clone();
        let at = change.0.index(bytes.len());
        bytes[at] = change.1;
        bytes.extend(behind);
        mqtt::check(&bytes);
    }
}
