//! Answers that carry no stamp: each is for the oldest request of its client, and of its kind.

use super::*;
use crate::dialect::read_dialect;

const SAMPLES: u32 = 24;

const COUNTER: &str = include_str!("../../../dialect/tests/counter.toml");

/// What the server says to a request of that kind.
const ANSWERS: [&str; 2] = ["ok", "is 17"];

/// Each request of client 0 is answered by what `choose` makes of its kind.
fn answered(choose: impl Fn(usize) -> usize) -> Verifier {
    let plan = crate::test_plan("ws://h/").with(|plan| {
        plan.audience = Audience::Sender;
        plan.message.dialect = Dialect::File;
        plan.message.definition = Some(Box::new(read_dialect(COUNTER).unwrap()));
        plan.message.padding = 0;
    });
    let codec = codec(&plan, None);
    let mut verifier = Verifier::new(codec, STAMPS, Measure::Completion, 0, 1, Arc::default());
    verifier.client_ready(0);
    let terms = with(echoes(), |of| {
        of.step.clients = 1;
        of.step.samples = SAMPLES;
    });
    let step = open(&mut verifier, terms);
    let mut kinds = HashSet::new();
    for index in 0..SAMPLES {
        let stamp = STAMPS.stamp(FIRST + u64::from(index));
        verifier.asked(0, stamp, None);
        send(&step, index, 0, 100);
        let kind = verifier.codec().request_kind(stamp).unwrap() as usize;
        kinds.insert(kind);
        let answer = ANSWERS[choose(kind)];
        verifier.message(0, Opcode::Text, answer.as_bytes(), 150 * US);
    }
    assert_eq!(kinds.len(), ANSWERS.len(), "requests of both kinds");
    verifier
}

#[test]
fn an_answer_of_the_request_s_kind_is_an_echo() {
    let verifier = answered(|kind| kind);
    assert_faults(&verifier, "none");
    assert_eq!(verifier.finished, SAMPLES);
}

#[test]
fn an_answer_of_the_other_kind_is_corrupt() {
    let verifier = answered(|kind| 1 - kind);
    assert_faults(&verifier, &format!("{SAMPLES} corrupt"));
}
