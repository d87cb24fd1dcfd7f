//! `shootout run` with several workloads, end to end, with the real load generator: a folder of plans
//! is all that it knows of them.

use crate::support::{Done, Project, SHORT, Server, eventually, interrupt};
use record::{Measurement, Status};
use std::fs;

/// A few clients for a moment, whatever the plan.
const CHAT: &str = "name = \"corner\"\nreason = \"A few rooms of two, for a moment.\"\n\
                    [audience.room]\nmembers = 2\n[clients.steps]\nfirst = 8\ncount = 1\n\
                    [load.open]\nrate = 40.0\nduration = \"1s\"\n\
                    [limits]\npercentile = 99.0\nof = \"delivery\"\ntime = \"10s\"\n";

/// A project with plans of its own in place of those of the repository.
fn project(plans: &[(&str, &str)]) -> Project {
    let project = Project::new();
    fs::remove_file(project.path("workloads")).unwrap();
    fs::create_dir(project.path("workloads")).unwrap();
    for (name, text) in plans {
        fs::write(project.path(&format!("workloads/{name}.toml")), text).unwrap();
    }
    project
}

fn closed(name: &str, audience: &str) -> String {
    format!(
        "name = \"{name}\"\nreason = \"A short look.\"\naudience = \"{audience}\"\n\
         [clients.steps]\nfirst = 10\nadd = 10\ncount = 2\n\
         [load.closed]\nin_flight = 2\nsamples = 20\n[limits]\ntime = \"20s\"\n"
    )
}

/// A server with rooms.
fn with_rooms<'a>() -> Server<'a> {
    Server {
        workloads: "[\"echo\", \"broadcast\", \"rooms\"]",
        ..Server::default()
    }
}

#[test]
fn a_new_file_is_a_workload_with_a_ranking_and_no_code_knows_it() {
    let project = project(&[("corner", CHAT)]);
    project.add(&with_rooms());
    project
        .shootout("list --workloads")
        .expect(0, &["corner", "A few rooms of two, for a moment."]);
    let done = project.shootout("run --out out --workload corner");
    // A machine that is busy with other things ends it at the generator's limit: exit code 3.
    let code = done.code.unwrap();
    assert!(matches!(code, 0 | 3), "{}", done.stderr);
    done.expect(
        code,
        &["corner over JSON: p99 of messages at a client of their room, 8 clients"],
    );
    let measurement = project.measurement("go-example.default.corner.text.1");
    assert!(
        matches!(measurement.status, Status::Ok | Status::GeneratorLimited),
        "{:?}",
        measurement.reason
    );
    assert!(measurement.run.unwrap().faults().is_empty());
    let page = fs::read_to_string(project.path("out/report.html")).unwrap();
    for words in [
        "Corner over JSON",
        "A few rooms of two, for a moment.",
        "Ranked by p99 of messages at a client of their room",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn all_is_what_the_folder_has_and_each_workload_is_measured_over_all_rows() {
    let echo = closed("one", "sender");
    let broadcast = closed("two", "everyone");
    let project = project(&[("one", &echo), ("two", &broadcast), ("corner", CHAT)]);
    project.add(&Server {
        name: "a-roomless",
        ..Server::default()
    });
    project.add(&Server {
        name: "b-complete",
        ..with_rooms()
    });
    let done = project
        .shootout("run --out out --workload two,all --set two:load.samples=10 --order listed");
    let code = done.code.unwrap();
    assert!(matches!(code, 0 | 3), "{}", done.stderr);
    done.expect(
        code,
        &[
            "[1/5] a-roomless two text",
            "[2/5] b-complete two text",
            "[3/5] b-complete corner text",
            "[4/5] a-roomless one text",
            "[5/5] b-complete one text",
            "not applicable under corner, its manifest declares no rooms: a-roomless",
            "Not applicable, its manifest declares no rooms: a-roomless",
            "one over JSON",
            "two over JSON",
            "corner over JSON",
        ],
    );
    let of = |row: &str| project.measurement(&format!("{row}.text.1"));
    let samples = |measurement: Measurement| measurement.run.unwrap().plan.samples();
    assert_eq!(samples(of("b-complete.default.one")), 20);
    assert_eq!(samples(of("b-complete.default.two")), 10);
    let absent = of("a-roomless.default.corner");
    assert_eq!(absent.status, Status::NotApplicable);
    assert_eq!(absent.reason.unwrap(), "its manifest declares no rooms");

    let compared = project.shootout("compare out out");
    for workload in ["one", "two", "corner"] {
        assert!(compared.stdout.contains(workload), "{}", compared.stdout);
    }
    assert!(
        !compared.stdout.contains("a-roomless corner"),
        "{}",
        compared.stdout
    );
}

#[test]
fn an_interrupt_keeps_what_was_measured_and_resume_goes_on_with_the_next_workload() {
    let (echo, broadcast) = (closed("one", "sender"), closed("two", "everyone"));
    let project = project(&[("one", &echo), ("two", &broadcast)]);
    project.add(&Server::default());
    let mut child = project.spawn(
        "run --out out --workload one,two --set two:load.samples=400 --set two:clients.count=40 \
         --set two:clients.add=1",
    );
    eventually("the second workload is being measured", || {
        let log = "out/logs/go-example.default.two.text.1.generator.log";
        project.path(log).exists()
    });
    interrupt(&child);
    eventually("it ends", || child.try_wait().unwrap().is_some());
    let done = Done::from(child.wait_with_output().unwrap());
    done.expect(130, &["interrupted, 1 of 2 rows are left", "one over JSON"]);
    let of = |name: &str| project.measurement(&format!("go-example.default.{name}.text.1"));
    assert_eq!(of("two").status, Status::Interrupted);
    let first = of("one").started;
    project
        .shootout("run --resume out --workload two")
        .expect(1, &["--workload was \"one,two\", now \"two\""]);
    project
        .shootout("run --resume out --set two:load.samples=10")
        .expect(1, &["two:load.closed.samples was 400, now 10"]);
    project
        .shootout("run --resume out")
        .expect(0, &["go-example one text: kept", "two over JSON"]);
    assert_eq!(of("two").status, Status::Ok);
    assert_eq!(of("one").started, first);
}

#[test]
fn what_cannot_be_run_is_refused_in_a_line_that_names_what_there_is() {
    let (echo, broadcast) = (closed("one", "sender"), closed("two", "everyone"));
    let project = project(&[("one", &echo), ("two", &broadcast), ("corner", CHAT)]);
    project.add(&Server::default());
    for (arguments, said) in [
        (
            "--workload one,cornr",
            "shootout: no workload \"cornr\"; did you mean \"corner\"? There are corner, one, two; \
             a file",
        ),
        (
            "--workload one,corner --set load.rate=3",
            "workload one: --set load.rate=3",
        ),
        (
            "--workload one --set corner:load.rate=3",
            "this run has no workload \"corner\"; it has one",
        ),
        ("--workload one,./workloads/one.toml", "would have one name"),
        (
            "--workload corner",
            "no selected variant fits (corner: its manifest declares no rooms)",
        ),
    ] {
        let done = project.shootout(&format!("run --out out {arguments}"));
        done.expect(1, &[said]);
        assert_eq!(done.stderr.trim().lines().count(), 1, "{}", done.stderr);
    }
    assert!(!project.path("out").exists());
    fs::write(project.path("workloads/broken.toml"), "rate = ").unwrap();
    project
        .shootout("run --out out --workload all")
        .expect(1, &["workload broken: ", "broken.toml"]);
    project
        .shootout(&format!("{SHORT} --workload one"))
        .expect(0, &["one over JSON"]);
}
