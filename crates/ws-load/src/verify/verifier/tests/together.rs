//! Several messages of a dialect in one of WebSocket, and results that name an identifier.

use super::*;
use crate::dialect::NoVariables;
use plan::{Workload, built_in_dialect};

/// The stamps of a run: a number is that of a request under them alone.
fn stamps() -> Stamps {
    Stamps::of_run(crate::test_plan("ws://h/").generator.seed)
}

/// A verifier of the built-in dialect of that name.
fn of_file(name: &str, clients: u32) -> Verifier {
    let plan = crate::test_plan("ws://h/").with(|plan| {
        let file = built_in_dialect(name);
        plan.message.dialect = Dialect::File;
        plan.message.definition = file.cloned().map(Box::new);
        plan.message.padding = 0;
    });
    let codec = codec(&plan, None);
    let mut verifier = Verifier::new(codec, stamps(), Measure::Completion, 0, 1, Arc::default());
    (0..clients).for_each(|slot| verifier.client_ready(slot));
    verifier
}

fn pushed(index: u32) -> String {
    let stamp = stamps().stamp(FIRST + u64::from(index));
    format!(r#"{{"push":{{"channel":"all","pub":{{"data":{{"stamp":"{stamp:016x}"}}}}}}}}"#)
}

fn published(index: u32) -> String {
    let number = FIRST + u64::from(index) + 1;
    format!(r#"{{"id":{number},"publish":{{}}}}"#)
}

#[test]
fn messages_that_come_together_count_one_by_one() {
    let mut verifier = of_file("centrifugo", 3);
    let step = open(&mut verifier, TERMS);
    (0..2).for_each(|index| send(&step, index, 0, 0));
    let mut hear = |slot, text: String| {
        verifier.message(slot, Opcode::Text, text.as_bytes(), 100 * US);
    };
    // Learned from the first; then in one message, with a keep-alive between, with an end and without.
    hear(1, pushed(0));
    hear(1, format!("{}\n", pushed(1)));
    hear(2, format!("{}\n{{}}\n{}", pushed(0), pushed(1)));
    hear(
        0,
        [pushed(0), published(0), pushed(1), published(1)].join("\n"),
    );
    assert_eq!(verifier.tally.messages, 4);
    assert!(
        verifier.tally.faults.is_empty(),
        "{}",
        verifier.tally.faults
    );
    let asides = verifier.asides.take().unwrap_or_default();
    assert_eq!(asides.keep_alive.map(|(slot, _)| slot), Some(2));
    assert_eq!(verifier.tally.latencies.delivery.count(), 6);
    assert_eq!(verifier.tally.latencies.ack.count(), 2);

    // One of them again, one that is cut, and none at all.
    for text in [
        format!("{}\n{}", pushed(0), &pushed(1)[..20]),
        "\n\n".to_owned(),
    ] {
        verifier.message(1, Opcode::Text, text.as_bytes(), 200 * US);
    }
    assert_eq!(
        (
            verifier.tally.faults.duplicate,
            verifier.tally.faults.malformed
        ),
        (1, 3)
    );
}

#[test]
fn a_long_message_of_nothing_but_separators_is_taken_apart_once() {
    let mut verifier = of_file("centrifugo", 1);
    open(&mut verifier, TERMS);
    const SEPARATORS: usize = 200_000;
    verifier.message(0, Opcode::Text, &vec![b'\n'; SEPARATORS], 100 * US);
    assert_eq!(verifier.tally.faults.malformed, SEPARATORS as u64);
}

#[test]
fn a_puback_belongs_to_the_request_of_its_client_with_that_identifier() {
    for dialect in [Dialect::Mqtt, Dialect::Mqtt5] {
        let plan = crate::test_plan("ws://h/").with(|plan| {
            plan.message.dialect = dialect;
            plan.message.padding = 0;
        });
        let codec = codec(&plan, None);
        let mut verifier = Verifier::new(
            Arc::clone(&codec),
            STAMPS,
            Measure::Completion,
            0,
            1,
            Arc::default(),
        );
        (0..2).for_each(|slot| verifier.client_ready(slot));
        let terms = with(TERMS, |terms| terms.step.clients = 2);
        let step = open(&mut verifier, terms);
        let mut delivery = Vec::new();
        for index in 0..2 {
            send(&step, index, index, 0);
            let stamp = STAMPS.stamp(FIRST + u64::from(index));
            verifier.asked(index, stamp, None);
            codec.request(Workload::Broadcast, 0, stamp, &NoVariables, &mut delivery);
        }
        // As a broker delivers them: with QoS 0, and so without the identifier.
        let topic = b"websocket-bench/all";
        let mut both = Vec::new();
        for packet in delivery.chunks(delivery.len() / 2) {
            both.extend_from_slice(&[0x30, packet[1] - 2]);
            let behind = 4 + topic.len();
            both.extend_from_slice(&packet[2..behind]);
            both.extend_from_slice(&packet[behind + 2..]);
        }
        for slot in 0..2 {
            verifier.message(slot, Opcode::Binary, &both, 100 * US);
        }
        assert!(
            verifier.tally.faults.is_empty(),
            "{dialect:?}: {}",
            verifier.tally.faults
        );
        assert_eq!(verifier.tally.latencies.delivery.count(), 4);

        let ack = |index: u64| {
            let [high, low] = (FIRST as u16 + index as u16 + 1).to_be_bytes();
            [0x40, 2, high, low]
        };
        // That of another client, its own, its own again, and one that stands for nothing.
        for index in [1, 0, 0, 7] {
            verifier.message(0, Opcode::Binary, &ack(index), 120 * US);
        }
        assert_eq!(verifier.tally.faults.duplicate, 3);
        verifier.message(1, Opcode::Binary, &ack(1), 130 * US);
        assert_eq!(verifier.tally.faults.duplicate, 3);
        assert_eq!(verifier.tally.latencies.ack.count(), 2);
        assert!(step.is_over());
    }
}
