//! `shootout check` against a directory that a run has written, and against the same directory after
//! each way to change it.

use crate::changed::{assert_found, edit, found, read, write};
use crate::support::{BOTH, Project, SHORT, Server};
use board::records::pack;
use record::{
    Certificate, Environment, Json, Proof, ProofVerdict, RunRecord, SELFTEST_FORMAT, VERSION,
};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const TEXT: &str = "go-example.default.broadcast.text.1.json";
const BINARY: &str = "go-example.default.broadcast.binary.1.json";

/// A directory with two rows and all that a published table needs.
fn published(project: &Project) -> PathBuf {
    project.add(&Server {
        dialects: BOTH,
        ..Server::default()
    });
    project
        .shootout(&format!("{SHORT} --dialects text,binary"))
        .expect(0, &["2 rows"]);
    let dir = project.path("out");
    for file in [TEXT, BINARY] {
        // What else the machine does while tests are run is not what is tested.
        edit(&dir, file, |row| {
            row["busy_before"] = json!(0.01);
            row["busy_during"] = json!(0.01);
        });
    }
    let run = RunRecord::from_json(&read(&dir, TEXT)["run"].to_string()).unwrap();
    write(&dir, "selftest.json", &certificate(&run));
    dir
}

fn certificate(run: &RunRecord) -> Value {
    let environment = Environment {
        allowed_cpus: (0..run.environment.cores as usize).collect(),
        ..run.environment.clone()
    };
    let proof = |id: &str| Proof {
        id: id.to_owned(),
        name: id.to_owned(),
        proves: id.to_owned(),
        verdict: ProofVerdict::Pass,
        attempts: 1,
        elapsed_ns: 1,
        checks: Vec::new(),
        notes: Vec::new(),
    };
    let certificate = Certificate {
        format: SELFTEST_FORMAT.to_owned(),
        version: VERSION,
        tool: run.tool.clone(),
        started: run.started.clone(),
        ended: run.ended.clone(),
        command: Vec::new(),
        short: false,
        seed: 1,
        timestamps: run.plan.generator.timestamps,
        io: run.plan.generator.io,
        environment,
        parts: vec![proof("a"), proof("b")],
        not_made: Vec::new(),
        ceilings: Vec::new(),
    };
    serde_json::from_str(&certificate.to_json().unwrap()).unwrap()
}

#[test]
fn a_run_holds_and_each_way_to_change_it_is_found() {
    let project = Project::new();
    let dir = published(&project);
    let done = project.shootout(&format!("check {}", dir.display()));
    done.expect(0, &["2 rows, 2 with a result", "everything holds"]);
    assert_eq!(found(&dir, |_| {}), [""; 0]);
    let command = read(&dir, TEXT)["run"]["command"].to_string();
    assert!(command.contains("out/go-example"), "{command}");
    let root = project.path("out").parent().unwrap().display().to_string();
    assert!(!command.contains(&root), "{command}");
    let step = "/run/steps/0";
    let at = |row: &mut Value, pointer: &str, value: Value| {
        *row.pointer_mut(&format!("{step}{pointer}")).unwrap() = value;
    };

    // A figure is made better.
    assert_found(&dir, &["p95_ns is 1000,"], |dir| {
        edit(dir, TEXT, |row| at(row, "/completion/p95_ns", json!(1000)));
    });
    assert_found(&dir, &["run.steps.0.ack.mean_ns"], |dir| {
        edit(dir, TEXT, |row| at(row, "/ack/mean_ns", json!(1.5)));
    });
    // The histogram of another row stands beside the figures of this one.
    let other = read(&dir, BINARY);
    let histogram = other
        .pointer(&format!("{step}/delivery/histogram"))
        .unwrap();
    assert_found(&dir, &["run.steps.0.delivery."], |dir| {
        edit(dir, TEXT, |row| {
            at(row, "/delivery/histogram", histogram.clone())
        });
    });
    // More clients were carried than the steps say.
    assert_found(
        &dir,
        &["carried_clients is 400, and by its steps 40"],
        |dir| {
            edit(dir, TEXT, |row| {
                row["run"]["outcome"]["carried_clients"] = json!(400)
            });
        },
    );
    // A failed step passes.
    assert_found(
        &dir,
        &[
            "verdict is pass, and by its figures fail",
            "by its steps none",
            "faults is 7, and by its series 0",
            "status is ok, and by its run faulty",
        ],
        |dir| {
            edit(dir, TEXT, |row| at(row, "/faults/lost", json!(7)));
        },
    );
    // A limit that was broken was moved afterwards.
    assert_found(
        &dir,
        &[
            "over_limit is false, and by its limit true",
            "another plan",
            "verdict is pass",
        ],
        |dir| {
            edit(dir, BINARY, |row| {
                row["run"]["plan"]["limits"]["time"] = json!("1ns")
            });
        },
    );
    // A row is left out, and the table made without it.
    assert_found(&dir, &["names the row"], |dir| {
        fs::remove_file(dir.join(BINARY)).unwrap();
    });
    // A row of another run is added.
    let added = "does not name the row go-example.default.broadcast.text.2.json";
    assert_found(&dir, &[added], |dir| {
        let mut row = read(dir, TEXT);
        row["repetition"] = json!(2);
        write(dir, "go-example.default.broadcast.text.2.json", &row);
    });
    // One row stands in the file of another.
    assert_found(&dir, &["holds the measurement"], |dir| {
        fs::copy(dir.join(TEXT), dir.join(BINARY)).unwrap();
    });
    // A row of another machine is mixed in.
    let machine = ["another machine than", "no certificate is for these"];
    assert_found(&dir, &machine, |dir| {
        edit(dir, TEXT, |row| {
            row["run"]["environment"]["kernel"] = json!("Linux 4.4.0");
        });
    });
    // The table was edited by hand.
    assert_found(&dir, &["report.md: is not what the records say"], |dir| {
        let shown = fs::read_to_string(dir.join("report.md")).unwrap();
        fs::write(
            dir.join("report.md"),
            shown.replace("go-example", "go-winner"),
        )
        .unwrap();
    });
    // Packed, it holds as it did, and a change is found as well.
    let packed = |dir: &Path| {
        let packed = pack(dir, |_, _| true).unwrap();
        assert_eq!((packed.files, packed.plans), (3, 2));
    };
    assert_eq!(found(&dir, packed), [""; 0]);
    // A plan that is not that of its record stays.
    let changed = |dir: &Path| {
        let plan = dir.join(TEXT).with_extension("plan.toml");
        let text = fs::read_to_string(&plan).unwrap();
        let other = text.replace("seed = ", "seed = 9");
        assert_ne!(other, text);
        fs::write(&plan, other).unwrap();
        assert_eq!(pack(dir, |_, _| true).unwrap().plans, 1);
        assert!(plan.exists());
    };
    assert_eq!(found(&dir, changed), [""; 0]);
    assert_found(&dir, &["p95_ns is 1000,"], |dir| {
        edit(dir, TEXT, |row| at(row, "/completion/p95_ns", json!(1000)));
        packed(dir);
    });
    // Beside a packed row another of its name would pass for a repetition.
    assert_found(&dir, &["is there twice"], |dir| {
        let row = read(dir, TEXT);
        packed(dir);
        write(dir, TEXT, &row);
    });
    // A round of runs holds where each of them does, and what it says of itself can be read.
    let round = project.path("round");
    fs::create_dir_all(&round).unwrap();
    fs::rename(&dir, round.join("run-1")).unwrap();
    let checked = || project.shootout(&format!("check {}", round.display()));
    checked().expect(
        0,
        &["round/run-1: 2 rows, 2 with a result", "everything holds"],
    );
    fs::remove_file(round.join("run-1").join(BINARY)).unwrap();
    checked().expect(1, &["round/run-1: session.json: names the row"]);
    fs::write(round.join("round.toml"), "label = \"certified\"").unwrap();
    checked().expect(1, &["round.toml"]);
}

#[test]
fn what_a_published_table_needs_is_demanded() {
    let project = Project::new();
    let dir = published(&project);
    assert_found(&dir, &["holds no certificate"], |dir| {
        fs::remove_file(dir.join("selftest.json")).unwrap();
    });
    for (pointer, value, words) in [
        (
            "/environment/cpu_model",
            json!("another"),
            "another machine: cpu model",
        ),
        (
            "/started",
            json!("2020-01-01T00:00:00Z"),
            "hours lie between",
        ),
        ("/short", json!(true), "short form"),
        (
            "/parts/1/verdict",
            json!("inconclusive"),
            "its part (b) did not pass",
        ),
        ("/not_made", json!(["c"]), "not complete"),
        ("/tool/version", json!("0.0.9"), "of version 0.0.9"),
    ] {
        assert_found(&dir, &[words], |dir| {
            edit(dir, "selftest.json", |certificate| {
                match certificate.pointer_mut(pointer) {
                    Some(place) => *place = value,
                    None => certificate[&pointer[1..]] = value,
                }
            });
        });
    }
    for (key, value, words) in [
        ("conformance", Value::Null, "has no conformance checks"),
        ("pinning", Value::Null, "not pinned"),
        (
            "pinning",
            json!({"server_cpus": [0], "generator_cpus": [0]}),
            "share core 0",
        ),
        ("busy_before", Value::Null, "does not say what else"),
        ("busy_before", json!(0.5), "busy to 50%"),
        ("busy_during", Value::Null, "meanwhile"),
        ("busy_during", json!(0.3), "other programs used 30%"),
        ("server_steps", json!([]), "server_steps has 0 steps"),
    ] {
        assert_found(&dir, &[words, "report.md"], |dir| {
            edit(dir, TEXT, |row| row[key] = value);
            // Whether the table differs as well is not what is tested.
            fs::remove_file(dir.join("report.md")).unwrap();
        });
    }
    // A row that the generator ended may have a place: what is demanded of the others is of it too.
    assert_found(&dir, &["not pinned", "report.md"], |dir| {
        edit(dir, TEXT, |row| {
            row["status"] = json!("generator-limited");
            row["pinning"] = Value::Null;
        });
        fs::remove_file(dir.join("report.md")).unwrap();
    });
    assert_found(&dir, &["although a check failed"], |dir| {
        edit(dir, TEXT, |row| {
            row["conformance"]["checks"][0]["verdict"] = json!("fail");
        });
    });
    assert_found(&dir, &["session.json"], |dir| {
        edit(dir, "session.json", |session| {
            session.as_object_mut().unwrap().remove("rows");
        });
    });
    assert_found(&dir, &["EOF while parsing", "names the row"], |dir| {
        fs::write(dir.join(TEXT), "{").unwrap();
    });
}
