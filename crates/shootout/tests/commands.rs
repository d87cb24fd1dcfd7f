//! The commands that look and prepare: list, doctor, setup, build, verify, report.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use support::{Project, Server};

const NEEDY: &str = "[[requires]]\nwhat = \"the tool\"\nprobe = [\"the-tool\", \"--version\"]\n\
                     matches = 'tool 2\\.'\ndebian = [\"the-tool\"]\n";

/// A folder of programs for PATH, beside those of the system.
fn with_path(project: &Project, programs: &[(&str, &str)]) -> String {
    let dir = project.path("path");
    fs::create_dir_all(&dir).unwrap();
    for (name, script) in programs {
        fs::write(dir.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    format!("{}:{}", dir.display(), std::env::var("PATH").unwrap())
}

#[test]
fn list_shows_variants_and_what_is_unusable() {
    let project = Project::new();
    project.add(&Server {
        more: "[[variant]]\nname = \"single\"\n[[variant]]\nname = \"clustered\"\n",
        ..Server::default()
    });
    project.manifest("go-broken", "manifest = 1\nnaem = \"go-broken\"\n");
    project.shootout("list").expect(
        0,
        &[
            "clustered",
            "servers/go-broken/server.toml:2:1: unknown key \"naem\"",
        ],
    );
    let json = project.shootout("list --json");
    let list: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(list[1]["variants"][1]["name"], "clustered");
    assert!(
        list[0]["problem"]
            .as_str()
            .unwrap()
            .contains("did you mean \"name\"?")
    );
}

#[test]
fn doctor_names_what_is_missing_and_the_command_that_brings_it() {
    let project = Project::new();
    project.add(&Server {
        more: NEEDY,
        ..Server::default()
    });
    project.shootout("doctor").expect(
        1,
        &[
            "missing the tool: `the-tool` is not installed",
            "apt-get install -y --no-install-recommends the-tool",
            "open files",
        ],
    );
    let old = with_path(&project, &[("the-tool", "echo tool 1.9")]);
    let said = project.command("doctor").env("PATH", old).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        said.contains("does not say what it should (it must match /tool 2\\./): tool 1.9"),
        "{said}"
    );
    let new = with_path(&project, &[("the-tool", "echo tool 2.1")]);
    let done = project.command("doctor").env("PATH", new).output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&done.stdout).contains("the tool (tool 2.1)"));
}

#[test]
fn setup_installs_only_with_consent() {
    let project = Project::new();
    project.add(&Server {
        more: NEEDY,
        ..Server::default()
    });
    let log = project.path("apt.log");
    let tool = project.path("path/the-tool");
    // The lists are stale: the first install fails, the one after the update works.
    let apt = format!(
        "echo \"$@\" >> {log}; case $1 in update) touch {log}.updated;; install) \
         [ -e {log}.updated ] || exit 100; printf '#!/bin/sh\\necho tool 2.0\\n' > {tool}; \
         chmod +x {tool};; esac",
        log = log.display(),
        tool = tool.display()
    );
    let path = with_path(
        &project,
        &[
            ("apt-get", &apt),
            ("apt-cache", "echo '  Candidate: 2.0'"),
            ("sudo", "exec \"$@\""),
        ],
    );
    let setup = |arguments: &str| {
        let output = project
            .command(arguments)
            .env("PATH", &path)
            .output()
            .unwrap();
        support::Done::from(output)
    };
    setup("setup").expect(1, &["not installed; the command is:", "install -y"]);
    assert!(!log.exists());
    setup("setup --yes").expect(0, &["everything is there"]);
    let calls = fs::read_to_string(&log).unwrap();
    let install = "install -y --no-install-recommends the-tool";
    assert_eq!(
        calls.lines().collect::<Vec<_>>(),
        [install, "update", install]
    );
    setup("setup --yes").expect(0, &["everything is there"]);
    assert_eq!(fs::read_to_string(&log).unwrap(), calls);
}

#[test]
fn build_is_left_out_when_nothing_changed_and_fails_with_the_end_of_its_log() {
    let project = Project::new();
    let step = |command: &str| format!("[[build]]\nrun = [\"sh\", \"-c\", \"{command}\"]\n");
    project.add(&Server {
        more: &step("echo built >> {bin}/built"),
        ..Server::default()
    });
    let built = || {
        fs::read_to_string(project.path("bin/built"))
            .unwrap()
            .lines()
            .count()
    };
    project
        .shootout("build")
        .expect(0, &["go-example: example 1.2.3"]);
    project.shootout("build").expect(0, &["(unchanged)"]);
    assert_eq!(built(), 1);
    project.shootout("build --force").expect(0, &[]);
    assert_eq!(built(), 2);
    fs::write(project.path("servers/go-example/main.go"), "package main").unwrap();
    project.shootout("build").expect(0, &[]);
    assert_eq!(built(), 3);

    project.add(&Server {
        more: &step("seq 1 30; echo undefined: hub >&2; exit 2"),
        ..Server::default()
    });
    let failed = project.shootout("build");
    failed.expect(
        1,
        &["build step 1", "exit code 2", "undefined: hub", "build.log"],
    );
    assert!(failed.stdout.contains("\n    12\n") && !failed.stdout.contains("\n    11\n"));
}

#[test]
fn a_receipt_that_does_not_match_is_a_failed_build() {
    let project = Project::new();
    project.add(&Server::default());
    let path = project.path("servers/go-example/server.toml");
    let text = fs::read_to_string(&path)
        .unwrap()
        .replace("example v1.2.3", "hello");
    fs::write(&path, text).unwrap();
    project.shootout("build").expect(
        1,
        &["the version command (`echo hello`) does not print what matches"],
    );
}

#[test]
fn verify_knows_the_honest_from_the_liars() {
    let project = Project::new();
    let variant = |name: &str| {
        format!(
            "[[variant]]\nname = \"{name}\"\ncommand = [\"{}\", \"--lie\", \"{name}\", \"--port\", \"{{port}}\"]\n",
            support::programs().join("liar-server").display()
        )
    };
    project.add(&Server {
        more: &format!("{}{}", variant("none"), variant("answers-pongs")),
        ..Server::default()
    });
    project
        .shootout("verify go-example --variants none")
        .expect(0, &["go-example (none): ", " passed in "]);
    project
        .shootout("verify go-example --variants answers-pongs")
        .expect(
            1,
            &[
                "FAIL rfc6455-5.5.3-unsolicited-pong (RFC 6455, 5.5.3",
                "expected: ",
                "observed: ",
                "1 failed",
            ],
        );
    project
        .shootout("verify --variants nine")
        .expect(1, &["no selected server has a variant \"nine\""]);
}

#[test]
fn a_broken_manifest_stops_only_those_who_ask_for_it() {
    let project = Project::new();
    project.add(&Server::default());
    project.manifest("go-broken", "manifest = 1\nnaem = \"go-broken\"\n");
    project.shootout("build go-example").expect(0, &[]);
    project.shootout("build").expect(
        1,
        &["go-example: example 1.2.3", "go-broken/server.toml:2:1"],
    );
    project
        .shootout("build go-broken")
        .expect(1, &["unknown key \"naem\""]);
}

#[test]
fn usage_is_refused_with_one_and_help_is_not() {
    let project = Project::new();
    project
        .shootout("rnu")
        .expect(1, &["unrecognized subcommand 'rnu'"]);
    project
        .shootout("--help")
        .expect(0, &["Examples:", "Exit codes:"]);
    project
        .shootout("run --help")
        .expect(0, &["--resume", "130 interrupted"]);
    project.shootout("report").expect(1, &["nothing to report"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let lost = std::process::Command::new(env!("CARGO_BIN_EXE_shootout"))
        .arg("list")
        .current_dir(elsewhere.path())
        .output()
        .unwrap();
    assert_eq!(lost.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&lost.stderr).contains("no project here"));
}
