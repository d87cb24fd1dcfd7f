//! The command `explain`: what it reads, what it says, how it ends.

use crate::fixture::measured;
use crate::support::Project;
use board::explain::explanation_schema;
use record::{End, Json, Measurement, Switches};
use std::fs;

fn costing(name: &str, cpu_ns: u64) -> Measurement {
    let mut of = measured(name, 1, 9_000, End::StepsDone);
    let server = &mut of.server_steps[0];
    server.cpu_ns = cpu_ns * 1_000;
    server.kernel_ns = Some(cpu_ns * 800);
    server.user_ns = Some(cpu_ns * 200);
    server.switches = Some(Switches::default());
    let step = &mut of.run.as_mut().unwrap().steps[0];
    step.throughput = Some(record::Throughput {
        received: 1_000,
        received_bytes: 227_000,
        ..record::Throughput::default()
    });
    step.received_segments = Some(1_000);
    of
}

fn store(project: &Project, dir: &str, measurements: &[Measurement]) {
    let dir = project.path(dir);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("session.json"), "{}").unwrap();
    for measurement in measurements {
        let name = format!("{}.json", measurement.server.name);
        fs::write(dir.join(name), measurement.to_json().unwrap()).unwrap();
    }
}

#[test]
fn the_newest_run_is_explained_in_words_and_as_json() {
    let project = Project::new();
    project
        .shootout("explain a")
        .expect(1, &["nothing to explain: no run under", "--results"]);
    store(
        &project,
        "results/local/one",
        &[costing("a", 5_000), costing("b", 2_000)],
    );
    project.shootout("explain a --json found.json").expect(
        0,
        &[
            "a: broadcast over JSON at 1,000 clients",
            "takes 5.00 µs of CPU time (the median row: 2.00 µs).",
            "4.00 µs of 5.00 µs are the kernel's (80 %; the median row: 80 %)",
        ],
    );
    let found = fs::read_to_string(project.path("found.json")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let schema = serde_json::to_value(explanation_schema()).unwrap();
    if let Err(error) = jsonschema::validate(&schema, &found) {
        panic!("{}: {error}", error.instance_path);
    }
    project
        .shootout("explain nobody --results results/local/one")
        .expect(
            1,
            &["no row of nobody in results/local/one; there are a:default, b:default"],
        );
    project
        .shootout("explain a --results results/local")
        .expect(
            1,
            &["no run but a round; name one of its runs: results/local/one"],
        );
    project
        .shootout("explain a --json no-such/found.json")
        .expect(1, &["no-such/found.json: cannot write the explanation"]);
}

#[test]
fn records_of_an_earlier_version_are_told_and_end_with_3() {
    let project = Project::new();
    let mut old = costing("a", 5_000);
    let step = &mut old.server_steps[0];
    (step.user_ns, step.kernel_ns, step.switches) = (None, None, None);
    old.run.as_mut().unwrap().steps[0].received_segments = None;
    store(&project, "old", &[old]);
    project.shootout("explain a --results old").expect(
        3,
        &[
            "takes 5.00 µs of CPU time",
            "These records do not hold user and kernel time, context switches, TCP segments",
        ],
    );
}
