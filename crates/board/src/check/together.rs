//! All rows of a directory: whether they belong together, whether one is missing, and whether the
//! instrument was proved where and when they were measured.

use super::Row;
use crate::compare::{differing_machines, differing_plans};
use crate::report::ranking::is_over_the_same;
use record::{Certificate, Network, ProofVerdict, RunRecord, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

/// Within how many hours before or after a row its certificate must have been made.
const HOURS: f64 = 24.0;

/// Rows that were begun and have no file, and files that belong to no row of the run. A row that does
/// not apply was never begun, and has no figure.
pub(super) fn missing(names: &[String], rows: &[Row]) -> Vec<String> {
    let planned: BTreeSet<String> = names.iter().map(|name| format!("{name}.json")).collect();
    let there: BTreeSet<&String> = rows.iter().map(|row| &row.file).collect();
    let has_begun = |row: &&Row| {
        let of = &row.measurement;
        of.status != Status::NotApplicable || of.run.is_some()
    };
    let absent = planned.iter().filter(|file| !there.contains(file));
    let foreign = rows.iter().filter(|row| !planned.contains(&row.file));
    absent
        .map(|file| format!("names the row {file}, which is missing"))
        .chain(
            foreign
                .filter(has_begun)
                .map(|row| format!("does not name the row {}", row.file)),
        )
        .collect()
}

/// Rows that are there packed and as they are: the two would pass for two repetitions.
pub(super) fn twice(rows: &[Row]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let again = rows.iter().filter(|row| !seen.insert(&row.file));
    again.map(|row| row.file.clone()).collect()
}

/// Rows that were made on another machine or by another plan than the others, with their files.
pub(super) fn mixed(rows: &[Row]) -> Vec<(String, String)> {
    let mut wrong = Vec::new();
    let mut first: Option<(&str, &RunRecord, bool)> = None;
    let mut network: Option<(&str, Option<&Network>)> = None;
    let mut plans: BTreeMap<&str, (&str, &RunRecord)> = BTreeMap::new();
    for row in rows {
        let Some(run) = &row.measurement.run else {
            continue;
        };
        let asked = row.measurement.network.as_ref().map(|of| &of.asked);
        let (other, of) = *network.get_or_insert((&row.file, asked));
        if !is_over_the_same(asked, of) {
            wrong.push((row.file.clone(), format!("another network than {other}")));
        }
        let is_pinned = row.measurement.pinning.is_some();
        let (other, of, is_first_pinned) = *first.get_or_insert((&row.file, run, is_pinned));
        let mut here = run.environment.clone();
        let [here_cpus, there_cpus] = [&here.allowed_cpus, &of.environment.allowed_cpus];
        let is_generators_part = match (is_pinned, is_first_pinned) {
            (true, false) => here_cpus.iter().all(|cpu| there_cpus.contains(cpu)),
            (false, true) => there_cpus.iter().all(|cpu| here_cpus.contains(cpu)),
            _ => false,
        };
        if is_generators_part {
            here.allowed_cpus.clone_from(&of.environment.allowed_cpus);
        }
        for words in differing_machines(&here, &of.environment) {
            wrong.push((
                row.file.clone(),
                format!("another machine than {other}: {words}"),
            ));
        }
        if run.tool != of.tool {
            let words = format!("another generator than {other}: {:?}", run.tool.version);
            wrong.push((row.file.clone(), words));
        }
        let workload = row.measurement.workload_name();
        let (other, of) = *plans.entry(workload).or_insert((&row.file, run));
        let mut plan = run.plan.clone();
        // Rows of one workload differ in the message format.
        plan.message = of.plan.message.clone();
        plan.message.padding = run.plan.message.padding;
        plan.message.sizes.clone_from(&run.plan.message.sizes);
        plan.message.lines.clone_from(&run.plan.message.lines);
        for words in differing_plans(&plan, &of.plan) {
            wrong.push((
                row.file.clone(),
                format!("another plan than {other}: {words}"),
            ));
        }
    }
    wrong
}

/// What speaks against the certificates of a directory.
pub(super) fn certified(certificates: &[Certificate], rows: &[Row]) -> Vec<String> {
    const REMEDY: &str = "write one into the directory with `websocket-bench selftest --json FILE`";
    let runs: Vec<&RunRecord> = rows
        .iter()
        .filter_map(|row| row.measurement.run.as_ref())
        .collect();
    if runs.is_empty() {
        return vec!["holds no measurement with a result".to_owned()];
    }
    if certificates.is_empty() {
        return vec![format!("holds no certificate of the generator; {REMEDY}")];
    }
    let reasons: Vec<Vec<String>> = certificates
        .iter()
        .map(|certificate| against(certificate, &runs))
        .collect();
    if reasons.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let first = reasons.into_iter().flatten().next().unwrap_or_default();
    vec![format!(
        "no certificate is for these measurements: {first}; {REMEDY}"
    )]
}

fn against(certificate: &Certificate, runs: &[&RunRecord]) -> Vec<String> {
    let mut wrong = Vec::new();
    if certificate.short {
        wrong.push("it is of the short form".to_owned());
    }
    for part in &certificate.parts {
        if part.verdict != ProofVerdict::Pass {
            wrong.push(format!("its part ({}) did not pass", part.id));
        }
    }
    if certificate.parts.is_empty() || !certificate.not_made.is_empty() {
        wrong.push("it is not complete".to_owned());
    }
    for run in runs {
        if certificate.tool != run.tool {
            wrong.push(format!("it is of version {}", certificate.tool.version));
        }
        let mut here = certificate.environment.clone();
        // The rows leave cores to the server.
        here.allowed_cpus.clone_from(&run.environment.allowed_cpus);
        let differences = differing_machines(&here, &run.environment);
        wrong.extend(
            differences
                .into_iter()
                .map(|words| format!("another machine: {words}")),
        );
        match hours(&certificate.started, &run.started) {
            Some(hours) if hours <= HOURS => {}
            Some(hours) => wrong.push(format!("{hours:.0} hours lie between the two")),
            None => wrong.push("one of the two does not say when".to_owned()),
        }
    }
    wrong
}

/// How far apart two times of day are.
fn hours(a: &str, b: &str) -> Option<f64> {
    let time = |text| humantime::parse_rfc3339(text).ok();
    let (a, b): (SystemTime, SystemTime) = (time(a)?, time(b)?);
    let apart = b.duration_since(a).unwrap_or_else(|error| error.duration());
    Some(apart.as_secs_f64() / 3600.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{measured, unmeasured};
    use record::{End, Measurement, Pinning};

    fn row(file: &str, measurement: Measurement) -> Row {
        Row {
            file: file.to_owned(),
            measurement,
        }
    }

    #[test]
    fn a_row_that_does_not_apply_needs_no_name_and_one_with_figures_does() {
        let names = ["a".to_owned(), "b".to_owned()];
        let figures = || measured("x", 2, 9_000, End::OverLimit);
        let without = |status| unmeasured("x", status, "its manifest declares no such thing");
        let good = [
            row("a.json", figures()),
            row("b.json", without(Status::Crashed)),
            row("c.json", without(Status::NotApplicable)),
        ];
        assert_eq!(missing(&names, &good), [""; 0]);
        let claimed = Measurement {
            status: Status::NotApplicable,
            ..figures()
        };
        for foreign in [figures(), claimed, without(Status::Crashed)] {
            let rows = [row("a.json", figures()), row("c.json", foreign)];
            assert_eq!(
                missing(&names, &rows),
                [
                    "names the row b.json, which is missing",
                    "does not name the row c.json"
                ]
            );
        }
    }

    #[test]
    fn rows_that_share_all_cores_may_stand_beside_pinned_ones() {
        let of = |file: &str, is_pinned: bool, allowed: &[usize]| {
            let mut one = measured("x", 2, 9_000, End::OverLimit);
            one.pinning = is_pinned.then(|| Pinning {
                server_cpus: vec![0],
                generator_cpus: vec![1],
            });
            one.run.as_mut().unwrap().environment.allowed_cpus = allowed.to_vec();
            row(file, one)
        };
        let pinned = || of("a.json", true, &[1]);
        let shared = || of("b.json", false, &[0, 1]);
        assert_eq!(mixed(&[pinned(), shared()]), []);
        assert_eq!(mixed(&[shared(), pinned()]), []);
        assert_eq!(mixed(&[pinned(), of("b.json", false, &[0])]).len(), 1);
        assert_eq!(mixed(&[pinned(), of("b.json", true, &[0, 1])]).len(), 1);
    }
}
