//! `shootout verify`: what it says of servers, several at the same time, and the tables it writes.

use crate::support::{BOTH, CORRECT, Project, Server};
use std::fs;

#[test]
fn verify_knows_the_honest_from_the_liars() {
    let project = Project::new();
    let variant = |name: &str, env: &str| {
        format!(
            "[[variant]]\nname = \"{name}\"\ncommand = [\"{}\", \"--lie\", \"{name}\", \"--port\", \"{{port}}\"]\n{env}",
            crate::support::programs().join("liar-server").display()
        )
    };
    // The C library's own values. With those of scripts/run-test it would keep what is freed, and what a
    // server hoards in that does not show.
    let returns_memory =
        r#"env = { MALLOC_MMAP_THRESHOLD_ = "131072", MALLOC_TRIM_THRESHOLD_ = "131072" }"#;
    project.add(&Server {
        more: &[
            variant("none", ""),
            variant("answers-pongs", ""),
            variant("keeps-fragments", returns_memory),
        ]
        .concat(),
        dialects: BOTH,
        ..Server::default()
    });
    project
        .shootout("verify go-example --variants none")
        .expect(0, &["go-example (none): ", " passed"]);
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
    // Its memory is that of a real process.
    project
        .shootout("verify go-example --variants keeps-fragments")
        .expect(
            1,
            &[
                "FAIL protocol-endless-fragments (protocol, Limits",
                "observed: the server's memory grew from ",
                "1 failed",
            ],
        );
    project
        .shootout("verify --variants nine")
        .expect(1, &["no selected server has a variant \"nine\""]);
}

#[test]
fn one_variant_of_each_server_is_drawn() {
    let project = Project::new();
    for name in ["a-server", "b-server"] {
        project.add(&Server {
            name,
            more: "[[variant]]\nname = \"none\"\n[[variant]]\nname = \"other\"\n",
            ..Server::default()
        });
    }
    let done = project.shootout("verify --one-each");
    done.expect(0, &["2 variants: 2 ok"]);
    for name in ["a-server", "b-server"] {
        let of_server = |line: &&str| line.starts_with(name) && line.contains(" passed, ");
        let told = done.stdout.lines().filter(of_server).count();
        assert_eq!(told, 1, "{}", done.stdout);
    }
    project
        .shootout("verify --one-each --variants none")
        .expect(1, &["--one-each", "cannot be used with", "--variants"]);
}

#[test]
fn named_servers_are_verified_first_and_others_while_there_is_time() {
    let project = Project::new();
    for name in ["a-server", "b-server"] {
        project.add(&Server {
            name,
            ..Server::default()
        });
    }
    add_foreign(&project, "c-server");
    let done = project.shootout("verify --within 1h b-server");
    done.expect(
        0,
        &["3 variants: 2 ok, 1 without what they need (c-server)"],
    );
    let at = |name: &str| done.stdout.find(&format!("{name}: ")).unwrap();
    assert!(at("b-server") < at("a-server"), "{}", done.stdout);
    assert!(!done.stdout.contains("not begun"), "{}", done.stdout);
    let done = project.shootout("verify --within 0s b-server");
    done.expect(0, &["b-server: "]);
    let told = done.stdout.lines().last().unwrap();
    let (said, names) = told.split_once(": ").unwrap();
    assert_eq!(said, "not begun within 0s");
    let mut names: Vec<&str> = names.split(", ").collect();
    names.sort_unstable();
    assert_eq!(names, ["a-server", "c-server"]);
    project
        .shootout("verify --within 1h d-server")
        .expect(1, &["d-server"]);
}

/// A server that cannot be built here, which fails only those who name it.
fn add_foreign(project: &Project, name: &str) {
    project.add(&Server {
        name,
        more: "[[requires]]\nwhat = \"the gem\"\nprobe = [\"no-such-program\"]\n\
               remedy = \"fetch it\"\n",
        ..Server::default()
    });
}

#[test]
fn one_command_writes_the_tables_and_a_new_folder_is_no_drift() {
    let project = Project::new();
    fs::create_dir(project.path("docs")).unwrap();
    let marks = "<!-- servers: made by `shootout verify --write-table` from the manifests -->\n\
                 <!-- end of servers -->\n";
    fs::write(project.path("servers/README.md"), marks).unwrap();
    add_foreign(&project, "go-example");
    project
        .shootout("verify --write-table")
        .expect(0, &["docs/conformance.md\n", "servers/README.md\n"]);
    let page = fs::read_to_string(project.path("servers/README.md")).unwrap();
    assert!(
        page.contains("| [go-example](go-example) \\* | Shell |"),
        "{page}"
    );

    add_foreign(&project, "js-example");
    let checked = project.shootout("verify --check-table");
    checked.expect(
        0,
        &[
            "NEW js-example: not in the tables yet; write it there with: \
           shootout verify --write-table js-example\n",
        ],
    );
    assert!(!checked.stdout.contains("DRIFT"), "{}", checked.stdout);
    project.shootout("verify --write-table").expect(0, &[]);
    fs::remove_dir_all(project.path("servers/go-example")).unwrap();
    project.shootout("verify --check-table").expect(
        1,
        &[
            "DRIFT go-example: servers/README.md has a line of no server\n",
            "bring the tables up to date with: shootout verify --write-table\n",
        ],
    );
}

/// Servers that wait, before they serve, until so many have been started.
fn add_gathering(project: &Project, names: &[&str], at_once: usize) {
    let script = format!(
        "touch {dir}/$$; while [ $(ls {dir} | wc -l) -lt {at_once} ]; do sleep 0.02; done; \
         exec \"$PROGRAMS/liar-server\" --lie answers-pongs --port $PORT",
        dir = project.path("started").display()
    );
    fs::create_dir(project.path("started")).unwrap();
    for name in names {
        project.add(&Server {
            name,
            script: &script,
            ready: "40s",
            ..Server::default()
        });
    }
}

#[test]
fn variants_are_verified_side_by_side_and_told_whole_and_in_order() {
    let project = Project::new();
    let names = ["a-server", "b-server", "c-server"];
    // None of them begins to serve before all three have been started.
    add_gathering(&project, &names, names.len());
    let done = project.shootout("verify --jobs 3");
    done.expect(
        1,
        &["3 variants: 0 ok, 3 failed (a-server, b-server, c-server)"],
    );
    // A log shows which rows are under way, and how many there are.
    for (name, number) in names.into_iter().zip(1..) {
        let building = format!("{name}: building ({number} of 3)\n");
        assert!(done.stderr.contains(&building), "{}", done.stderr);
        assert!(
            done.stderr.contains(&format!("{name}: verifying (")),
            "{}",
            done.stderr
        );
        assert!(
            done.stderr
                .contains(&format!(": verifying ({number} of 3)\n")),
            "{}",
            done.stderr
        );
    }
    let heads: Vec<&str> = done
        .stdout
        .lines()
        .filter(|line| !line.starts_with("       "))
        .map(|line| line.split([':', '(']).next().unwrap().trim())
        .collect();
    let fail = "FAIL rfc6455-5.5.3-unsolicited-pong";
    let of = |name| [name, fail, name];
    let mut expected: Vec<&str> = names.into_iter().flat_map(of).collect();
    expected.push("3 variants");
    assert_eq!(heads, expected, "{}", done.stdout);
}

#[test]
fn a_row_whose_wait_ran_out_beside_others_is_verified_again_alone() {
    const CHECK: &str = "rfc6455-5.4-interleaved-message";
    let project = Project::new();
    let marks = project.path("started");
    fs::create_dir(&marks).unwrap();
    let always = "lie=skips-interleaved";
    // What it does wrong at its first start it does right at its second.
    let at_first = format!(
        "lie=none; [ -e {mark} ] || lie=skips-interleaved; touch {mark}",
        mark = marks.join("once").display()
    );
    for (name, lie) in [("a-slow", at_first.as_str()), ("b-liar", always)] {
        project.add(&Server {
            name,
            script: &format!("{lie}; exec \"$PROGRAMS/liar-server\" --lie $lie --port $PORT"),
            dialects: BOTH,
            ..Server::default()
        });
    }
    let done = project.shootout("verify --jobs 2");
    done.expect(1, &["2 variants: 1 ok, 1 failed (b-liar)"]);
    let count = |words: &str| done.stdout.matches(words).count();
    assert_eq!(count("verified again at the end, alone"), 2);
    for name in ["a-slow", "b-liar"] {
        let line = format!("{name}: verifying again\n");
        assert!(done.stderr.contains(&line), "{}", done.stderr);
    }
    // In either dialect.
    assert_eq!(count(&format!("LATE {CHECK} ")), 4, "{}", done.stdout);
    assert_eq!(count(&format!("FAIL {CHECK} ")), 2, "{}", done.stdout);
}

#[test]
fn a_server_that_was_not_ready_in_time_beside_others_is_started_again_alone() {
    let project = Project::new();
    let mark = project.path("once");
    let script = format!(
        "[ -e {mark} ] || {{ touch {mark}; exec sleep 600; }}; {CORRECT}",
        mark = mark.display()
    );
    // timed: the second start has nothing beside it but other tests, and an answer takes it milliseconds.
    let at_first = Server {
        name: "a-slow",
        script: &script,
        ready: "15s",
        ..Server::default()
    };
    let never = Server {
        name: "b-never",
        script: "exec sleep 600",
        ready: "1s",
        ..Server::default()
    };
    project.add(&at_first).add(&never);
    let done = project.shootout("verify --jobs 2");
    done.expect(1, &["2 variants: 1 ok, 1 failed (b-never)"]);
    let late = done.stdout.matches("verified again at the end, alone");
    assert_eq!(late.count(), 2, "{}", done.stdout);
}

#[test]
fn a_server_that_did_not_end_in_time_beside_others_is_verified_again_alone() {
    let project = Project::new();
    let mark = project.path("once");
    let script = format!(
        "[ -e {mark} ] && {CORRECT}; touch {mark}; trap '' TERM; \"$PROGRAMS/liar-server\" --port $PORT & \
         exec sleep 7067",
        mark = mark.display()
    );
    let leaves = "(trap '' TERM; exec sleep 7068) & exec \"$PROGRAMS/liar-server\" --port $PORT";
    for (name, script) in [("a-late", script.as_str()), ("b-leaves", leaves)] {
        project.add(&Server {
            name,
            script,
            ..Server::default()
        });
    }
    let done = project.shootout("verify --jobs 2");
    done.expect(1, &["2 variants: 1 ok, 1 failed (b-leaves)"]);
    let again = done.stdout.matches("verified again at the end, alone");
    assert_eq!(again.count(), 1, "{}", done.stdout);
}

#[test]
fn an_interrupt_ends_all_that_are_verified_side_by_side() {
    let project = Project::new();
    let names = ["a-server", "b-server", "c-server"];
    // Four never come: all wait.
    add_gathering(&project, &names, names.len() + 1);
    let mark = project.path("servers").display().to_string();
    let child = project.spawn("verify --jobs 3");
    let started = || fs::read_dir(project.path("started")).unwrap().count();
    crate::support::eventually("three servers run", || started() == names.len());
    crate::support::interrupt(&child);
    let done = crate::support::Done::from(child.wait_with_output().unwrap());
    done.expect(130, &[]);
    assert_eq!(crate::support::running(&mark), 0);
}
