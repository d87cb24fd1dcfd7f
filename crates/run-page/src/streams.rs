//! The tables of answers in parts and of dialogues.

use crate::figures;
use record::{Latency, StepRecord};

pub(crate) const PARTS: [&str; 11] = [
    "answers",
    "parts",
    "of each answer",
    "first p50",
    "first p95",
    "between p50",
    "between p95",
    "parts/s",
    "missing",
    "repeats",
    "cut",
];

pub(crate) const DIALOGUES: [&str; 6] = ["begun", "finished", "unfinished", "p50", "p95", "p99"];

/// The row of a step; `None` where answers have no parts.
pub(crate) fn parts(step: &StepRecord) -> Option<[String; PARTS.len()]> {
    let of = step.streams.as_deref()?;
    Some([
        figures::count(of.answers),
        figures::count(of.parts),
        of.per_answer
            .map_or_else(none, |each| figures::count(each.median)),
        time(of.first.as_ref(), |of| of.p50_ns),
        time(of.first.as_ref(), |of| of.p95_ns),
        time(of.between.as_ref(), |of| of.p50_ns),
        time(of.between.as_ref(), |of| of.p95_ns),
        of.per_second
            .map_or_else(none, |rates| crate::scale::label(rates.median)),
        figures::count(of.numbers.missing),
        figures::count(of.numbers.repeats),
        figures::count(of.cut),
    ])
}

/// The row of a step; `None` without dialogues.
pub(crate) fn dialogues(step: &StepRecord) -> Option<[String; DIALOGUES.len()]> {
    let of = step.dialogues.as_deref()?;
    let times = of.time.as_ref();
    Some([
        figures::count(of.begun),
        figures::count(of.finished),
        figures::count(of.unfinished),
        time(times, |of| of.p50_ns),
        time(times, |of| of.p95_ns),
        time(times, |of| of.p99_ns),
    ])
}

fn none() -> String {
    "–".to_owned()
}

fn time(of: Option<&Latency>, figure: fn(&Latency) -> u64) -> String {
    of.map_or_else(none, |of| figures::time(figure(of) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Dialogues, PartNumbers, Streams};

    #[test]
    fn what_a_step_does_not_have_has_no_row_and_what_is_not_known_no_figure() {
        let mut step = StepRecord::default();
        assert_eq!((parts(&step), dialogues(&step)), (None, None));
        step.streams = Some(Box::new(Streams {
            answers: 1_500,
            parts: 4,
            unfinished: 0,
            cut: 2,
            per_answer: None,
            first: None,
            between: None,
            per_second: None,
            numbers: PartNumbers {
                missing: 3,
                ..PartNumbers::default()
            },
        }));
        step.dialogues = Some(Box::new(Dialogues {
            begun: 7,
            finished: 6,
            unfinished: 1,
            time: None,
            kinds: Vec::new(),
        }));
        let row = parts(&step).unwrap();
        assert_eq!(row[..3], ["1,500", "4", "–"]);
        assert_eq!(row[7..], ["–", "3", "0", "2"]);
        assert_eq!(dialogues(&step).unwrap(), ["7", "6", "1", "–", "–", "–"]);
    }
}
