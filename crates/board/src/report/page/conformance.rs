//! What the conformance checks found, for each server and variant of a run.

use super::super::markdown::is_web_address;
use super::super::words;
use super::Entry;
use record::{CheckOutcome, CheckVerdict, Conformance};

/// The checks of one server and variant in one run.
pub(super) struct Checked {
    pub(super) run: String,
    pub(super) contestant: String,
    pub(super) passed: bool,
    /// Pass, fail, waived, skipped.
    pub(super) counts: [usize; 4],
    /// Those that did not simply pass.
    pub(super) remarks: Vec<Remark>,
}

/// A check that did not simply pass.
pub(super) struct Remark {
    pub(super) id: String,
    pub(super) section: String,
    pub(super) dialect: Option<&'static str>,
    pub(super) verdict: &'static str,
    pub(super) detail: String,
    pub(super) link: Option<String>,
}

pub(super) fn checked(entries: &[Entry<'_>]) -> Vec<Checked> {
    let mut all: Vec<Checked> = Vec::new();
    for entry in entries {
        let contestant = words::contestant(&entry.row);
        let known = all
            .iter()
            .any(|checked| checked.run == entry.run && checked.contestant == contestant);
        if let (Some(conformance), false) = (entry.row.conformance(), known) {
            all.push(Checked {
                run: entry.run.to_owned(),
                contestant,
                passed: conformance.passed(),
                counts: counts(conformance),
                remarks: conformance
                    .checks
                    .iter()
                    .filter(|check| check.verdict != CheckVerdict::Pass)
                    .map(remark)
                    .collect(),
            });
        }
    }
    all
}

fn counts(conformance: &Conformance) -> [usize; 4] {
    [
        CheckVerdict::Pass,
        CheckVerdict::Fail,
        CheckVerdict::Waived,
        CheckVerdict::Skipped,
    ]
    .map(|verdict| {
        let checks = conformance.checks.iter();
        checks.filter(|check| check.verdict == verdict).count()
    })
}

fn remark(check: &CheckOutcome) -> Remark {
    Remark {
        id: check.id.clone(),
        section: check.section.clone(),
        dialect: check.dialect.map(words::dialect),
        verdict: words::verdict(check.verdict),
        detail: check.detail.clone().unwrap_or_default(),
        link: check.link.clone().filter(|link| is_web_address(link)),
    }
}
