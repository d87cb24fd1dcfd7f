//! One server and variant in the table.

use project::contestant;
use project::manifest::Manifest;
use record::{CheckOutcome, CheckVerdict, Conformance};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The results of one variant of one server.
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
    /// The waiver's reason, or why the check does not apply; empty for a failure, whose text
    /// changes from run to run.
    pub reason: String,
    /// A page about it.
    pub link: Option<String>,
}

/// Results by the id of the check.
pub(super) type Seen<'a> = BTreeMap<&'a str, (&'static str, Option<&'a Exception>)>;

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
        let mut added = BTreeSet::new();
        for check in &conformance.checks {
            if added.insert(&check.id) {
                line.add(&check.id, conformance);
            }
        }
        line
    }

    /// A check counts once, by the worst result of its dialects.
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
        self.is_among(&[(&other.server, &other.variant)])
    }

    /// True when these pairs of server and variant have its own.
    pub(crate) fn is_among(&self, variants: &[(&str, &str)]) -> bool {
        variants.contains(&(&self.server, &self.variant))
    }

    /// The differences between this line and a new one of the same variant, in words. The version
    /// and the day may differ: a distribution updates its packages without notice.
    pub fn differences(&self, fresh: &Self) -> Vec<String> {
        let (old, new) = (self.seen(), fresh.seen());
        let ids: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        let word = |seen: &Seen<'_>, id| seen.get(id).map_or("absent", |(word, _)| *word);
        let mut found: Vec<String> = ids
            .into_iter()
            .map(|id| (id, word(&old, id), word(&new, id)))
            .filter(|(_, old, new)| old != new)
            .map(|(id, old, new)| format!("{id}: {old} in the table, {new} now"))
            .collect();
        if found.is_empty() && old != new {
            found.push("reasons or links differ from the table's".into());
        } else if found.is_empty() && (self.place, &self.library) != (fresh.place, &fresh.library) {
            found.push("library or order of variants differ".into());
        }
        let name = self.name();
        found
            .into_iter()
            .map(|what| format!("{name}: {what}"))
            .collect()
    }

    /// The results by check: a word, and the exception where it did not pass.
    pub(super) fn seen(&self) -> Seen<'_> {
        let exceptions = [
            ("waived", &self.waived),
            ("failed", &self.failed),
            ("skipped", &self.skipped),
        ];
        let passed = self.passed.iter().map(|id| (id.as_str(), ("passed", None)));
        let others = exceptions.into_iter().flat_map(|(word, list)| {
            list.iter()
                .map(move |one| (one.check.as_str(), (word, Some(one))))
        });
        passed.chain(others).collect()
    }
}
