//! What came of answers in parts and of dialogues, in steps that have ended.

use super::family::{Family, Labelled, Unit, Value, figures};
use record::{Latency, StepRecord};

/// Sums over the steps, and the percentiles of the last.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamTotals {
    parts: Option<Parts>,
    dialogues: Option<Dialogues>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    parts: u64,
    missing: u64,
    repeats: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Dialogues {
    finished: u64,
    unfinished: u64,
}

impl StreamTotals {
    /// Adds a step.
    pub(super) fn add(&mut self, step: &StepRecord) {
        if let Some(of) = step.streams.as_deref() {
            let all = self.parts.get_or_insert_default();
            all.parts += of.parts;
            all.missing = all.missing.saturating_add(of.numbers.missing);
            all.repeats = all.repeats.saturating_add(of.numbers.repeats);
        }
        if let Some(of) = step.dialogues.as_deref() {
            let all = self.dialogues.get_or_insert_default();
            all.finished += of.finished;
            all.unfinished += of.unfinished;
        }
    }

    /// The metrics; those of what no step had are without a value.
    pub(super) fn families(&self, last: Option<&StepRecord>) -> Vec<Family> {
        let counter = |name, help, value: Option<u64>| Family {
            name,
            help,
            unit: Unit::None,
            value: Value::Counter(
                value
                    .map(|of| (Vec::new(), of as f64))
                    .into_iter()
                    .collect(),
            ),
        };
        let quantiles = |name, help, of: Option<&Latency>| Family {
            name,
            help,
            unit: Unit::Seconds,
            value: Value::Gauge(of.map(labelled).unwrap_or_default()),
        };
        let (parts, dialogues) = (self.parts, self.dialogues);
        let streams = last.and_then(|step| step.streams.as_deref());
        let whole = last.and_then(|step| step.dialogues.as_deref());
        vec![
            counter(
                "step_parts",
                "Parts of answers, of steps that have ended",
                parts.map(|of| of.parts),
            ),
            counter(
                "step_parts_missing",
                "Parts of answers that are missing, of steps that have ended",
                parts.map(|of| of.missing),
            ),
            counter(
                "step_parts_repeats",
                "Parts of answers that came once more, of steps that have ended",
                parts.map(|of| of.repeats),
            ),
            quantiles(
                "step_first_part",
                "Percentiles of the time to the first part of an answer, in the last step that has ended",
                streams.and_then(|of| of.first.as_ref()),
            ),
            quantiles(
                "step_between_parts",
                "Percentiles of the time from one part of an answer to the next, in the last step that has ended",
                streams.and_then(|of| of.between.as_ref()),
            ),
            counter(
                "step_dialogues_finished",
                "Dialogues that came to their end, of steps that have ended",
                dialogues.map(|of| of.finished),
            ),
            counter(
                "step_dialogues_unfinished",
                "Dialogues that began and did not come to their end, of steps that have ended",
                dialogues.map(|of| of.unfinished),
            ),
            quantiles(
                "step_dialogue",
                "Percentiles of the time of a dialogue, in the last step that has ended",
                whole.and_then(|of| of.time.as_ref()),
            ),
        ]
    }
}

fn labelled(of: &Latency) -> Vec<Labelled> {
    figures(of)
        .map(|(quantile, ns)| (vec![("quantile", quantile.to_owned())], ns as f64 / 1e9))
        .collect()
}
