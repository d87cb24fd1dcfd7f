//! `shootout run --workload`, end to end, with the real load generator: the plan that a server gets,
//! what is kept of it, and what is said of plans that cannot be run.

use crate::support::{BOTH, Project, Server};
use plan::Load;
use record::Status;
use std::fs;

/// What the files of results beside the logs are called.
fn results(project: &Project) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(project.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("go-example"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_workload_of_the_project_is_run_with_what_is_set_over_it() {
    let project = Project::new();
    project.add(&Server::default());
    let done = project.shootout(
        "run --out out --workload ticker --set load.duration=1s --set load.warm_up=0s \
         --set clients.first=20 --set load.rate=20 --set generator.seed=5",
    );
    // A machine that is busy with other things ends it at the generator's limit: exit code 3.
    assert!(matches!(done.code, Some(0 | 3)), "{}", done.stderr);
    done.expect(
        done.code.unwrap(),
        &[
            "1 row: ticker in text, 20 a second for 1s a step, 20 clients, padding 0, until p99 of \
             delivery is above 100ms",
            "ticker over JSON",
        ],
    );
    let name = "go-example.default.ticker.text.1";
    let measurement = project.measurement(name);
    assert!(
        matches!(measurement.status, Status::Ok | Status::GeneratorLimited),
        "{:?}",
        measurement.reason
    );
    assert_eq!(
        results(&project),
        [format!("{name}.json"), format!("{name}.plan.toml")]
    );
    assert_eq!(measurement.workload_name(), "ticker");
    let plan = measurement.run.unwrap().plan;
    assert_eq!(plan.name.as_deref(), Some("ticker"));
    assert_eq!(plan.generator.seed, 5);
    let Load::Open(open) = plan.load else {
        panic!("{:?}", plan.load);
    };
    assert_eq!((open.rate, open.duration.ns()), (20.0, 1_000_000_000));

    let resumed = "run --resume out --set load.duration=2s";
    project
        .shootout(resumed)
        .expect(1, &["load.open.duration was \"1s\", now \"2s\""]);
    project
        .shootout("run --resume out --workload broadcast")
        .expect(1, &["--workload was \"ticker\", now \"broadcast\""]);
    project
        .shootout("run --resume out")
        .expect(done.code.unwrap(), &["go-example ticker text: kept"]);
}

#[test]
fn the_file_beside_a_record_is_the_exact_input() {
    let project = Project::new();
    project.add(&Server {
        dialects: BOTH,
        ..Server::default()
    });
    fs::write(
        project.path("mine.toml"),
        "reason = \"It is asked for.\"\naudience = \"sender\"\n\
         [clients.steps]\nfirst = 10\nadd = 10\ncount = 2\n\
         [load.closed]\nin_flight = 2\nsamples = 20\n[message]\ndialect = \"binary\"\n",
    )
    .unwrap();
    let done = project.shootout("run --out out --workload ./mine.toml");
    done.expect(0, &["1 row: mine in binary", "10 to 20 clients by 10"]);
    let name = "go-example.default.mine.binary.1";
    let ran = project.measurement(name).run.unwrap();
    let kept = fs::read_to_string(project.path(&format!("out/{name}.plan.toml"))).unwrap();
    let mut kept: plan::Plan = toml::from_str(&kept).unwrap();
    kept.target.url.clone_from(&ran.plan.target.url);
    // What the file leaves out is chosen for the machine.
    kept.generator.io = ran.plan.generator.io;
    kept.generator.timestamps = ran.plan.generator.timestamps;
    assert_eq!(kept, ran.plan);
    let page = fs::read_to_string(project.path("out/report.html")).unwrap();
    assert!(page.contains("Mine over binary"));
}

#[test]
fn connections_that_are_held_are_ranked_by_their_memory() {
    let project = Project::new();
    project.add(&Server {
        more: "[load]\nstep-size = 10\n",
        ..Server::default()
    });
    let done = project.on_schedule(|| {
        project.shootout(
            "run --out out --workload connect --set clients.first=30 --set load.hold=1s \
             --set load.ping_interval=500ms",
        )
    });
    done.expect(
        0,
        &[
            "30 clients",
            "connect over JSON: the memory of the server for one connection",
            "30 clients, held for 1s",
        ],
    );
    let measurement = project.measurement("go-example.default.connect.text.1");
    let run = measurement.run.unwrap();
    assert_eq!(run.outcome.carried_clients, Some(30));
    assert!(run.steps[0].connections.is_some());
}

#[test]
fn workloads_are_listed_with_their_reasons() {
    let project = Project::new();
    let listed = project.shootout("list --workloads");
    listed.expect(0, &["ticker ", "Prices, scores and positions"]);
    let json = project.shootout("list --workloads --json");
    let all: Vec<serde_json::Value> = serde_json::from_str(&json.stdout).unwrap();
    let connect = all.iter().find(|one| one["name"] == "connect").unwrap();
    assert_eq!(connect["request"], "connect");
    assert!(connect["reason"].as_str().unwrap().ends_with('.'));
}

#[test]
fn plans_that_cannot_be_run_are_refused_before_anything_is_measured() {
    let project = Project::new();
    project.add(&Server::default());
    let plan = "audience = \"sender\"\n[load.flood]\nrate = 20\n";
    fs::write(project.path("flood.toml"), plan).unwrap();
    for (arguments, said) in [
        (
            "run --workload tickr",
            "no workload \"tickr\"; did you mean \"ticker\"?",
        ),
        (
            "run --workload ticker --set load.rat=3",
            "--set load.rat=3: unknown key `load.open.rat`; did you mean `load.open.rate`?",
        ),
        ("run --workload ./flood.toml", "flood.toml, line 2: "),
        ("run --workload ./none.toml", "cannot read the plan"),
        (
            "run --workload capacity --set clients.search.first=90000000",
            "permitted",
        ),
    ] {
        project.shootout(arguments).expect(1, &[said]);
    }
    assert!(fs::read_dir(project.path("results/local")).is_err());
}

#[test]
fn a_workload_over_tls_loads_the_variant_with_tls_which_shows_the_certificate_of_the_run() {
    let project = Project::new();
    project.add(&Server {
        script: "exec \"$PROGRAMS/liar-server\" --port $PORT ${3:+--tls-cert \"$3\" --tls-key \"$4\"}",
        // The checks of broadcasts take a while with a server that bounds nothing over TLS.
        more: "[[variant]]\nname = \"plain\"\n\
               [[variant]]\nname = \"tls\"\nargs = [\"{cert}\", \"{key}\"]\ntls = true\n\
               workloads = [\"echo\"]\n",
        ..Server::default()
    });
    let done = project.shootout(
        "run --out out --workload tls-connect --set clients.first=10 --set load.hold=500ms \
         --set load.ping_interval=200ms --set connection.tls.max=1.2",
    );
    // As above, where the machine is busy.
    assert!(matches!(done.code, Some(0 | 3)), "{}", done.stderr);
    done.expect(
        done.code.unwrap(),
        &[
            "1 row: tls-connect in text",
            "not applicable under tls-connect, its manifest declares no TLS: go-example (plain)",
        ],
    );
    let run = project
        .measurement("go-example.tls.tls-connect.text.1")
        .run
        .unwrap();
    assert!(run.plan.target.url.starts_with("wss://127.0.0.1:"));
    assert!(run.plan.target.verify_certificate);
    let tls = run.steps[0].tls.as_ref().unwrap();
    assert_eq!((tls.handshakes, tls.resumed), (10, 0));
    assert_eq!(tls.agreed[0].version, "1.2");

    let done = project.shootout("run --out none --workload tls --variants plain");
    done.expect(
        1,
        &["nothing to measure", "tls: its manifest declares no TLS"],
    );
}
