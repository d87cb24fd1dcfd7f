//! Messages that reach all but their sender, or of which it gets no result.

use super::*;
use crate::dialect::Returns;

const NOTHING: Returns = Returns {
    copy: false,
    result: false,
};
const COPY: Returns = Returns {
    copy: true,
    result: false,
};
const RESULT: Returns = Returns {
    copy: false,
    result: true,
};

/// Three clients, of which one that sends hears nothing.
fn verifier_to_others() -> Verifier {
    let mut verifier = verifier(3);
    verifier.terms.returns = NOTHING;
    verifier
}

fn tell_sent(verifier: &mut Verifier, step: &Arc<StepLedger>, index: u32, sender: u32) {
    send(step, index, sender, 100);
    verifier.sent_in_part(step, index, sender);
}

#[test]
fn a_sample_is_complete_when_the_others_have_it() {
    let mut verifier = verifier_to_others();
    let step = open(&mut verifier, TERMS);
    tell_sent(&mut verifier, &step, 0, 1);
    hear(&mut verifier, 0, "broadcast", 0, 150);
    assert_eq!(verifier.finished, 0);
    hear(&mut verifier, 2, "broadcast", 0, 170);
    assert_eq!((verifier.finished, step.settled()), (1, 1));
    assert_eq!(us(&verifier.tally.latencies.delivery), [50, 70]);
    assert_eq!(us(&verifier.tally.latencies.completion), [70]);
    assert_eq!(verifier.tally.latencies.ack.count(), 0);
    assert_faults(&verifier, "none");
}

#[test]
fn one_that_comes_back_to_its_sender_is_a_fault_whenever_it_comes() {
    let mut verifier = verifier_to_others();
    let step = open(&mut verifier, TERMS);
    tell_sent(&mut verifier, &step, 0, 1);
    hear(&mut verifier, 1, "broadcast", 0, 150);
    hear(&mut verifier, 1, "broadcastResult", 0, 150);
    assert_faults(&verifier, "2 misdirected");
    hear(&mut verifier, 0, "broadcast", 0, 150);
    hear(&mut verifier, 2, "broadcast", 0, 150);
    hear(&mut verifier, 1, "broadcast", 0, 160);
    assert_faults(&verifier, "3 misdirected");
    assert_eq!(us(&verifier.tally.latencies.completion), [50]);
}

#[test]
fn a_client_that_sends_is_no_less_waited_for_as_a_listener() {
    let mut verifier = verifier_to_others();
    let step = open(&mut verifier, TERMS);
    tell_sent(&mut verifier, &step, 0, 1);
    tell_sent(&mut verifier, &step, 1, 2);
    for (slot, index) in [(0, 0), (0, 1), (1, 1)] {
        hear(&mut verifier, slot, "broadcast", index, 150);
    }
    assert_eq!(verifier.finished, 1);
    verifier.close_step();
    verifier.give_up_step(true, 0);
    assert_faults(&verifier, "none");

    let mut verifier = verifier_to_others();
    let step = open(&mut verifier, TERMS);
    tell_sent(&mut verifier, &step, 0, 1);
    hear(&mut verifier, 0, "broadcast", 0, 150);
    verifier.give_up_step(true, 0);
    assert_faults(&verifier, "1 lost");
}

#[test]
fn a_sender_that_is_lost_had_nothing_due() {
    let mut verifier = verifier_to_others();
    let step = open(&mut verifier, TERMS);
    tell_sent(&mut verifier, &step, 0, 1);
    verifier.client_lost(1);
    verifier.settle_lost();
    assert_faults(&verifier, "none");
    (0..2).for_each(|n| hear(&mut verifier, 2 * n, "broadcast", 0, 150));
    assert_eq!((verifier.finished, step.settled()), (1, 1));
    assert_eq!(us(&verifier.tally.latencies.completion), [50]);
}

#[test]
fn the_only_client_has_sent_when_it_has_sent() {
    let mut verifier = verifier(1);
    verifier.terms.returns = NOTHING;
    let terms = with(TERMS, |of| of.step.clients = 1);
    let step = open(&mut verifier, terms);
    tell_sent(&mut verifier, &step, 0, 0);
    assert_eq!((verifier.finished, step.settled()), (1, 1));
    assert_eq!(us(&verifier.tally.latencies.completion), [20]);
}

#[test]
fn without_results_a_sample_is_complete_when_all_have_it() {
    let mut verifier = verifier(3);
    verifier.terms.returns = COPY;
    let step = open(&mut verifier, TERMS);
    tell_sent(&mut verifier, &step, 0, 1);
    hear(&mut verifier, 0, "broadcast", 0, 150);
    hear(&mut verifier, 2, "broadcast", 0, 170);
    assert_eq!(verifier.finished, 0);
    hear(&mut verifier, 1, "broadcast", 0, 190);
    assert_eq!((verifier.finished, step.settled()), (1, 1));
    assert_eq!(us(&verifier.tally.latencies.delivery), [50, 70, 90]);
    assert_eq!(us(&verifier.tally.latencies.completion), [90]);
    assert_eq!(verifier.tally.latencies.ack.count(), 0);
    assert_faults(&verifier, "none");
    hear(&mut verifier, 1, "broadcastResult", 0, 200);
    assert_faults(&verifier, "1 misdirected");
    assert_eq!(verifier.tally.of_sender.unasked, 1);
}

#[test]
fn a_result_is_awaited_of_what_reaches_all_but_its_sender() {
    let mut verifier = verifier(3);
    verifier.terms.returns = RESULT;
    let step = open(&mut verifier, TERMS);
    tell_sent(&mut verifier, &step, 0, 1);
    hear(&mut verifier, 0, "broadcast", 0, 150);
    hear(&mut verifier, 2, "broadcast", 0, 170);
    assert_eq!(verifier.finished, 0);
    hear(&mut verifier, 1, "broadcastResult", 0, 190);
    assert_eq!((verifier.finished, step.settled()), (1, 1));
    assert_eq!(us(&verifier.tally.latencies.ack), [90]);
    assert_faults(&verifier, "none");
    hear(&mut verifier, 1, "broadcast", 0, 200);
    assert_faults(&verifier, "1 misdirected");
    assert_eq!(verifier.tally.of_sender.copies, 1);
}

#[test]
fn what_does_not_come_is_missing_by_its_kind() {
    for (returns, told, faults, missing) in [
        (COPY, vec![0, 2], "1 lost", 1),
        (COPY, vec![0, 1], "1 lost", 0),
        (COPY, vec![0], "2 lost", 0),
        (RESULT, vec![0, 2], "1 unanswered", 0),
        (RESULT, vec![0], "1 lost, 1 unanswered", 0),
        (Returns::BOTH, vec![0, 2], "1 lost, 1 unanswered", 1),
    ] {
        let mut verifier = verifier(3);
        verifier.terms.returns = returns;
        let step = open(&mut verifier, TERMS);
        match returns {
            Returns::BOTH => send(&step, 0, 1, 100),
            _ => tell_sent(&mut verifier, &step, 0, 1),
        }
        for slot in told {
            hear(&mut verifier, slot, "broadcast", 0, 150);
        }
        verifier.give_up_step(true, 0);
        assert_faults(&verifier, faults);
        assert_eq!(verifier.tally.of_sender.missing, missing, "{returns:?}");
    }
}

#[test]
fn an_answer_that_no_rule_matches_counts_once_for_each_request_of_its_client() {
    let mut verifier = verifier(3);
    verifier.terms.returns = NOTHING;
    let step = open(&mut verifier, TERMS);
    tell_sent(&mut verifier, &step, 0, 1);
    for slot in [0, 1, 1] {
        verifier.message(slot, Opcode::Text, b"ok", 150_000);
    }
    assert_faults(&verifier, "3 malformed");
    assert_eq!(verifier.tally.of_sender.unasked, 1);
}

#[test]
fn a_message_of_an_earlier_step_is_no_duplicate_to_a_client_that_came_later_if_nothing_was_awaited()
{
    for (returns, slot, faults) in [
        (NOTHING, 1, "none"),
        (NOTHING, 0, "1 duplicate"),
        (COPY, 1, "1 duplicate"),
    ] {
        let mut verifier = verifier_to_others();
        verifier.terms.returns = returns;
        let alone = |of: &mut Terms| (of.step.first_sample, of.step.clients) = (FIRST - 2, 1);
        open(&mut verifier, with(TERMS, alone));
        open(&mut verifier, TERMS);
        let earlier = verifier.stamp(FIRST - 1);
        verifier.account(slot, Kind::Broadcast, earlier, None, 150);
        assert_faults(&verifier, faults);
    }
}
