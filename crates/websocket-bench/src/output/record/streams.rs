//! The columns of answers in parts and of dialogues.

use super::fields::{FIGURES, field, figures};
use record::StepRecord;

/// Before the distributions.
const PARTS: [&str; 14] = [
    "answers",
    "parts",
    "unfinished",
    "cut",
    "per_answer_min",
    "per_answer_median",
    "per_answer_max",
    "per_second_p5",
    "per_second_median",
    "missing",
    "repeats",
    "steps_back",
    "unreadable",
    "unawaited",
];
const DIALOGUES: [&str; 3] = ["begun", "finished", "unfinished"];

/// The names of the columns.
pub(super) fn header() -> Vec<String> {
    let distribution = |of: &str| FIGURES.map(|figure| format!("{of}_{figure}"));
    let mut names: Vec<String> = PARTS.map(|column| format!("parts_{column}")).to_vec();
    names.extend(distribution("parts_first"));
    names.extend(distribution("parts_between"));
    names.extend(DIALOGUES.map(|column| format!("dialogues_{column}")));
    names.extend(distribution("dialogues_time"));
    names
}

/// The fields of a step.
pub(super) fn line(step: &StepRecord) -> Vec<String> {
    let of = step.streams.as_deref();
    let (each, rates) = (
        of.and_then(|of| of.per_answer),
        of.and_then(|of| of.per_second),
    );
    let numbers = of.map(|of| of.numbers);
    let mut fields = vec![
        field(of.map(|of| of.answers)),
        field(of.map(|of| of.parts)),
        field(of.map(|of| of.unfinished)),
        field(of.map(|of| of.cut)),
        field(each.map(|of| of.min)),
        field(each.map(|of| of.median)),
        field(each.map(|of| of.max)),
        field(rates.map(|of| of.p5)),
        field(rates.map(|of| of.median)),
        field(numbers.map(|of| of.missing)),
        field(numbers.map(|of| of.repeats)),
        field(numbers.map(|of| of.steps_back)),
        field(numbers.map(|of| of.unreadable)),
        field(numbers.map(|of| of.unawaited)),
    ];
    fields.extend(figures(of.and_then(|of| of.first.as_ref())));
    fields.extend(figures(of.and_then(|of| of.between.as_ref())));
    let of = step.dialogues.as_deref();
    fields.extend([
        field(of.map(|of| of.begun)),
        field(of.map(|of| of.finished)),
        field(of.map(|of| of.unfinished)),
    ]);
    fields.extend(figures(of.and_then(|of| of.time.as_ref())));
    fields
}
