//! The command `compare`: what it reads, what it says, how it ends.

use crate::fixture::{measured, repeated, unmeasured, variant};
use crate::support::{Project, Server};
use board::compare::comparison_schema;
use record::{End, Json, Measurement, RunRecord, Status};
use std::fs;
use std::process::Stdio;

const NOISE: [f64; 5] = [1.00, 1.02, 0.99, 1.012, 1.03];
const OTHER: [f64; 5] = [1.015, 0.995, 1.024, 1.001, 1.016];

/// Five repetitions of a server that takes so many times as long as the first.
fn repetitions(name: &str, noise: [f64; 5], slower: f64) -> Vec<Measurement> {
    (1..)
        .zip(noise)
        .map(|(number, factor)| {
            let us = (9_000.0 * factor * slower) as u64;
            repeated(measured(name, 3, us, End::StepsDone), number)
        })
        .collect()
}

fn store(project: &Project, dir: &str, measurements: &[Measurement]) {
    let dir = project.path(dir);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("session.json"), "no record").unwrap();
    for measurement in measurements {
        let server = &measurement.server;
        let name = format!(
            "{}.{}.{}.json",
            server.name, server.variant, measurement.repetition
        );
        fs::write(dir.join(name), measurement.to_json().unwrap()).unwrap();
    }
}

fn runs(measurements: Vec<Measurement>) -> impl Iterator<Item = RunRecord> {
    measurements.into_iter().filter_map(|one| one.run)
}

fn schema() -> serde_json::Value {
    serde_json::to_value(comparison_schema()).unwrap()
}

#[track_caller]
fn assert_valid(comparison: &serde_json::Value) {
    if let Err(error) = jsonschema::validate(&schema(), comparison) {
        panic!("{}: {error}", error.instance_path);
    }
}

/// What cannot be compared is null in places, and has to keep to the schema as well.
#[test]
fn the_schema_takes_every_comparison_and_nothing_else() {
    let project = Project::new();
    let mut other = repetitions("a", NOISE, 1.0);
    other.truncate(1);
    other.push(unmeasured("b", Status::BuildFailed, "no compiler"));
    store(&project, "before", &repetitions("a", NOISE, 1.0));
    store(&project, "after", &other);
    project
        .shootout("compare before after --json found.json")
        .expect(3, &["Not comparable"]);
    let found = fs::read_to_string(project.path("found.json")).unwrap();
    let mut found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_valid(&found);
    found["rows"][0]["figures"][0]["sure"] = true.into();
    assert!(jsonschema::validate(&schema(), &found).is_err());
}

#[test]
fn two_directories_and_their_exit_codes() {
    let project = Project::new();
    store(&project, "before", &repetitions("a", NOISE, 1.0));
    store(&project, "same", &repetitions("a", OTHER, 1.0));
    store(&project, "after", &repetitions("a", OTHER, 1.1));
    project
        .shootout("compare before same")
        .expect(0, &["A: before\nB: same\n", "No difference shown."]);
    project
        .shootout("compare before after --json found.json")
        .expect(
            2,
            &[
                "B is 10 % slower (95 % interval 7.3 to 13 %)",
                "Regression: a p50, a p95, a p99.",
            ],
        );
    let found = fs::read_to_string(project.path("found.json")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_valid(&found);
    assert_eq!(found["verdict"], "regression");
    assert_eq!(
        found["rows"][0]["figures"][0]["a"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    project
        .shootout("compare before after --tolerance 15 --figures p50")
        .expect(0, &["not shown to be beyond the tolerance of 15 %"]);
    project
        .shootout("compare after before")
        .expect(0, &["% less time", "No regression shown."]);
}

#[test]
fn sides_that_were_measured_in_other_places_are_not_compared() {
    let project = Project::new();
    let with = |change: &dyn Fn(&mut Measurement)| {
        let mut all = repetitions("a", OTHER, 1.3);
        all.iter_mut().for_each(change);
        all
    };
    store(&project, "before", &repetitions("a", NOISE, 1.0));
    store(&project, "unpinned", &with(&|one| one.pinning = None));
    store(
        &project,
        "larger",
        &with(&|one| one.run.as_mut().unwrap().environment.cores += 2),
    );
    store(
        &project,
        "freer",
        &with(&|one| one.run.as_mut().unwrap().environment.allowed_cpus.push(99)),
    );
    store(
        &project,
        "patched",
        &with(&|one| one.run.as_mut().unwrap().environment.kernel += "-2"),
    );
    for (after, said) in [
        ("unpinned", "server on [0], generator on [1] / not pinned"),
        ("larger", "measure both on one machine"),
        ("freer", "the generator had the cores"),
    ] {
        project.shootout(&format!("compare before {after}")).expect(
            3,
            &["not measured in the same place", said, "Not comparable"],
        );
    }
    project
        .shootout("compare before patched")
        .expect(2, &["mind: not measured in the same place", "kernel"]);
}

#[test]
fn a_reader_that_goes_away_has_a_code_of_its_own_and_hides_no_regression() {
    let project = Project::new();
    project.add(&Server::default());
    store(&project, "before", &repetitions("a", NOISE, 1.0));
    store(&project, "same", &repetitions("a", OTHER, 1.0));
    store(&project, "after", &repetitions("a", OTHER, 1.3));
    for (arguments, code) in [
        ("list", 141),
        ("compare before same", 141),
        ("compare before after", 2),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = project
            .command(arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments}: {output:?}");
        assert!(output.stderr.is_empty(), "{arguments}: {output:?}");
    }
}

#[test]
fn two_records_show_both_figures_and_are_too_few() {
    let project = Project::new();
    store(&project, "out", &repetitions("a", NOISE, 1.0));
    project
        .shootout("compare out/a.default.1.json out/a.default.2.json")
        .expect(
            3,
            &[
                "one repetition a side: nothing can be said about noise",
                "26.7 ms",
                "Not comparable",
            ],
        );
}

#[test]
fn records_of_the_generator_are_repetitions_of_one_row() {
    let project = Project::new();
    for (dir, slower) in [("a", 1.0), ("b", 1.2)] {
        fs::create_dir(project.path(dir)).unwrap();
        for (number, run) in runs(repetitions("x", NOISE, slower)).enumerate() {
            let file = project.path(&format!("{dir}/{number}.json"));
            fs::write(file, run.to_json().unwrap()).unwrap();
        }
    }
    project.shootout("compare a b").expect(
        2,
        &[
            "broadcast over JSON, 5 and 5 repetitions",
            "Regression: p50, p95, p99.",
        ],
    );
}

#[test]
fn a_record_of_another_version_is_refused_by_its_number() {
    let project = Project::new();
    let record = runs(repetitions("x", NOISE, 1.0)).next().unwrap();
    let text = record.to_json().unwrap();
    fs::write(project.path("ours.json"), &text).unwrap();
    let other = text.replace("\"version\":2", "\"version\":1");
    fs::write(project.path("other.json"), other).unwrap();
    project.shootout("compare ours.json other.json").expect(
        1,
        &["format version 1 is not known; this program reads version 2"],
    );
}

#[test]
fn two_servers_of_one_run() {
    let project = Project::new();
    let mut all = repetitions("a", NOISE, 1.0);
    all.extend(repetitions("b", OTHER, 1.0));
    let clustered = repetitions("b", OTHER, 1.3);
    all.extend(clustered.into_iter().map(|one| variant(one, "clustered")));
    all.push(unmeasured("c", Status::BuildFailed, "no compiler"));
    store(&project, "out", &all);
    project
        .shootout("compare out --servers a,b:default")
        .expect(0, &["A: a\nB: b:default\n", "No difference shown."]);
    project
        .shootout("compare out --servers a,b:clustered")
        .expect(2, &["B is 30 % slower"]);
    project.shootout("compare out --servers a,b").expect(
        1,
        &["b has several variants here: name one, b:clustered or b:default"],
    );
    project.shootout("compare out --servers a,d").expect(
        1,
        &["no row of d in out; there are a:default, b:clustered, b:default, c:default"],
    );
    project
        .shootout("compare out --servers a,c")
        .expect(3, &["repetition 1: build-failed: no compiler"]);
    project
        .shootout("compare --servers a,b")
        .expect(1, &["nothing to compare: no run under results/local"]);
}

#[test]
fn broken_files_are_told_and_bad_usage_is_refused() {
    let project = Project::new();
    store(&project, "a", &repetitions("a", NOISE, 1.0));
    fs::write(project.path("a/torn.json"), "{\"format\":").unwrap();
    fs::write(
        project.path("a/other.json"),
        r#"{"format":"websocket-shootout/x"}"#,
    )
    .unwrap();
    fs::create_dir(project.path("empty")).unwrap();
    project.shootout("compare a a").expect(
        0,
        &[
            "left out: a/torn.json: not a record",
            "No difference shown.",
        ],
    );
    for (arguments, said) in [
        ("a", "name two records or directories"),
        ("a a --servers a,b", "name two records or directories"),
        ("a empty", "empty: no record in this directory"),
        ("a missing", "missing: cannot be read"),
        ("a a/torn.json", "a/torn.json: not a record"),
        ("a a/other.json", "neither a measurement nor a run"),
        ("a a --figures p100", "no figure \"p100\""),
        ("a a --tolerance -1", "unexpected argument"),
        ("a a --tolerance much", "a percentage from 0"),
        ("--servers a", "two servers, like"),
    ] {
        project
            .shootout(&format!("compare {arguments}"))
            .expect(1, &[said]);
    }
}
