//! One server and variant in the table.

use crate::manifest::Manifest;
use crate::rows::contestant;
use run_record::{CheckOutcome, CheckVerdict, Conformance};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What was seen of one variant of one server, by check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Folder name.
    pub server: String,
    /// Name of the variant.
    pub variant: String,
    /// Number of the variant in the manifest, from 0.
    pub place: usize,
    /// Library.
    pub library: String,
    /// The library's version, as the built server printed it.
    pub version: String,
    /// The day on which it was verified, UTC.
    pub date: String,
    /// Checks that passed.
    pub passed: BTreeSet<String>,
    /// Checks that a waiver excuses.
    pub waived: Vec<Exception>,
    /// Checks that failed.
    pub failed: Vec<Exception>,
    /// Checks that do not apply.
    pub skipped: Vec<Exception>,
}

/// A check that did not pass.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Exception {
    /// Id of the check.
    pub check: String,
    /// The waiver's reason, or why the check does not apply; empty for a failure, whose words
    /// change from run to run.
    pub reason: String,
    /// A page about it.
    pub link: Option<String>,
}

impl Line {
    /// The line of a variant that was verified on `date`.
    pub fn new(
        manifest: &Manifest,
        variant: &str,
        version: &str,
        date: &str,
        conformance: &Conformance,
    ) -> Self {
        let place = manifest.variants.iter().position(|v| v.name == variant);
        let mut line = Self {
            server: manifest.name.clone(),
            variant: variant.to_owned(),
            place: place.unwrap_or_default(),
            library: manifest.library.clone(),
            version: version.to_owned(),
            date: date.to_owned(),
            passed: BTreeSet::new(),
            waived: Vec::new(),
            failed: Vec::new(),
            skipped: Vec::new(),
        };
        for id in ids(conformance) {
            line.add(id, conformance);
        }
        line
    }

    /// A check counts once, whatever the number of its dialects: by the worst that was seen.
    fn add(&mut self, id: &str, conformance: &Conformance) {
        let outcomes = || conformance.checks.iter().filter(|check| check.id == id);
        let first = |verdict| outcomes().find(|check| check.verdict == verdict);
        let exception = |check: &CheckOutcome, reason: Option<&String>| Exception {
            check: id.to_owned(),
            reason: reason.cloned().unwrap_or_default(),
            link: check.link.clone(),
        };
        if let Some(check) = first(CheckVerdict::Fail) {
            self.failed.push(exception(check, None));
        } else if let Some(check) = first(CheckVerdict::Waived) {
            self.waived.push(exception(check, check.detail.as_ref()));
        } else if first(CheckVerdict::Pass).is_some() {
            self.passed.insert(id.to_owned());
        } else if let Some(check) = first(CheckVerdict::Skipped) {
            self.skipped.push(exception(check, check.detail.as_ref()));
        }
    }

    /// Server and variant, for people.
    pub fn name(&self) -> String {
        contestant(&self.server, &self.variant)
    }

    /// True for the same server and variant.
    pub fn is_of(&self, other: &Self) -> bool {
        self.server == other.server && self.variant == other.variant
    }

    /// What a fresh line of the same variant shows otherwise, in words. The version and the day
    /// may differ: a distribution mends its packages without a word.
    pub fn differences(&self, fresh: &Self) -> Vec<String> {
        let ids: BTreeSet<&str> = self.ids().chain(fresh.ids()).collect();
        let mut found: Vec<String> = ids
            .into_iter()
            .filter(|id| self.verdict(id) != fresh.verdict(id))
            .map(|id| {
                format!(
                    "{}: {id}: {} in the table, {} now",
                    self.name(),
                    self.verdict(id),
                    fresh.verdict(id)
                )
            })
            .collect();
        let words = |line: &Self| [line.waived.clone(), line.skipped.clone()];
        if found.is_empty() && words(self) != words(fresh) {
            found.push(format!(
                "{}: reasons or links differ from the table's",
                self.name()
            ));
        }
        if found.is_empty() && (self.place, &self.library) != (fresh.place, &fresh.library) {
            found.push(format!(
                "{}: library or order of variants differ",
                self.name()
            ));
        }
        found
    }

    /// The word for what was seen of a check.
    fn verdict(&self, id: &str) -> &'static str {
        let in_list = |list: &[Exception]| list.iter().any(|exception| exception.check == id);
        if self.passed.contains(id) {
            "passed"
        } else if in_list(&self.waived) {
            "waived"
        } else if in_list(&self.failed) {
            "failed"
        } else if in_list(&self.skipped) {
            "skipped"
        } else {
            "absent"
        }
    }

    fn ids(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.waived, &self.failed, &self.skipped];
        let exceptions = lists.into_iter().flatten();
        let passed = self.passed.iter().map(String::as_str);
        passed.chain(exceptions.map(|exception| exception.check.as_str()))
    }
}

/// The ids of all checks, each once, in order.
fn ids(conformance: &Conformance) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for check in &conformance.checks {
        if !ids.contains(&check.id.as_str()) {
            ids.push(&check.id);
        }
    }
    ids
}
