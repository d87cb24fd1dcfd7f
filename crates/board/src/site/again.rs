//! The command that measures rows again, from what their records say of how they were measured.

use crate::quiet;
use crate::report::ranking::Row;
use plan::Plan;
use project::leaves;
use project::manifest::Dialect;
use project::workload;
use project::{NO_PROXY, folder_of, variant_behind};
use record::RunRecord;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Parts of a plan that `shootout run` gives a row by itself, on the same machine the same.
const GIVEN: [&str; 5] = ["target", "generator", "name", "reason", "message.dialect"];
/// A plan without it has as many steps as the machine holds.
const COUNT: &str = "clients.steps.count";

/// A command, and what keeps it from doing the same again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Again {
    pub(super) command: String,
    /// Keys of the plan that the command does not bring back.
    pub(super) lacks: Vec<String>,
}

/// The command for these rows of one workload and dialect, which were measured under one plan;
/// `None` where nothing was measured.
pub(super) fn command(rows: &[&Row<'_>], workloads: &Path) -> Option<Again> {
    let row = rows.iter().find(|row| row.plan().is_some())?;
    let plan = row.plan()?;
    let name = row.workload_name();
    let (sets, lacks) = sets(plan, name, workloads);
    let mut words = vec!["./shootout".to_owned(), "run".to_owned()];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    option("--workload", name.to_owned());
    let joined = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(",");
    let servers = rows.iter().map(|row| row.server());
    option(
        "--servers",
        joined(servers.map(|server| folder_of(&server.name)).collect()),
    );
    option(
        "--variants",
        joined(rows.iter().map(|row| variant(row)).collect()),
    );
    if rows.iter().any(|row| row.is_behind_proxy()) {
        let ways = rows.iter().map(|row| row.proxy().unwrap_or(NO_PROXY));
        option("--via", joined(ways.collect()));
    }
    if let Some(dialect) = Dialect::of_record(row.dialect()) {
        option("--dialects", dialect.name().to_owned());
    }
    if let Some(network) = row.network() {
        let values = || network.values();
        option("--network", network.name.clone().unwrap_or_else(values));
    }
    let repetitions = rows.iter().map(|row| row.repetitions.len()).max();
    option("--repeat", repetitions.unwrap_or(1).to_string());
    for set in sets {
        option("--set", set);
    }
    let mut pinning = row
        .repetitions
        .iter()
        .filter(|m| m.run.is_some())
        .map(|m| m.pinning.as_ref());
    match pinning.next().flatten() {
        Some(pinning) => {
            option(
                "--server-cpus",
                crate::terminal::listed(&pinning.server_cpus),
            );
            option(
                "--generator-cpus",
                crate::terminal::listed(&pinning.generator_cpus),
            );
        }
        None => words.push("--no-pin".to_owned()),
    }
    if rows.iter().all(|row| was_undisturbed(row)) {
        words.push("--undisturbed".to_owned());
    }
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    Some(Again {
        command: quoted.join(" "),
        lacks,
    })
}

/// The variant of a row, as the manifest names it.
fn variant<'a>(row: &Row<'a>) -> &'a str {
    let name = &row.server().variant;
    row.proxy()
        .map_or(name, |proxy| variant_behind(name, proxy))
}

/// Whether every repetition was measured while others used little of the machine, as `--undisturbed`
/// sees to. Records without this knowledge are older than that option.
fn was_undisturbed(row: &Row<'_>) -> bool {
    let mut measured = row.repetitions.iter().filter(|m| m.run.is_some());
    measured.all(|m| m.busy_during.is_some_and(|busy| busy <= quiet::DURING))
}

/// What rows have in common that are measured by one command: plans that differ in nothing that it says.
pub(super) fn alike_by(row: &&Row<'_>) -> Option<String> {
    row.plan()
        .and_then(|plan| serde_json::to_string(&own(plan)).ok())
}

/// The largest group of those with one key, of which the later one where two are as large. Each is asked
/// for its key once: a stranger's round may have thousands.
pub(super) fn largest<T: Copy>(
    all: &[T],
    mut key: impl FnMut(&T) -> Option<String>,
) -> Option<Vec<T>> {
    let keys: Vec<Option<String>> = all.iter().map(&mut key).collect();
    let mut groups: BTreeMap<&str, Vec<T>> = BTreeMap::new();
    for (one, key) in all.iter().zip(&keys) {
        if let Some(key) = key {
            groups.entry(key).or_default().push(*one);
        }
    }
    let of_each = keys.iter().flatten().filter_map(|key| groups.get(&**key));
    of_each.max_by_key(|group| group.len()).cloned()
}

/// A plan as far as it decides what is compared, as one text.
pub(super) fn plan_key(run: &RunRecord) -> String {
    let mut keys = own(&run.plan);
    // How finely clients are told: a note says where rows differ in it.
    keys.retain(|key, _| !key.starts_with("clients.steps"));
    serde_json::to_string(&keys).unwrap_or_default()
}

/// What differs from the plan of the project, as `--set` takes it, and what no `--set` can change.
fn sets(plan: &Plan, name: &str, workloads: &Path) -> (Vec<String>, Vec<String>) {
    let wanted = own(plan);
    let Ok(base) = workload::read_named(workloads, name, Vec::new()) else {
        return (
            Vec::new(),
            vec![format!("the plan itself: workloads/ has no {name}")],
        );
    };
    let base = own(&base.plan);
    let sets: Vec<String> = wanted
        .iter()
        .filter(|(key, value)| base.get(*key) != Some(value) && !value.is_null())
        .map(|(key, value)| format!("{key}={}", written(value)))
        .collect();
    // What cannot be set alone is told, and the rest is still said.
    let works = |sets: &[String]| workload::read_named(workloads, name, sets.to_vec());
    let mut kept = sets.clone();
    if works(&kept).is_err() {
        kept.retain(|set| works(std::slice::from_ref(set)).is_ok());
    }
    let made = works(&kept).map(|made| own(&made.plan)).unwrap_or(base);
    let all: BTreeSet<&String> = wanted.keys().chain(made.keys()).collect();
    let lacks = all
        .into_iter()
        .filter(|key| made.get(*key) != wanted.get(*key));
    let is_unlimited = |key: &&String| *key == COUNT && wanted.get(*key).is_none_or(Value::is_null);
    (
        kept,
        lacks.filter(|key| !is_unlimited(key)).cloned().collect(),
    )
}

/// A value as `--set` takes it: a list or table as TOML in one line.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => toml::Value::try_from(without_nulls(value))
            .map_or_else(|_| value.to_string(), |value| value.to_string()),
        other => other.to_string(),
    }
}

/// TOML has no null: what is absent is left out.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(without_nulls).collect(),
        Value::Object(all) => {
            let kept = all.iter().filter(|(_, value)| !value.is_null());
            kept.map(|(key, value)| (key.clone(), without_nulls(value)))
                .collect()
        }
        other => other.clone(),
    }
}

/// The keys of a plan that no other part of the command gives.
fn own(plan: &Plan) -> BTreeMap<String, Value> {
    let mut keys = leaves(plan);
    let is_given = |key: &str| {
        let part = |given: &&str| {
            key.strip_prefix(*given)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        GIVEN.iter().any(part)
    };
    keys.retain(|key, _| !is_given(key));
    keys
}

/// A word as a shell takes it for one.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{measured, repeated};
    use crate::report::fixture_under::{plans, under};
    use crate::report::ranking::rank;
    use plan::Load;
    use record::{End, ProxyUse};

    fn workloads() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads")
    }

    #[test]
    fn the_largest_group_is_found_with_one_look_at_each() {
        for (keys, found) in [
            ("", None),
            ("--", None),
            ("aba-a", Some(vec![0, 2, 4])),
            ("abab", Some(vec![1, 3])),
            ("bbaa", Some(vec![2, 3])),
            ("baab", Some(vec![0, 3])),
        ] {
            let all: Vec<usize> = (0..keys.len()).collect();
            let mut looks = 0;
            let group = largest(&all, |at| {
                looks += 1;
                Some(keys[*at..=*at].to_owned()).filter(|key| key != "-")
            });
            assert_eq!(group, found, "{keys}");
            assert_eq!(looks, keys.len());
        }
    }

    #[test]
    fn what_differs_from_the_plan_of_the_project_is_set() {
        let mut one = measured("alpha", 3, 9_000, End::OverLimit);
        one.run.as_mut().unwrap().plan.load = Load::closed(7, 100);
        let again = repeated(one.clone(), 2);
        let mut both = [one, again];
        // The second row of a server that was measured twice.
        for measurement in &mut both {
            measurement.server.name = "alpha~again".to_owned();
        }
        let rows = rank(&both);
        let found = command(&[&rows[0]], &workloads()).unwrap();
        assert_eq!(
            found.command,
            "./shootout run --workload broadcast --servers alpha --variants default --dialects text \
             --repeat 2 --set load.closed.in_flight=7 --server-cpus 0 --generator-cpus 1"
        );
        assert_eq!(found.lacks, Vec::<String>::new());
    }

    #[test]
    fn rows_through_proxies_are_those_of_their_variants() {
        let through = |variant: &str, name: &str| {
            let mut one = measured("alpha", 3, 9_000, End::OverLimit);
            one.server.variant = project::through(variant, name);
            one.proxy = Some(ProxyUse {
                name: name.into(),
                homepage: String::new(),
                version: None,
                ends_tls: false,
                idle: one.idle,
                steps: one.server_steps.clone(),
                series: None,
            });
            one
        };
        let all = [
            measured("alpha", 3, 9_000, End::OverLimit),
            through("default", "nginx"),
            through("single", "haproxy"),
        ];
        let rows = rank(&all);
        let rows: Vec<&Row<'_>> = rows.iter().collect();
        let found = command(&rows, &workloads()).unwrap().command;
        let words = "--servers alpha --variants default,single --via haproxy,nginx,none ";
        assert!(found.contains(words), "{found}");
    }

    #[test]
    fn what_was_measured_on_a_quiet_machine_is_measured_again_on_one() {
        for (busy, is_told) in [
            ([Some(0.01), Some(0.05)], true),
            ([Some(0.01), Some(0.06)], false),
            ([Some(0.01), None], false),
        ] {
            let one = measured("alpha", 3, 9_000, End::OverLimit);
            let mut both = [one.clone(), repeated(one, 2)];
            for (measurement, busy) in both.iter_mut().zip(busy) {
                measurement.busy_during = busy;
            }
            let rows = rank(&both);
            let found = command(&[&rows[0]], &workloads()).unwrap();
            let is_said = found.command.ends_with(" --undisturbed");
            assert_eq!(is_said, is_told, "{busy:?}");
        }
    }

    #[test]
    fn every_workload_of_the_project_is_measured_again_without_a_set() {
        for plan in plans() {
            let one = [under(&plan, "alpha", 5_000)];
            let rows = rank(&one);
            let found = command(&[&rows[0]], &workloads()).unwrap();
            assert_eq!(found.lacks, Vec::<String>::new(), "{:?}", plan.name);
            assert!(!found.command.contains("--set"), "{}", found.command);
        }
    }

    #[test]
    fn lists_are_set_as_a_whole_and_keys_that_need_one_another_together() {
        let sets = [
            r#"populations=[{share=1},{share=1,life={cut={at="3s"}}}]"#,
            "load.duration=9s",
            "clients.first=1000",
        ];
        let name = "reconnect-storm";
        let sets = sets.map(str::to_owned).to_vec();
        let plan = workload::read_named(&workloads(), name, sets).unwrap().plan;
        let one = [under(&plan, "alpha", 5_000)];
        let rows = rank(&one);
        let found = command(&[&rows[0]], &workloads()).unwrap();
        assert_eq!(found.lacks, Vec::<String>::new(), "{}", found.command);
        for word in [
            "--set load.open.duration=9s",
            "'populations=[",
            "cut = { at = \"3s\" }",
        ] {
            assert!(found.command.contains(word), "{word}: {}", found.command);
        }
        let read: Vec<String> = found
            .command
            .split("--set ")
            .skip(1)
            .map(|set| {
                let set = set.split(" --").next().unwrap_or_default().trim();
                set.trim_matches('\'').to_owned()
            })
            .collect();
        let again = workload::read_named(&workloads(), name, read).unwrap().plan;
        assert_eq!(own(&again), own(&plan));
    }

    #[test]
    fn a_plan_that_the_project_does_not_have_is_told() {
        let mut one = measured("alpha", 3, 9_000, End::OverLimit);
        one.workload_name = Some("mine; rm -r x".into());
        let all = [one];
        let rows = rank(&all);
        let found = command(&[&rows[0]], &workloads()).unwrap();
        assert!(
            found.command.contains("--workload 'mine; rm -r x'"),
            "{}",
            found.command
        );
        assert_eq!(
            found.lacks,
            ["the plan itself: workloads/ has no mine; rm -r x"]
        );
    }

    #[test]
    fn a_shell_takes_each_word_as_one() {
        assert_eq!(quoted("load.rate=5"), "load.rate=5");
        assert_eq!(quoted("it's $(x)"), r"'it'\''s $(x)'");
        assert_eq!(quoted(""), "''");
    }
}
