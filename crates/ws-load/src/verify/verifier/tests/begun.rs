//! Packets of MQTT that are cut anywhere into messages of WebSocket.

use super::*;
use record::Faults;

/// The delivery of a broadcast without padding.
fn delivery(index: u64) -> Vec<u8> {
    let topic = b"websocket-bench/all";
    let stamp = STAMPS.stamp(FIRST + index).to_be_bytes();
    let head = [0x30, 2 + 19 + 8, 0, 19];
    [&head[..], topic, &stamp].concat()
}

/// A verifier of three clients while two broadcasts are under way.
fn listening() -> Verifier {
    let mut verifier = verifier_of(Dialect::Mqtt, Measure::Completion, (0, 1), 3);
    let step = open(&mut verifier, TERMS);
    (0..2).for_each(|index| send(&step, index, 0, 0));
    verifier
}

fn hear(verifier: &mut Verifier, slot: u32, bytes: &[u8]) {
    verifier.message(slot, Opcode::Binary, bytes, 100 * US);
}

#[test]
fn a_packet_that_is_cut_anywhere_counts_once() {
    let packet = delivery(1);
    for cut in 1..packet.len() {
        let mut verifier = listening();
        (0..2).for_each(|slot| hear(&mut verifier, slot, &delivery(0)));
        let (begun, rest) = packet.split_at(cut);
        hear(&mut verifier, 0, begun);
        assert!(!verifier.begun.is_empty());
        // Another client has it whole meanwhile, and hears something else.
        hear(&mut verifier, 1, &packet);
        hear(&mut verifier, 2, &[delivery(0), packet.clone()].concat());
        verifier.message(2, Opcode::Text, b"text", 100 * US);
        hear(&mut verifier, 0, rest);
        assert!(verifier.begun.is_empty());
        assert_eq!(verifier.opcode, Opcode::Binary);
        assert_eq!(verifier.tally.latencies.delivery.count(), 6, "{cut}");
        let one = Faults {
            malformed: 1,
            ..Faults::default()
        };
        assert_eq!(verifier.tally.faults, one, "{cut}");
    }
}

#[test]
fn packets_may_come_byte_by_byte_or_with_the_beginning_of_the_next() {
    let both = [delivery(0), delivery(1)].concat();
    for length in 1..both.len() {
        let mut verifier = listening();
        for bytes in both.chunks(length) {
            hear(&mut verifier, 0, bytes);
        }
        assert!(
            verifier.tally.faults.is_empty(),
            "{}",
            verifier.tally.faults
        );
        assert_eq!(verifier.tally.latencies.delivery.count(), 2, "{length}");
        assert!(verifier.begun.is_empty());
    }
}

#[test]
fn a_beginning_is_of_its_connection() {
    let packet = delivery(0);
    let mut verifier = listening();
    hear(&mut verifier, 0, &packet[..9]);
    verifier.forget_begun(0);
    hear(&mut verifier, 0, &packet);
    hear(&mut verifier, 1, &packet[..9]);
    verifier.client_lost(1);
    assert!(verifier.begun.is_empty());
    assert!(
        verifier.tally.faults.is_empty(),
        "{}",
        verifier.tally.faults
    );
    assert_eq!(verifier.tally.latencies.delivery.count(), 1);
}

#[test]
fn nothing_is_kept_of_a_packet_that_is_longer_than_any_that_is_due() {
    let mut verifier = listening();
    hear(&mut verifier, 0, &[0x30, 0xFF, 0xFF, 0xFF, 0x7F, 0]);
    assert!(verifier.begun.is_empty());
    assert_eq!(verifier.tally.faults.malformed, 1);
    hear(&mut verifier, 0, &delivery(0));
    assert_eq!(verifier.tally.latencies.delivery.count(), 1);
}
