//! The commands that look and prepare: list, doctor, setup, build, verify, report.

use crate::support::machine::{apt, needs, with_path};
use crate::support::{Project, Server};
use std::fs;

const NEEDY: &str = "[[requires]]\nwhat = \"the tool\"\nprobe = [\"the-tool\", \"--version\"]\n\
                     matches = 'tool 2\\.'\ndebian = [\"the-tool\"]\n";

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
    assert_eq!(list[1]["json"], "tree");
    assert_eq!(list[1]["variants"][1]["runtime"], serde_json::Value::Null);
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
            "missing go-example\n",
            "misses the tool: `the-tool` is not installed",
            "apt-get install -y --no-install-recommends the-tool",
            "open files",
        ],
    );
    let old = with_path(&project, &[("the-tool", "echo tool 1.9")]);
    let said = project.command("doctor").env("PATH", old).output().unwrap();
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        said.contains("does not match /tool 2\\./: tool 1.9"),
        "{said}"
    );
    let new = with_path(&project, &[("the-tool", "echo tool 2.1")]);
    let doctor = |arguments| {
        let done = project.command(arguments).env("PATH", &new).output();
        crate::support::Done::from(done.unwrap())
    };
    let all = doctor("doctor");
    all.expect(0, &["ok      go-example\n"]);
    assert!(!all.stdout.contains("the tool"), "{}", all.stdout);
    doctor("doctor go-example").expect(0, &["has the tool (tool 2.1)"]);
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
            ("apt-cache", "echo 'the-tool:'"),
            ("sudo", "exec \"$@\""),
        ],
    );
    let setup = |arguments: &str| {
        let output = project
            .command(arguments)
            .env("PATH", &path)
            .output()
            .unwrap();
        crate::support::Done::from(output)
    };
    setup("setup").expect(1, &["not installed; the command is:", "install -y"]);
    assert!(!log.exists());
    setup("setup --yes").expect(0, &["everything is there"]);
    let calls = fs::read_to_string(&log).unwrap();
    let install = "install -y --no-install-recommends the-tool -o DPkg::Lock::Timeout=600";
    assert_eq!(
        calls.lines().collect::<Vec<_>>(),
        [install, "update", install]
    );
    setup("setup --yes").expect(0, &["everything is there"]);
    assert_eq!(fs::read_to_string(&log).unwrap(), calls);
}

/// A server of three variants: one needs nothing, one a package, one what no package brings.
const THREE: &str = "\
[[requires]]
what = \"the tool\"
probe = [\"the-tool\", \"--version\"]
debian = [\"the-tool\", \"the-lib\"]
variants = [\"packaged\"]

[[requires]]
what = \"the gem\"
probe = [\"the-tool\", \"--has-gem\"]
remedy = \"gem install the-gem\"
variants = [\"foreign\"]

[[build]]
run = [\"sh\", \"-c\", \"echo all >> {bin}/steps\"]

[[build]]
run = [\"sh\", \"-c\", \"echo packaged >> {bin}/steps\"]
variants = [\"packaged\"]

[[variant]]
name = \"plain\"
[[variant]]
name = \"packaged\"
version = { command = [\"echo\", \"packaged v7\"], matches = 'v(\\S+)' }
[[variant]]
name = \"foreign\"
";

fn steps(project: &Project) -> Vec<String> {
    let text = fs::read_to_string(project.path("bin/steps")).unwrap_or_default();
    let _ = fs::remove_file(project.path("bin/steps"));
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_variant_without_its_toolchain_leaves_the_others_as_they_are() {
    let project = Project::new();
    project.add(&Server {
        more: THREE,
        ..Server::default()
    });
    project.shootout("doctor").expect(
        1,
        &[
            "ok      go-example (plain)\n",
            "missing go-example (packaged)\n          misses the tool: ",
            "missing go-example (foreign)\n          misses the gem: ",
            "remedy: gem install the-gem",
        ],
    );
    project.shootout("build").expect(
        1,
        &[
            "go-example (plain): example 1.2.3\n",
            "go-example (packaged): the tool is missing",
            "go-example (foreign): the gem is missing",
            "3 variants: 1 ok, 2 without what they need (go-example (packaged), go-example (foreign))",
        ],
    );
    assert_eq!(steps(&project), ["all"]);
    project
        .shootout("build")
        .expect(1, &["go-example (plain): example 1.2.3 (unchanged)"]);
    assert!(steps(&project).is_empty());

    // Now a package brings the tool, and nothing brings the gem.
    let path = with_path(&project, &[("the-tool", "[ $1 = --version ]")]);
    let with_tool = |arguments: &str| {
        let output = project.command(arguments).env("PATH", &path).output();
        crate::support::Done::from(output.unwrap())
    };
    with_tool("build").expect(
        0,
        &[
            "go-example (plain): example 1.2.3\n",
            "go-example (packaged): example 7\n",
            "go-example (foreign): the gem is missing",
            "3 variants: 2 ok, 1 without what they need",
        ],
    );
    // A step that they share is run for both, since the outputs of one may be made from it.
    assert_eq!(steps(&project), ["all", "packaged"]);
    with_tool("build").expect(0, &["example 1.2.3 (unchanged)", "example 7 (unchanged)"]);
    assert!(steps(&project).is_empty());
    with_tool("build go-example").expect(1, &["the gem is missing"]);
    with_tool("verify").expect(
        0,
        &[
            "go-example (plain): ",
            "go-example (packaged): ",
            "go-example (foreign): the gem is missing",
            "3 variants: 2 ok, 1 without",
        ],
    );
    with_tool("verify --variants foreign go-example").expect(1, &["the gem is missing"]);
}

#[test]
fn a_step_of_one_variant_fails_only_that() {
    let project = Project::new();
    project.add(&Server {
        more: "[[build]]\nrun = [\"sh\", \"-c\", \"echo no gems here; exit 3\"]\nvariants = [\"b\"]\n\
               [[build]]\nrun = [\"sh\", \"-c\", \"echo b >> {bin}/steps\"]\nvariants = [\"b\"]\n\
               [[build]]\nrun = [\"sh\", \"-c\", \"echo all >> {bin}/steps\"]\n\
               [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n",
        ..Server::default()
    });
    project.shootout("build").expect(
        1,
        &[
            "go-example (a): example 1.2.3\n",
            "go-example (b): build step 1",
            "exit code 3",
            "\n    no gems here\n",
            "2 variants: 1 ok, 1 failed (go-example (b))",
        ],
    );
    assert_eq!(steps(&project), ["all"]);
}

#[test]
fn setup_installs_all_in_one_go_and_tells_what_only_the_user_can_bring() {
    let project = Project::new();
    // The gem's probe needs the program that another requirement's package brings.
    project.add(&Server {
        name: "a-server",
        more: &(needs("the gem", "pkg-b", "remedy = \"gem install it\"")
            + &needs("a", "pkg-a", "debian = [\"pkg-a\"]")),
        ..Server::default()
    });
    project.add(&Server {
        name: "b-server",
        more: &(needs("a", "pkg-a", "debian = [\"pkg-a\"]")
            + &needs("b", "pkg-b", "debian = [\"pkg-b\"]")),
        ..Server::default()
    });
    let header = needs("the header", "no-such-header", "remedy = \"fetch it\"");
    for name in ["c-server", "d-server"] {
        project.add(&Server {
            name,
            more: &header,
            ..Server::default()
        });
    }
    let path = apt(&project, "pkg-a pkg-b", "");
    let setup = |arguments: &str| {
        let output = project.command(arguments).env("PATH", &path).output();
        crate::support::Done::from(output.unwrap())
    };
    let done = setup("setup --yes");
    done.expect(
        0,
        &[
            "installing pkg-a pkg-b",
            "everything is there that Debian packages bring",
            "not in Debian: the header, for c-server, d-server: `no-such-header` is not installed; \
             remedy: fetch it",
        ],
    );
    assert!(!done.stdout.contains("the gem"), "{}", done.stdout);
    assert_eq!(
        fs::read_to_string(project.path("apt.log")).unwrap(),
        "install -y --no-install-recommends pkg-a pkg-b -o DPkg::Lock::Timeout=600\n"
    );
}

#[test]
fn a_package_that_cannot_be_had_keeps_no_other_away() {
    let project = Project::new();
    for (name, package) in [
        ("a-server", "pkg-a"),
        ("b-server", "pkg-refused"),
        ("c-server", "pkg-unknown"),
        ("d-server", "pkg-d"),
    ] {
        project.add(&Server {
            name,
            more: &needs(package, package, &format!("debian = [\"{package}\"]")),
            ..Server::default()
        });
    }
    let path = apt(&project, "pkg-a pkg-refused pkg-d", "pkg-refused");
    let done = project.command("setup --yes").env("PATH", &path).output();
    crate::support::Done::from(done.unwrap()).expect(
        1,
        &[
            "cannot be installed: pkg-unknown: it is in none of this machine's package lists",
            "cannot be installed: pkg-refused: `apt-get install",
            "E: pkg-refused: unmet dependencies",
            "still missing: pkg-refused, for b-server",
            "still missing: pkg-unknown, for c-server",
        ],
    );
    for (package, there) in [("pkg-a", true), ("pkg-d", true), ("pkg-refused", false)] {
        assert_eq!(
            project.path("path").join(package).exists(),
            there,
            "{package}"
        );
    }
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
        &["the output of the version command (`echo hello`) does not match"],
    );
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
