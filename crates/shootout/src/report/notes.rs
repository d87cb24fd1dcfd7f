//! The numbered notes of a table: reasons, ends that were not the server's, waivers.

use super::ranking::{Carried, Row};
use super::{figures, words};
use run_record::{CheckOutcome, CheckVerdict, Status};

/// One note. Rows that have the same share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) number: usize,
    pub(super) text: String,
    /// A page about it.
    pub(super) link: Option<String>,
}

/// Notes in the order of their first use.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Note>);

impl Notes {
    pub(super) fn all(self) -> Vec<Note> {
        self.0
    }

    /// Numbers of the notes of a row.
    pub(super) fn of_row(&mut self, row: &Row<'_>) -> Vec<usize> {
        let mut numbers: Vec<usize> = reasons(row)
            .into_iter()
            .map(|text| self.number(text, None))
            .collect();
        let checks = row
            .checks(CheckVerdict::Fail)
            .into_iter()
            .chain(row.checks(CheckVerdict::Waived));
        numbers.extend(checks.map(|check| self.number(of_check(check), check.link.clone())));
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn number(&mut self, text: String, link: Option<String>) -> usize {
        if let Some(known) = self.0.iter().find(|note| note.text == text) {
            return known.number;
        }
        let number = self.0.len() + 1;
        self.0.push(Note { number, text, link });
        number
    }
}

/// Everything that must be known of the repetitions besides the figures.
fn reasons(row: &Row<'_>) -> Vec<String> {
    let name = words::contestant(row);
    let several = row.repetitions.len() > 1;
    let mut reasons = Vec::new();
    for measurement in &row.repetitions {
        let which = if several {
            format!("{name}, repetition {}", measurement.repetition)
        } else {
            name.clone()
        };
        if measurement.status != Status::Ok {
            let status = measurement.status.name();
            let reason = measurement.reason.as_deref().unwrap_or("no reason given");
            reasons.push(format!("{which}: {status}: {reason}"));
        }
    }
    let open_ended = |carried: Carried| carried.at_least || carried.clients().is_none();
    if row.status == Status::Ok && row.carried.is_none_or(open_ended) {
        let ended: Vec<&str> = row.runs().map(|run| run.outcome.detail.as_str()).collect();
        reasons.extend(ended.first().map(|detail| (*detail).to_owned()));
    }
    if let Some(step) = row
        .at_carried()
        .filter(|step| step.passed < step.repetitions)
    {
        reasons.push(format!(
            "{name}: the figures at {} clients are those of {} repetitions together, {} of which \
             did not pass that step",
            figures::count(step.clients),
            step.repetitions,
            step.repetitions - step.passed
        ));
    }
    let faults = row
        .runs()
        .map(|run| run.faults())
        .reduce(|mut all, more| {
            all.merge(&more);
            all
        })
        .filter(|faults| !faults.is_empty());
    if let Some(faults) = faults {
        reasons.push(format!("{name}: faults while it was measured: {faults}"));
    }
    reasons
}

fn of_check(check: &CheckOutcome) -> String {
    let detail = check.detail.as_deref().unwrap_or("no reason given");
    format!(
        "check {} ({}) {}: {detail}",
        check.id,
        check.section,
        match check.verdict {
            CheckVerdict::Fail => "failed",
            _ => "waived",
        },
    )
}
