//! The verifier of one worker over a real ledger. Times are whole microseconds, so that the histograms
//! keep them apart.

mod begun;
mod in_order;
mod of_a_site;
mod rooms;
mod to_others;
mod together;
mod visits;

use super::*;
use crate::dialect::codec;
use crate::message::StepTerms;
use crate::plan::{Audience, Parties};
use crate::verify::{Answers, Flight, Keeper, Sent, Terms};
use plan::Dialect;
use record::Recorder;

const US: u64 = 1_000;
const STAMPS: Stamps = Stamps::new(0xAB_CDEF);
const FIRST: u64 = 100;

const TERMS: Terms = Terms {
    audience: Audience::Everyone,
    seed: 1,
    step: StepTerms {
        first_sample: FIRST,
        samples: 2,
        warm_up: 0,
        by_clock: false,
        clients: 3,
    },
    keeper: Keeper::Process,
    parties: Parties::Same(1),
    populations: Vec::new(),
    limits_completion: true,
    script: None,
};

const fn echoes() -> Terms {
    let mut terms = TERMS;
    terms.audience = Audience::Sender;
    terms
}

fn with(mut terms: Terms, change: impl FnOnce(&mut Terms)) -> Terms {
    change(&mut terms);
    terms
}

/// A verifier of one worker's clients, which are ready in the slots from 0 on.
fn verifier_of(dialect: Dialect, limited: Measure, worker: (u32, u32), clients: u32) -> Verifier {
    let plan = crate::test_plan("ws://h/").with(|plan| {
        plan.message.dialect = dialect;
        plan.message.padding = 0;
    });
    let mut verifier = Verifier::new(
        codec(&plan, None),
        STAMPS,
        limited,
        worker.0,
        worker.1,
        Arc::default(),
    );
    (0..clients).for_each(|slot| verifier.client_ready(slot));
    verifier
}

/// A verifier of all clients.
fn verifier(clients: u32) -> Verifier {
    verifier_of(Dialect::Text, Measure::Completion, (0, 1), clients)
}

fn open(verifier: &mut Verifier, terms: Terms) -> Arc<StepLedger> {
    let step = Arc::new(StepLedger::new(Terms {
        limits_completion: verifier.terms.limited == Measure::Completion,
        ..terms
    }));
    verifier.open_step(Arc::clone(&step));
    step
}

/// Sent 20 µs after it was due.
fn sent(due: u64, sender: u32) -> Sent {
    Sent {
        due_ns: due * US,
        at_ns: (due + 20) * US,
        sender,
    }
}

fn send(step: &StepLedger, index: u32, sender: u32, due: u64) {
    for _ in step.released()..=index {
        step.release();
    }
    step.sent(index, sent(due, sender));
}

fn text(name: &str, stamp: u64, is_cable: bool) -> String {
    let payload = format!(r#"{{"stamp":"{stamp:016x}"}}"#);
    match is_cable {
        true => format!(r#"{{"message":{{"action":"{name}","payload":{payload}}}}}"#),
        false => format!(r#"{{"type":"{name}","payload":{payload}}}"#),
    }
}

fn hear_stamp(verifier: &mut Verifier, slot: u32, name: &str, stamp: u64, at: u64) {
    let text = text(name, stamp, !verifier.codec().keeps_order());
    verifier.message(slot, Opcode::Text, text.as_bytes(), at * US);
}

fn hear(verifier: &mut Verifier, slot: u32, name: &str, index: u32, at: u64) {
    hear_stamp(
        verifier,
        slot,
        name,
        STAMPS.stamp(FIRST + u64::from(index)),
        at,
    );
}

fn us(recorder: &Recorder) -> Vec<u64> {
    let samples = recorder.samples();
    let each = samples.flat_map(|(ns, count)| vec![ns / US; count as usize]);
    each.collect()
}

#[track_caller]
fn assert_faults(verifier: &Verifier, words: &str) {
    assert_eq!(verifier.tally.faults.to_string(), words);
}

fn alive(verifier: &Verifier) -> Vec<u32> {
    let crowd = &verifier.crowd;
    let is_alive = |slot: &u32| crowd.alive.has(*slot) && !crowd.gone.has(*slot);
    (0..300).filter(is_alive).collect()
}

#[test]
fn a_client_is_alive_from_ready_to_lost_in_whichever_word_its_bit_is() {
    let mut verifier = verifier(0);
    for slot in [70, 0, 1, 63, 64, 200, 130] {
        assert!(!alive(&verifier).contains(&slot));
        verifier.client_ready(slot);
    }
    assert_eq!(alive(&verifier), [0, 1, 63, 64, 70, 130, 200]);
    for slot in [64, 1, 200] {
        verifier.client_lost(slot);
    }
    assert_eq!(alive(&verifier), [0, 63, 70, 130]);
    verifier.settle_lost();
    assert_eq!(alive(&verifier), [0, 63, 70, 130]);
    assert_eq!(verifier.crowd.alive.count, 4);
}

#[test]
fn what_lost_clients_waited_for_is_missing_once() {
    let mut verifier = verifier(130);
    let step = open(&mut verifier, with(TERMS, |of| of.step.samples = 1));
    send(&step, 0, 5, 100);
    (0..2).for_each(|n| hear(&mut verifier, 64 * n, "broadcast", 0, 150));
    [64, 65, 129]
        .iter()
        .for_each(|slot| verifier.client_lost(*slot));
    assert_faults(&verifier, "none");
    for _ in 0..2 {
        verifier.settle_lost();
        assert_faults(&verifier, "2 lost");
    }
    verifier.client_lost(5);
    verifier.settle_lost();
    assert_faults(&verifier, "3 lost, 1 unanswered");
    assert_eq!((verifier.listeners(), verifier.finished), (126, 0));
    for slot in alive(&verifier).split_off(1) {
        hear(&mut verifier, slot, "broadcast", 0, 200);
    }
    assert_eq!((verifier.finished, step.is_over()), (1, true));
    assert_eq!(verifier.tally.latencies.delivery.count(), 2 + 125);
    assert_eq!(verifier.tally.latencies.completion.count(), 0);
}

#[test]
fn a_client_that_is_lost_is_waited_for_until_the_ledger_knows() {
    let ways: [fn(&mut Verifier); 4] = [
        Verifier::settle_lost,
        Verifier::close_step,
        |verifier| verifier.give_up_step(true, 0),
        |verifier| verifier.open_step(StepLedger::new(echoes()).into()),
    ];
    for they_know in ways {
        let mut verifier = verifier(3);
        let step = open(&mut verifier, TERMS);
        send(&step, 0, 1, 100);
        verifier.client_lost(2);
        hear(&mut verifier, 0, "broadcast", 0, 150);
        hear(&mut verifier, 1, "broadcast", 0, 150);
        hear(&mut verifier, 1, "broadcastResult", 0, 150);
        assert_eq!(verifier.finished, 0);
        they_know(&mut verifier);
        assert_eq!((verifier.finished, step.settled()), (1, 1));
        assert_faults(&verifier, "1 lost");
    }
}

#[test]
fn a_sample_without_listeners_left_is_settled_and_not_complete() {
    for (terms, faults) in [(TERMS, "3 lost, 1 unanswered"), (echoes(), "1 lost")] {
        let mut verifier = verifier(3);
        let step = open(&mut verifier, terms);
        send(&step, 0, 1, 100);
        (0..3).for_each(|slot| verifier.client_lost(slot));
        verifier.settle_lost();
        assert_faults(&verifier, faults);
        assert_eq!((verifier.finished, step.settled()), (1, 1));
        assert_eq!(verifier.tally.latencies.completion.count(), 0);
    }
}

/// Two samples, the first of which is warm-up. All messages may have come `slack` before.
fn two_broadcasts(limited: Measure, by_clock: bool, slack: u64) -> Verifier {
    let mut verifier = verifier_of(Dialect::Text, limited, (0, 1), 3);
    let terms = with(TERMS, |of| {
        (of.step.by_clock, of.step.warm_up) = (by_clock, 1)
    });
    let step = open(&mut verifier, terms);
    verifier.reading.slack_ns = slack * US;
    for index in 0..2 {
        send(&step, index, 1, 100);
        verifier.settle_lost();
        for slot in 0..3 {
            let at = 150 + 10 * u64::from(slot);
            hear(&mut verifier, slot, "broadcast", index, at);
        }
        hear(&mut verifier, 1, "broadcastResult", index, 180);
    }
    assert_eq!((verifier.finished, verifier.tally.messages), (2, 8));
    assert_faults(&verifier, "none");
    verifier
}

#[test]
fn latencies_count_from_when_a_timed_sample_was_due() {
    for (by_clock, uncorrected) in [(true, vec![50]), (false, vec![])] {
        let verifier = two_broadcasts(Measure::Delivery, by_clock, 0);
        let latencies = &verifier.tally.latencies;
        assert_eq!(us(&latencies.delivery), [50, 60, 70]);
        assert_eq!(us(&latencies.ack), [80]);
        assert_eq!(us(&latencies.completion), [70]);
        assert_eq!(us(&latencies.uncorrected), uncorrected);
    }
}

/// No message came before its request was written, however long the slack.
#[test]
fn the_latency_that_is_limited_is_also_taken_as_short_as_it_may_have_been() {
    use Measure::{Ack, Completion, Delivery};
    for (limited, slack, errors, at_most_and_at_least) in [
        (Completion, 0, vec![], vec![]),
        (Completion, 20, vec![20; 4], vec![70, 50]),
        (Delivery, 20, vec![20; 4], vec![50, 60, 70, 30, 40, 50]),
        (Ack, 20, vec![20; 4], vec![80, 60]),
        (Ack, 60, vec![30, 40, 50, 60], vec![80, 20]),
        (Ack, 1_000, vec![30, 40, 50, 60], vec![80, 20]),
    ] {
        let shared = two_broadcasts(limited, true, slack).tally.latencies.shared;
        assert_eq!(us(&shared.error), errors);
        let both = [us(&shared.at_most), us(&shared.at_least)].concat();
        assert_eq!(both, at_most_and_at_least);
    }
}

#[test]
fn latencies_are_merged_each_with_its_own_kind() {
    let mut all = two_broadcasts(Measure::Ack, true, 20).tally.latencies;
    all.send_lag.record(3 * US);
    all.receive_lag.record(4 * US);
    all.merge(&all.clone());
    assert_eq!(us(&all.completion), [70; 2]);
    assert_eq!(us(&all.delivery), [50, 50, 60, 60, 70, 70]);
    assert_eq!(us(&all.ack), [80; 2]);
    assert_eq!(us(&all.uncorrected), [50; 2]);
    assert_eq!(us(&all.send_lag), [3; 2]);
    assert_eq!(us(&all.receive_lag), [4; 2]);
    assert_eq!(us(&all.shared.error), [20; 8]);
    assert_eq!(us(&all.shared.at_most), [80; 2]);
    assert_eq!(us(&all.shared.at_least), [60; 2]);
}

#[test]
fn a_sample_that_ends_with_its_result_was_known_of_only_then() {
    let mut verifier = verifier(1);
    let step = open(&mut verifier, TERMS);
    verifier.reading.read.at_ns = 190 * US;
    verifier.reading.read.unread_ns = 5 * US;
    (0..2).for_each(|index| send(&step, index, 0, 100));
    hear(&mut verifier, 0, "broadcast", 0, 170);
    hear(&mut verifier, 0, "broadcastResult", 0, 185);
    hear(&mut verifier, 0, "broadcastResult", 1, 160);
    hear(&mut verifier, 0, "broadcast", 1, 180);
    let flight = Flight {
        area_ns: 2 * (190 - 120) * US,
        known_after_ns: (190 - 170 + 5) * US,
        unread_ns: (5 + 5) * US,
    };
    assert_eq!(step.flight(), Some(flight));
}

#[test]
fn an_echo_is_due_once_and_to_its_sender() {
    let mut verifier = verifier(70);
    let step = open(&mut verifier, echoes());
    send(&step, 0, 66, 100);
    hear(&mut verifier, 2, "echo", 0, 150);
    assert_faults(&verifier, "1 misdirected");
    hear(&mut verifier, 66, "echo", 0, 160);
    assert_eq!(us(&verifier.tally.latencies.completion), [60]);
    hear(&mut verifier, 66, "echo", 0, 170);
    assert_faults(&verifier, "1 duplicate, 1 misdirected");
    assert_eq!((verifier.finished, verifier.tally.messages), (1, 3));
    assert_eq!(verifier.tally.latencies.delivery.count(), 0);
}

#[test]
fn a_message_of_another_kind_than_the_step_s_is_misdirected() {
    for (terms, names) in [
        (echoes(), ["broadcast", "broadcastResult"]),
        (TERMS, ["echo", "echo"]),
    ] {
        let mut verifier = verifier(3);
        let step = open(&mut verifier, terms);
        send(&step, 0, 1, 100);
        names
            .iter()
            .for_each(|name| hear(&mut verifier, 1, name, 0, 150));
        assert_faults(&verifier, "2 misdirected");
        assert_eq!((verifier.finished, step.is_open(0)), (0, true));
        assert_eq!(verifier.tally.latencies.delivery.count(), 0);
    }
}

#[test]
fn a_stamp_says_which_sample_of_which_run_a_message_is_of() {
    let mut verifier = verifier(3);
    assert_eq!(verifier.stamp(FIRST), STAMPS.stamp(FIRST));
    hear(&mut verifier, 1, "echo", 0, 50);
    assert_faults(&verifier, "1 misdirected");
    let step = open(&mut verifier, echoes());
    send(&step, 0, 1, 100);
    hear_stamp(&mut verifier, 1, "echo", STAMPS.stamp(FIRST - 1), 150);
    hear_stamp(&mut verifier, 1, "echo", STAMPS.stamp(0), 150);
    assert_faults(&verifier, "2 duplicate, 1 misdirected");
    let elsewhere = Stamps::new(0x12_3456).stamp(FIRST);
    let not_sent = STAMPS.stamp(FIRST + 1);
    let beyond = STAMPS.stamp(FIRST + 2);
    let far_beyond = STAMPS.stamp(FIRST + (1 << 32));
    for (before, stamp) in (1..).zip([elsewhere, not_sent, beyond, far_beyond]) {
        hear_stamp(&mut verifier, 1, "echo", stamp, 150);
        assert_eq!(verifier.tally.faults.misdirected, before + 1);
    }
    hear(&mut verifier, 1, "echo", 0, 150);
    assert_eq!(verifier.finished, 1);
    assert_faults(&verifier, "2 duplicate, 5 misdirected");
}

#[test]
fn an_overtaken_delivery_is_a_fault_where_the_dialect_keeps_order() {
    for (dialect, reordered) in [(Dialect::Text, 2), (Dialect::ActionCable, 0)] {
        let mut verifier = verifier_of(dialect, Measure::Completion, (0, 1), 3);
        let step = open(&mut verifier, TERMS);
        send(&step, 0, 1, 100);
        send(&step, 1, 1, 110);
        for (slot, index) in [(0, 1), (0, 0), (1, 0), (1, 1), (2, 1), (2, 0)] {
            hear(&mut verifier, slot, "broadcast", index, 200);
        }
        let faults = verifier.tally.faults;
        assert_eq!((faults.reordered, faults.total()), (reordered, reordered));
        assert_eq!(verifier.tally.latencies.delivery.count(), 6);
    }
}

#[test]
fn a_broadcast_is_complete_with_the_last_worker_s_part() {
    let of = |worker| verifier_of(Dialect::Text, Measure::Completion, (worker, 2), 2);
    let [mut even, mut odd] = [of(0), of(1)];
    let step = open(&mut even, with(TERMS, |of| of.parties = Parties::Same(2)));
    odd.open_step(Arc::clone(&step));
    send(&step, 0, 3, 100);
    hear(&mut odd, 0, "broadcast", 0, 160);
    hear(&mut odd, 1, "broadcast", 0, 170);
    hear(&mut even, 0, "broadcast", 0, 150);
    hear(&mut even, 1, "broadcast", 0, 190);
    hear(&mut odd, 0, "broadcastResult", 0, 195);
    assert_eq!((even.finished, odd.finished), (0, 0));
    hear(&mut odd, 1, "broadcastResult", 0, 200);
    assert_eq!((even.finished, odd.finished), (0, 1));
    assert_eq!(us(&odd.tally.latencies.completion), [90]);
    assert_eq!(us(&odd.tally.latencies.ack), [100]);
    assert_faults(&odd, "1 misdirected");
}

#[test]
fn what_is_not_of_the_dialect_is_malformed_and_the_first_is_told() {
    let mut verifier = verifier(1);
    let step = open(&mut verifier, TERMS);
    send(&step, 0, 0, 100);
    hear(&mut verifier, 0, "broadcast", 0, 150);
    let known = text("broadcast", STAMPS.stamp(FIRST), false);
    verifier.message(0, Opcode::Binary, known.as_bytes(), 160 * US);
    assert_faults(&verifier, "1 malformed");
    verifier.message(0, Opcode::Text, b"{", 160 * US);
    verifier.malformed("a frame of no client".to_owned());
    assert_faults(&verifier, "3 malformed");
    let first = verifier.tally.first.malformed.unwrap();
    assert!(first.contains("a Binary message where Text was due"));
}

#[test]
fn the_first_broken_frame_and_the_first_end_of_a_connection_are_told() {
    let mut verifier = verifier(1);
    for port in [1, 2] {
        let addr = ([127, 0, 0, 1], port).into();
        verifier.disconnected(&ConnectError::Refused { addr });
        verifier.malformed(format!("frame {port}"));
    }
    assert_faults(&verifier, "2 malformed, 2 disconnected");
    assert_eq!(verifier.tally.first.malformed.as_deref(), Some("frame 1"));
    let first = verifier.tally.first.disconnect.unwrap();
    assert!(first.starts_with("127.0.0.1:1 refused"), "{first}");
}

#[test]
fn only_what_comes_in_a_step_says_that_nothing_is_understood() {
    let is_hopeless = |verifier: &mut Verifier| {
        (0..10).for_each(|_| verifier.message(0, Opcode::Text, b"?", US));
        let missing = verifier.first_answers.missing(Answers::ALL, US);
        missing == Some(Answers::ALL)
    };
    let mut verifier = verifier(1);
    assert!(!is_hopeless(&mut verifier));
    open(&mut verifier, TERMS);
    verifier.give_up_step(true, 0);
    assert!(!is_hopeless(&mut verifier));
    open(&mut verifier, TERMS);
    assert!(is_hopeless(&mut verifier));
    assert_faults(&verifier, "30 malformed");
}

#[test]
fn a_changed_payload_is_corrupt_each_time_and_counts_as_received() {
    let mut verifier = verifier(1);
    let step = open(&mut verifier, echoes());
    send(&step, 0, 0, 100);
    let stamp = STAMPS.stamp(FIRST);
    let more = format!(r#"{{"type":"echo","payload":{{"stamp":"{stamp:016x}","more":1}}}}"#);
    for faults in ["1 corrupt", "1 duplicate, 2 corrupt"] {
        verifier.message(0, Opcode::Text, more.as_bytes(), 150 * US);
        assert_faults(&verifier, faults);
    }
    assert_eq!(us(&verifier.tally.latencies.completion), [50]);
    assert_eq!(verifier.first_answers.missing(Answers::TOLD, US), None);
    assert!(verifier.first_answers.is_settled());
}

#[test]
fn refusals_are_counted_and_the_framework_s_own_messages_are_not() {
    let mut verifier = verifier_of(Dialect::ActionCable, Measure::Completion, (0, 1), 1);
    open(&mut verifier, TERMS);
    verifier.message(0, Opcode::Text, br#"{"type":"ping","message":1}"#, US);
    assert_faults(&verifier, "none");
    assert_eq!(verifier.first_answers.missing(Answers::TOLD, US), None);
    assert!(!verifier.first_answers.is_settled());
    let refusal = br#"{"type":"disconnect"}"#;
    (0..2).for_each(|_| verifier.message(0, Opcode::Text, refusal, US));
    assert_faults(&verifier, "2 refused");
    assert_eq!(verifier.first_answers.missing(Answers::TOLD, US), None);
    assert!(verifier.first_answers.is_settled());
}

#[test]
fn what_is_missing_when_a_step_is_given_up_counts_where_it_is_to() {
    for (count, faults) in [(true, "5 lost, 2 unanswered"), (false, "none")] {
        let mut verifier = verifier(3);
        assert!(verifier.step().is_none());
        let step = open(&mut verifier, TERMS);
        assert!(Arc::ptr_eq(verifier.step().unwrap(), &step));
        send(&step, 0, 1, 100);
        send(&step, 1, 2, 100);
        hear(&mut verifier, 0, "broadcast", 0, 150);
        verifier.give_up_step(count, 0);
        assert_faults(&verifier, faults);
        // Messages that still come are neither late nor duplicates.
        hear(&mut verifier, 1, "broadcast", 0, 160);
        hear(&mut verifier, 0, "broadcast", 0, 160);
        hear(&mut verifier, 0, "broadcast", 7, 160);
        verifier.close_step();
        assert_faults(&verifier, faults);
        assert_eq!(verifier.tally.latencies.delivery.count(), 1);
    }
}

#[test]
fn after_the_end_of_a_step_its_messages_are_late_until_the_next_one() {
    let mut verifier = verifier(1);
    let step = open(&mut verifier, echoes());
    for index in 0..2 {
        send(&step, index, 0, 100);
        hear(&mut verifier, 0, "echo", index, 150);
    }
    verifier.close_step();
    assert_faults(&verifier, "none");
    hear(&mut verifier, 0, "echo", 1, 160);
    hear(&mut verifier, 0, "echo", 2, 160);
    assert_faults(&verifier, "1 duplicate, 1 misdirected");
    let step = open(
        &mut verifier,
        with(echoes(), |of| of.step.first_sample += 2),
    );
    send(&step, 0, 0, 200);
    hear(&mut verifier, 0, "echo", 1, 260);
    hear(&mut verifier, 0, "echo", 2, 260);
    assert_faults(&verifier, "2 duplicate, 1 misdirected");
    assert_eq!(us(&verifier.tally.latencies.completion), [50, 50, 60]);
}
