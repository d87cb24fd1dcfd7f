//! The judge of one worker over real books. Times are in microseconds, which the histograms tell
//! apart.

use super::*;
use crate::dialect::codec;
use crate::ledger::{Flight, Sent, Shared, Terms};
use crate::site::Share;
use crate::worker::Progress;
use run_record::Dialect;

const US: u64 = 1_000;
const STAMPS: Stamps = Stamps::new(0xAB_CDEF);
const FIRST: u64 = 100;

const TERMS: Terms = Terms {
    workload: Workload::Broadcast,
    seed: 1,
    first_sample: FIRST,
    samples: 2,
    warm_up: 0,
    by_clock: false,
    clients: 3,
    parties: 1,
};

const ECHOES: Terms = Terms {
    workload: Workload::Echo,
    ..TERMS
};

fn with(mut terms: Terms, change: impl FnOnce(&mut Terms)) -> Terms {
    change(&mut terms);
    terms
}

/// A judge of one worker's clients, which are ready in the slots from 0 on.
fn judge_of(dialect: Dialect, limited: Measure, worker: (u32, u32), clients: u32) -> Judge {
    let plan = crate::test_plan("ws://h/").with(|plan| {
        plan.message.dialect = dialect;
        plan.message.padding = 0;
    });
    let mut judge = Judge::new(codec(&plan), STAMPS, limited, worker.0, worker.1);
    (0..clients).for_each(|slot| judge.client_ready(slot));
    judge
}

/// A judge of all clients.
fn judge(clients: u32) -> Judge {
    judge_of(Dialect::Text, Measure::Completion, (0, 1), clients)
}

fn open(judge: &mut Judge, terms: Terms) -> Arc<StepLedger> {
    let step = Arc::new(StepLedger::new(terms));
    judge.open_step(Arc::clone(&step));
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

fn hear_stamp(judge: &mut Judge, slot: u32, name: &str, stamp: u64, at: u64) {
    let text = text(name, stamp, !judge.codec().keeps_order());
    judge.message(slot, Opcode::Text, text.as_bytes(), at * US);
}

fn hear(judge: &mut Judge, slot: u32, name: &str, index: u32, at: u64) {
    hear_stamp(judge, slot, name, STAMPS.of(FIRST + u64::from(index)), at);
}

fn us(recorder: &Recorder) -> Vec<u64> {
    let samples = recorder.samples();
    let each = samples.flat_map(|(ns, count)| vec![ns / US; count as usize]);
    each.collect()
}

#[track_caller]
fn assert_faults(judge: &Judge, words: &str) {
    assert_eq!(judge.faults.to_string(), words);
}

fn alive(judge: &Judge) -> Vec<u32> {
    (0..300).filter(|slot| judge.is_alive(*slot)).collect()
}

#[test]
fn a_client_is_alive_from_ready_to_lost_in_whichever_word_its_bit_is() {
    let mut judge = judge(0);
    for (before, slot) in [70, 0, 1, 63, 64, 200, 130].into_iter().enumerate() {
        assert!(!judge.is_alive(slot));
        judge.client_ready(slot);
        assert!(judge.is_alive(slot));
        assert_eq!(judge.alive_count() as usize, before + 1);
    }
    assert_eq!(alive(&judge), [0, 1, 63, 64, 70, 130, 200]);
    for slot in [64, 1, 200] {
        judge.client_lost(slot);
        assert!(!judge.is_alive(slot));
    }
    assert_eq!(alive(&judge), [0, 63, 70, 130]);
    judge.settle_lost();
    assert_eq!(alive(&judge), [0, 63, 70, 130]);
    assert_eq!(judge.alive_count(), 4);
}

#[test]
fn what_lost_clients_waited_for_is_missing_once() {
    let mut judge = judge(130);
    let step = open(&mut judge, with(TERMS, |of| of.samples = 1));
    send(&step, 0, 5, 100);
    (0..2).for_each(|n| hear(&mut judge, 64 * n, "broadcast", 0, 150));
    [64, 65, 129]
        .iter()
        .for_each(|slot| judge.client_lost(*slot));
    assert_faults(&judge, "none");
    for _ in 0..2 {
        judge.settle_lost();
        assert_faults(&judge, "2 lost");
    }
    judge.client_lost(5);
    judge.settle_lost();
    assert_faults(&judge, "3 lost, 1 unanswered");
    assert_eq!((judge.alive_count(), judge.finished), (126, 0));
    for slot in alive(&judge).split_off(1) {
        hear(&mut judge, slot, "broadcast", 0, 200);
    }
    assert_eq!((judge.finished, step.is_over()), (1, true));
    assert_eq!(judge.latencies.delivery.count(), 2 + 125);
    assert_eq!(judge.latencies.completion.count(), 0);
}

#[test]
fn a_client_that_is_lost_is_waited_for_until_the_books_know() {
    let ways: [fn(&mut Judge); 4] = [
        Judge::settle_lost,
        Judge::close_step,
        |judge| judge.give_up_step(true),
        |judge| judge.open_step(StepLedger::new(ECHOES).into()),
    ];
    for they_know in ways {
        let mut judge = judge(3);
        let step = open(&mut judge, TERMS);
        send(&step, 0, 1, 100);
        judge.client_lost(2);
        hear(&mut judge, 0, "broadcast", 0, 150);
        hear(&mut judge, 1, "broadcast", 0, 150);
        hear(&mut judge, 1, "broadcastResult", 0, 150);
        assert_eq!(judge.finished, 0);
        they_know(&mut judge);
        assert_eq!((judge.finished, step.settled()), (1, 1));
        assert_faults(&judge, "1 lost");
    }
}

#[test]
fn a_sample_that_nobody_is_left_for_is_settled_and_not_complete() {
    for (terms, faults) in [(TERMS, "3 lost, 1 unanswered"), (ECHOES, "1 lost")] {
        let mut judge = judge(3);
        let step = open(&mut judge, terms);
        send(&step, 0, 1, 100);
        (0..3).for_each(|slot| judge.client_lost(slot));
        judge.settle_lost();
        assert_faults(&judge, faults);
        assert_eq!((judge.finished, step.settled()), (1, 1));
        assert_eq!(judge.latencies.completion.count(), 0);
    }
}

/// Two samples, the first of which is warm-up. All messages may have come `slack` before.
fn two_broadcasts(limited: Measure, by_clock: bool, slack: u64) -> Judge {
    let mut judge = judge_of(Dialect::Text, limited, (0, 1), 3);
    let terms = with(TERMS, |of| (of.by_clock, of.warm_up) = (by_clock, 1));
    let step = open(&mut judge, terms);
    judge.slack_ns = slack * US;
    for index in 0..2 {
        send(&step, index, 1, 100);
        judge.settle_lost();
        for slot in 0..3 {
            let at = 150 + 10 * u64::from(slot);
            hear(&mut judge, slot, "broadcast", index, at);
        }
        hear(&mut judge, 1, "broadcastResult", index, 180);
    }
    assert_eq!((judge.finished, judge.messages), (2, 8));
    assert_faults(&judge, "none");
    judge
}

#[test]
fn latencies_count_from_when_a_timed_sample_was_due() {
    for (by_clock, uncorrected) in [(true, vec![50]), (false, vec![])] {
        let judge = two_broadcasts(Measure::Delivery, by_clock, 0);
        let latencies = &judge.latencies;
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
        let shared = two_broadcasts(limited, true, slack).latencies.shared;
        assert_eq!(us(&shared.error), errors);
        let both = [us(&shared.at_most), us(&shared.at_least)].concat();
        assert_eq!(both, at_most_and_at_least);
    }
}

#[test]
fn latencies_are_merged_each_with_its_own_kind() {
    let mut all = two_broadcasts(Measure::Ack, true, 20).latencies;
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
    let mut judge = judge(1);
    let step = open(&mut judge, TERMS);
    judge.read.at_ns = 190 * US;
    judge.read.unread_ns = 5 * US;
    (0..2).for_each(|index| send(&step, index, 0, 100));
    hear(&mut judge, 0, "broadcast", 0, 170);
    hear(&mut judge, 0, "broadcastResult", 0, 185);
    hear(&mut judge, 0, "broadcastResult", 1, 160);
    hear(&mut judge, 0, "broadcast", 1, 180);
    let flight = Flight {
        area_ns: 2 * (190 - 120) * US,
        known_after_ns: (190 - 170 + 5) * US,
        unread_ns: (5 + 5) * US,
    };
    assert_eq!(step.flight(), Some(flight));
}

#[test]
fn an_echo_is_due_once_and_to_its_sender() {
    let mut judge = judge(70);
    let step = open(&mut judge, ECHOES);
    send(&step, 0, 66, 100);
    hear(&mut judge, 2, "echo", 0, 150);
    assert_faults(&judge, "1 misdirected");
    hear(&mut judge, 66, "echo", 0, 160);
    assert_eq!(us(&judge.latencies.completion), [60]);
    hear(&mut judge, 66, "echo", 0, 170);
    assert_faults(&judge, "1 duplicate, 1 misdirected");
    assert_eq!((judge.finished, judge.messages), (1, 3));
    assert_eq!(judge.latencies.delivery.count(), 0);
}

#[test]
fn a_message_of_another_kind_than_the_step_s_is_misdirected() {
    for (terms, names) in [
        (ECHOES, ["broadcast", "broadcastResult"]),
        (TERMS, ["echo", "echo"]),
    ] {
        let mut judge = judge(3);
        let step = open(&mut judge, terms);
        send(&step, 0, 1, 100);
        names
            .iter()
            .for_each(|name| hear(&mut judge, 1, name, 0, 150));
        assert_faults(&judge, "2 misdirected");
        assert_eq!((judge.finished, step.is_open(0)), (0, true));
        assert_eq!(judge.latencies.delivery.count(), 0);
    }
}

#[test]
fn a_stamp_says_which_sample_of_which_run_a_message_is_of() {
    let mut judge = judge(3);
    assert_eq!(judge.stamp(FIRST), STAMPS.of(FIRST));
    hear(&mut judge, 1, "echo", 0, 50);
    assert_faults(&judge, "1 misdirected");
    let step = open(&mut judge, ECHOES);
    send(&step, 0, 1, 100);
    hear_stamp(&mut judge, 1, "echo", STAMPS.of(FIRST - 1), 150);
    hear_stamp(&mut judge, 1, "echo", STAMPS.of(0), 150);
    assert_faults(&judge, "2 duplicate, 1 misdirected");
    let elsewhere = Stamps::new(0x12_3456).of(FIRST);
    let not_sent = STAMPS.of(FIRST + 1);
    let beyond = STAMPS.of(FIRST + 2);
    let far_beyond = STAMPS.of(FIRST + (1 << 32));
    for (before, stamp) in (1..).zip([elsewhere, not_sent, beyond, far_beyond]) {
        hear_stamp(&mut judge, 1, "echo", stamp, 150);
        assert_eq!(judge.faults.misdirected, before + 1);
    }
    hear(&mut judge, 1, "echo", 0, 150);
    assert_eq!(judge.finished, 1);
    assert_faults(&judge, "2 duplicate, 5 misdirected");
}

#[test]
fn an_overtaken_delivery_is_a_fault_where_the_dialect_keeps_order() {
    for (dialect, reordered) in [(Dialect::Text, 2), (Dialect::ActionCable, 0)] {
        let mut judge = judge_of(dialect, Measure::Completion, (0, 1), 3);
        let step = open(&mut judge, TERMS);
        send(&step, 0, 1, 100);
        send(&step, 1, 1, 110);
        for (slot, index) in [(0, 1), (0, 0), (1, 0), (1, 1), (2, 1), (2, 0)] {
            hear(&mut judge, slot, "broadcast", index, 200);
        }
        let faults = judge.faults;
        assert_eq!((faults.reordered, faults.total()), (reordered, reordered));
        assert_eq!(judge.latencies.delivery.count(), 6);
    }
}

#[test]
fn a_broadcast_is_complete_with_the_last_worker_s_part() {
    let of = |worker| judge_of(Dialect::Text, Measure::Completion, (worker, 2), 2);
    let [mut even, mut odd] = [of(0), of(1)];
    let step = open(&mut even, with(TERMS, |of| of.parties = 2));
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
    assert_eq!(us(&odd.latencies.completion), [90]);
    assert_eq!(us(&odd.latencies.ack), [100]);
    assert_faults(&odd, "1 misdirected");
}

#[test]
fn what_is_not_of_the_dialect_is_malformed_and_the_first_is_told() {
    let mut judge = judge(1);
    let step = open(&mut judge, TERMS);
    send(&step, 0, 0, 100);
    hear(&mut judge, 0, "broadcast", 0, 150);
    let known = text("broadcast", STAMPS.of(FIRST), false);
    judge.message(0, Opcode::Binary, known.as_bytes(), 160 * US);
    assert_faults(&judge, "1 malformed");
    judge.message(0, Opcode::Text, b"{", 160 * US);
    judge.malformed("a frame of nobody".to_owned());
    assert_faults(&judge, "3 malformed");
    let first = judge.first_malformed.unwrap();
    assert!(first.contains("a Binary message where Text was due"));
}

#[test]
fn the_first_broken_frame_and_the_first_end_of_a_connection_are_told() {
    let mut judge = judge(1);
    for port in [1, 2] {
        let addr = ([127, 0, 0, 1], port).into();
        judge.disconnected(&ConnectError::Refused { addr });
        judge.malformed(format!("frame {port}"));
    }
    assert_faults(&judge, "2 malformed, 2 disconnected");
    assert_eq!(judge.first_malformed.as_deref(), Some("frame 1"));
    let first = judge.first_disconnect.unwrap();
    assert!(first.starts_with("127.0.0.1:1 refused"), "{first}");
}

#[test]
fn only_what_comes_in_a_step_says_that_nothing_is_understood() {
    let is_hopeless = |judge: &mut Judge| {
        (0..10).for_each(|_| judge.message(0, Opcode::Text, b"?", US));
        judge.first_answers.is_hopeless(&Progress::default(), US)
    };
    let mut judge = judge(1);
    assert!(!is_hopeless(&mut judge));
    open(&mut judge, TERMS);
    judge.give_up_step(true);
    assert!(!is_hopeless(&mut judge));
    open(&mut judge, TERMS);
    assert!(is_hopeless(&mut judge));
    assert_faults(&judge, "30 malformed");
}

#[test]
fn a_changed_payload_is_corrupt_each_time_and_counts_as_received() {
    let mut judge = judge(1);
    let step = open(&mut judge, ECHOES);
    send(&step, 0, 0, 100);
    let stamp = STAMPS.of(FIRST);
    let more = format!(r#"{{"type":"echo","payload":{{"stamp":"{stamp:016x}","more":1}}}}"#);
    for faults in ["1 corrupt", "1 duplicate, 2 corrupt"] {
        judge.message(0, Opcode::Text, more.as_bytes(), 150 * US);
        assert_faults(&judge, faults);
    }
    assert_eq!(us(&judge.latencies.completion), [50]);
    assert!(judge.first_answers.understood);
}

#[test]
fn refusals_are_counted_and_the_framework_s_own_messages_are_not() {
    let mut judge = judge_of(Dialect::ActionCable, Measure::Completion, (0, 1), 1);
    open(&mut judge, TERMS);
    judge.message(0, Opcode::Text, br#"{"type":"ping","message":1}"#, US);
    assert_faults(&judge, "none");
    assert!(!judge.first_answers.understood);
    let refusal = br#"{"type":"disconnect"}"#;
    (0..2).for_each(|_| judge.message(0, Opcode::Text, refusal, US));
    assert_faults(&judge, "2 refused");
    assert!(judge.first_answers.understood);
}

#[test]
fn what_is_missing_when_a_step_is_given_up_counts_where_it_is_to() {
    for (count, faults) in [(true, "5 lost, 2 unanswered"), (false, "none")] {
        let mut judge = judge(3);
        assert!(judge.step().is_none());
        let step = open(&mut judge, TERMS);
        assert!(Arc::ptr_eq(judge.step().unwrap(), &step));
        send(&step, 0, 1, 100);
        send(&step, 1, 2, 100);
        hear(&mut judge, 0, "broadcast", 0, 150);
        judge.give_up_step(count);
        assert_faults(&judge, faults);
        // What still comes is neither late nor double.
        hear(&mut judge, 1, "broadcast", 0, 160);
        hear(&mut judge, 0, "broadcast", 0, 160);
        hear(&mut judge, 0, "broadcast", 7, 160);
        judge.close_step();
        assert_faults(&judge, faults);
        assert_eq!(judge.latencies.delivery.count(), 1);
    }
}

#[test]
fn after_the_end_of_a_step_its_messages_are_late_until_the_next_one() {
    let mut judge = judge(1);
    let step = open(&mut judge, ECHOES);
    for index in 0..2 {
        send(&step, index, 0, 100);
        hear(&mut judge, 0, "echo", index, 150);
    }
    judge.close_step();
    assert_faults(&judge, "none");
    hear(&mut judge, 0, "echo", 1, 160);
    hear(&mut judge, 0, "echo", 2, 160);
    assert_faults(&judge, "1 duplicate, 1 misdirected");
    let step = open(&mut judge, with(ECHOES, |of| of.first_sample += 2));
    send(&step, 0, 0, 200);
    hear(&mut judge, 0, "echo", 1, 260);
    hear(&mut judge, 0, "echo", 2, 260);
    assert_faults(&judge, "2 duplicate, 1 misdirected");
    assert_eq!(us(&judge.latencies.completion), [50, 50, 60]);
}

/// The clients 0, 2 and 4 of six, at site 0 of 2, and three samples of client 1.
fn at_a_site(dialect: Dialect, limited: Measure, terms: Terms) -> (Judge, [u32; 3]) {
    let mut judge = judge_of(dialect, limited, (0, 2), 3);
    let terms = with(terms, |of| (of.samples, of.clients) = (40, 6));
    let share = Share { number: 0, of: 2 };
    let in_flight = 40;
    let step = StepLedger::of_site(terms, Shared { share, in_flight });
    let elsewhere: Vec<u32> = (0..40).filter(|i| step.sender(*i) == 1).take(3).collect();
    judge.open_step(Arc::new(step));
    (judge, elsewhere.try_into().unwrap())
}

#[test]
fn deliveries_of_another_site_s_samples_are_judged_when_it_said_when_it_sent_them() {
    for (limited, at_most) in [(Measure::Delivery, vec![110]), (Measure::Ack, vec![])] {
        let (mut judge, [a, b, c]) = at_a_site(Dialect::Text, limited, TERMS);
        let step = Arc::clone(judge.step().unwrap());
        hear(&mut judge, 0, "broadcast", b, 200);
        judge.slack_ns = 40 * US;
        hear(&mut judge, 0, "broadcast", a, 210);
        hear(&mut judge, 0, "broadcast", a, 211);
        assert_faults(&judge, "none");
        assert_eq!(judge.latencies.delivery.count(), 0);
        step.sent_elsewhere(a, sent(100, 1));
        step.sent_elsewhere(b, sent(120, 1));
        // The next one that waits brings it to light.
        hear(&mut judge, 0, "broadcast", c, 220);
        assert_faults(&judge, "1 duplicate, 1 reordered");
        assert_eq!(us(&judge.latencies.delivery), [80, 110]);
        assert_eq!(us(&judge.latencies.shared.error), [40]);
        assert_eq!(us(&judge.latencies.shared.at_most), at_most);
        judge.close_step();
        assert_faults(&judge, "1 duplicate, 1 reordered, 1 misdirected");
    }
}

#[test]
fn the_end_of_a_step_judges_what_was_confirmed_and_times_no_warm_up() {
    let (_, [a, ..]) = at_a_site(Dialect::Text, Measure::Delivery, TERMS);
    let terms = with(TERMS, |of| of.warm_up = a + 1);
    // This dialect keeps no order.
    let (mut judge, [a, b, c]) = at_a_site(Dialect::ActionCable, Measure::Delivery, terms);
    let step = Arc::clone(judge.step().unwrap());
    judge.slack_ns = 10 * US;
    for (index, slot) in [(b, 0), (a, 0), (c, 0), (c, 0), (c, 1)] {
        hear(&mut judge, slot, "broadcast", index, 200);
    }
    judge.client_lost(2);
    judge.settle_lost();
    step.sent_elsewhere(a, sent(100, 1));
    step.sent_elsewhere(b, sent(120, 1));
    judge.close_step();
    assert_eq!(us(&judge.latencies.delivery), [80]);
    assert_eq!(us(&judge.latencies.shared.error), [10]);
    assert_faults(&judge, "2 lost, 3 misdirected");
}

#[test]
fn the_coordinator_is_told_when_a_broadcast_is_settled_here() {
    let (mut judge, [whole, lost, _]) = at_a_site(Dialect::Text, Measure::Completion, TERMS);
    let own = (0..).find(|i| ![whole, lost].contains(i)).unwrap();
    judge.step().unwrap().sent(own, sent(100, 2));
    judge.read.at_ns = 200 * US;
    judge.read.unread_ns = 5 * US;
    for (slot, at) in [(0, 150), (1, 190), (2, 170)] {
        assert!(judge.done.is_empty());
        hear(&mut judge, slot, "broadcast", whole, at);
        hear(&mut judge, slot, "broadcast", own, at);
    }
    hear(&mut judge, 1, "broadcastResult", own, 195);
    hear(&mut judge, 0, "broadcast", lost, 190);
    hear(&mut judge, 1, "broadcast", lost, 190);
    judge.client_lost(2);
    judge.settle_lost();
    let done = [whole, own, lost].map(|index| Done {
        index,
        last_ns: 190 * US,
        earliest_ns: 190 * US,
        read_ns: 200 * US,
        unread_ns: 5 * US,
        by_result: index == own,
        abandoned: index == lost,
    });
    assert_eq!((judge.finished, &judge.done[..]), (3, &done[..]));
    assert_eq!(judge.latencies.delivery.count(), 3);
    assert_eq!(judge.latencies.completion.count(), 0);
    assert_faults(&judge, "none");
}

#[test]
fn an_echo_has_both_ends_at_its_site_and_is_completed_there() {
    let terms = with(ECHOES, |of| (of.by_clock, of.warm_up) = (true, 1));
    let (mut judge, _) = at_a_site(Dialect::Text, Measure::Completion, terms);
    let step = Arc::clone(judge.step().unwrap());
    judge.slack_ns = 10 * US;
    for index in 0..2 {
        step.sent(index, sent(100, 2));
        hear(&mut judge, 1, "echo", index, 150 + u64::from(index));
    }
    step.sent(2, sent(100, 4));
    judge.client_lost(2);
    judge.settle_lost();
    assert_eq!(us(&judge.latencies.completion), [51]);
    assert_eq!(us(&judge.latencies.uncorrected), [31]);
    assert_eq!(us(&judge.latencies.shared.at_most), [51]);
    assert_eq!(us(&judge.latencies.shared.at_least), [41]);
    let abandoned = |done: &Done| (done.index, done.abandoned);
    let done: Vec<_> = judge.done.iter().map(abandoned).collect();
    assert_eq!(done, [(0, false), (1, false), (2, true)]);
    assert_eq!(judge.finished, 3);
    assert_faults(&judge, "1 lost");
}
