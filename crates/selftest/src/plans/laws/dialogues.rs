//! What must hold of clients that carry out a dialogue.

use super::super::case::dialogues::{FIRST, NEXT};
use super::{CLOCKS_NS, Trial};
use plan::Turn;
use record::Dialogues;
use std::collections::HashMap;
use test_servers::oracle::Asked;

/// What the server knows of dialogues.
#[derive(Debug, Default)]
struct Known {
    begun: u64,
    finished: u64,
    /// Answers to the first requests, and to the others.
    answers: [u64; 2],
    out_of_turn: u64,
    /// Requests that do not repeat what the answer before them told.
    wrong: u64,
    /// Those that came before the client can have thought.
    hasty: u64,
}

impl Trial<'_> {
    /// Each dialogue goes from its first request to its last: in the order of the script, with what the
    /// answers told, after the time to think; and is counted.
    pub(super) fn hold_dialogues(&mut self) {
        let file = self.plan().message.definition.as_deref();
        let Some(file) = file.filter(|file| file.is_dialogue()) else {
            return;
        };
        let known = self.known_dialogues(&file.send.script);
        self.exactly("requests out of their turn", 0, known.out_of_turn);
        self.exactly("values that answers told", 0, known.wrong);
        self.exactly("time to think", 0, known.hasty);
        let steps = self.record.steps.iter();
        let reported: Vec<&Dialogues> = steps.filter_map(|of| of.dialogues.as_deref()).collect();
        let sum = |of: &dyn Fn(&Dialogues) -> u64| reported.iter().map(|step| of(step)).sum();
        let answers = |kind: &'static str| -> u64 {
            let kinds = reported.iter().flat_map(|step| &step.kinds);
            let kinds = kinds.filter(|of| of.kind == kind);
            kinds.map(|of| of.answers).sum()
        };
        let is_partial = self.is_partial();
        let begun = sum(&|of| of.begun);
        let finished = sum(&|of| of.finished);
        let unfinished = sum(&|of| of.unfinished);
        let counts = [
            ("dialogues that finished", known.finished, finished),
            (
                "answers to first requests",
                known.answers[0],
                answers(FIRST),
            ),
            ("answers to later requests", known.answers[1], answers(NEXT)),
        ];
        self.exactly("dialogues that began", known.begun, begun);
        self.exactly(
            "dialogues that did not finish",
            begun - finished.min(begun),
            unfinished,
        );
        for (law, count, reported) in counts {
            let least = if is_partial { 0 } else { count };
            self.within(law, least..=count, reported);
        }
    }

    fn known_dialogues(&self, script: &[Turn]) -> Known {
        let mut known = Known::default();
        let mut last: HashMap<Option<u64>, (usize, &Asked)> = HashMap::new();
        for asked in &self.told.asked {
            let is_first = asked.kind.as_deref() == Some(FIRST);
            known.begun += u64::from(is_first);
            let answer = asked.copies.iter().find_map(|copy| copy.written_ns);
            known.answers[usize::from(!is_first)] += u64::from(answer.is_some());
            let before = last.get(&asked.client).copied();
            let place = match (is_first, before) {
                (true, _) => 0,
                (false, Some((place, _))) => place + 1,
                (false, None) => script.len(),
            };
            let Some(turn) = script.get(place) else {
                known.out_of_turn += 1;
                continue;
            };
            known.out_of_turn += u64::from(asked.kind.as_ref() != Some(&turn.kind));
            known.finished += u64::from(place + 1 == script.len() && answer.is_some());
            if let (false, Some((_, before))) = (is_first, before) {
                let told = before.copies.iter().find_map(|copy| copy.written_ns);
                let thinks = turn.after.map_or(0.0, |after| after.ns() as f64);
                let least = thinks * (1.0 - turn.jitter.unwrap_or_default());
                let is_hasty = |told| (asked.at_ns.saturating_sub(told) as f64) < least - CLOCKS_NS;
                known.out_of_turn += u64::from(told.is_none());
                known.hasty += u64::from(told.is_some_and(is_hasty));
                known.wrong += u64::from(asked.repeats != before.stamp);
            }
            last.insert(asked.client, (place, asked));
        }
        known
    }
}
