//! `shootout run`, end to end, with the real load generator: what is written, what is kept, and
//! what is said when rows fail.

use crate::support::{BOTH, CORRECT, Done, Project, SHORT, Server, eventually, interrupt};
use record::{CheckVerdict, Status};
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::time::Duration;

#[test]
fn a_run_writes_valid_measurements_a_ranking_and_a_report() {
    let project = Project::new();
    project.add(&Server {
        dialects: BOTH,
        ..Server::default()
    });
    // Steps that are long enough for the orchestrator to hear of their beginning before their end.
    let longer = SHORT.replace("--set load.samples=10", "--set load.samples=500");
    assert_ne!(longer, SHORT);
    let done = project.shootout(&format!(
        "{longer} --dialects text,binary --repeat 2 --twice go-example"
    ));
    done.expect(
        0,
        &["go-example", "go-example~again", "report.html", "8 rows"],
    );
    let mut cpu_ns = 0;
    for name in [
        "go-example.default.broadcast.text.1",
        "go-example.default.broadcast.binary.2",
        "go-example~again.default.broadcast.text.2",
    ] {
        let measurement = project.measurement(name);
        assert_eq!(measurement.server.name, name.split('.').next().unwrap());
        let during = measurement.busy_during.unwrap();
        assert!((0.0..=1.0).contains(&during), "{during}");
        assert_eq!(measurement.status, Status::Ok);
        assert_eq!(measurement.server.library_version.as_deref(), Some("1.2.3"));
        let conformance = measurement.conformance.unwrap();
        assert!(conformance.passed() && conformance.checks.len() > 10);
        let run = measurement.run.unwrap();
        assert_eq!(run.outcome.carried_clients, Some(40));
        assert_eq!(run.steps.len(), measurement.server_steps.len());
        let steps = measurement.server_steps.iter();
        cpu_ns += steps.map(|step| step.cpu_ns).sum::<u64>();
        for step in &measurement.server_steps {
            assert!(
                step.elapsed_ns > 0 && step.memory.resident_bytes > 0,
                "{step:?}"
            );
        }
        assert!(measurement.idle.unwrap().resident_bytes > 0);
    }
    // Counted in hundredths of a second, of which a row may take less than one.
    assert!(cpu_ns > 0);
    assert!(project.path("out/report.html").is_file() && project.path("out/report.md").is_file());
    let again = project.shootout(SHORT);
    again.expect(1, &["has a run already", "--resume"]);
}

#[test]
fn a_row_that_fails_has_a_status_and_a_reason_and_the_others_complete() {
    let project = Project::new();
    // The second start is the one that is measured: it ends while its clients are served.
    project.add(&Server {
        name: "b-crashing",
        script: &format!(
            "cd \"$(dirname \"$0\")\"; if [ ! -e checked ]; then touch checked; {CORRECT}; fi\n\
             ulimit -c 0; echo out of luck >&2; \
             \"$PROGRAMS/liar-server\" --port $PORT & server=$!\n\
             trap 'kill $server; exit 0' TERM\n\
             while [ \"$(ls /proc/$server/fd | wc -l)\" -lt 25 ]; do sleep 0.02; done\n\
             kill -9 $server; exit 9"
        ),
        ..Server::default()
    });
    project.add(&Server {
        name: "c-lying",
        script: "exec \"$PROGRAMS/liar-server\" --lie delivers-twice --port $PORT",
        ..Server::default()
    });
    project.add(&Server {
        name: "d-leaking",
        script: &format!("(trap '' TERM; exec sleep 7064) & {CORRECT}"),
        ..Server::default()
    });
    project.add(&Server {
        name: "e-unbuildable",
        more: "[[build]]\nrun = [\"sh\", \"-c\", \"echo no rule to make it; exit 2\"]\n",
        ..Server::default()
    });
    project.add(&Server {
        name: "f-missing",
        more: "[[requires]]\nwhat = \"the tool\"\nprobe = [\"no-such-tool-anywhere\"]\n\
               debian = [\"no-such-package\"]\n",
        ..Server::default()
    });
    project.add(&Server {
        name: "g-dead",
        script: "echo cannot bind >&2; exit 1",
        ..Server::default()
    });
    project.add(&Server {
        name: "h-typo",
        more: "[[varient]]\nname = \"x\"\n",
        ..Server::default()
    });
    project.add(&Server {
        name: "i-good",
        ..Server::default()
    });
    let done = project.shootout(SHORT);
    done.expect(
        3,
        &[
            "8 rows",
            "apt-get install -y --no-install-recommends no-such-package",
        ],
    );
    for (name, status, reason) in [
        ("b-crashing", Status::Crashed, "exit code 9"),
        ("c-lying", Status::Nonconforming, "fails "),
        ("d-leaking", Status::Leaked, "(sleep 7064)"),
        ("e-unbuildable", Status::BuildFailed, "build step 1"),
        (
            "f-missing",
            Status::MissingToolchain,
            "remedy: apt-get install -y --no-install-recommends no-such-package",
        ),
        (
            "g-dead",
            Status::StartFailed,
            "the server ended before it was ready: exit code 1",
        ),
        (
            "h-typo",
            Status::BuildFailed,
            "unknown key \"varient\"; did you mean \"variant\"?",
        ),
        ("i-good", Status::Ok, ""),
    ] {
        let measurement = project.measurement(&format!("{name}.default.broadcast.text.1"));
        assert_eq!(
            measurement.status, status,
            "{name}: {:?}",
            measurement.reason
        );
        let told = measurement.reason.unwrap_or_default();
        assert!(told.contains(reason), "{name}: {told}");
        assert!(
            done.stdout.contains(name),
            "{name} is not in:\n{}",
            done.stdout
        );
        match name {
            "b-crashing" => assert!(measurement.log_tail.unwrap().starts_with("out of luck")),
            "c-lying" => assert!(measurement.run.is_none()),
            "e-unbuildable" => {
                assert_eq!(measurement.log_tail.as_deref(), Some("no rule to make it"))
            }
            "g-dead" => assert_eq!(measurement.log_tail.as_deref(), Some("cannot bind")),
            _ => {}
        }
    }
}

#[test]
fn steps_are_those_of_the_manifest_unless_the_user_gives_others() {
    let project = Project::new();
    project.add(&Server {
        more: "[load]\nstep-size = 10\n",
        ..Server::default()
    });
    let steps = |arguments: &str| {
        let done = project.shootout(&format!(
            "run --out out --set load.samples=10 --set limits.time=20s {arguments}"
        ));
        let run = project
            .measurement("go-example.default.broadcast.text.1")
            .run;
        fs::remove_dir_all(project.path("out")).unwrap();
        let clients: Vec<u64> = run.unwrap().steps.iter().map(|step| step.clients).collect();
        (done, clients)
    };
    let (done, clients) = steps("--quick --workload broadcast");
    done.expect(
        0,
        &["other steps, as the manifest says: 10 to 50 clients by 10: go-example"],
    );
    assert_eq!(clients, [10, 20, 30, 40, 50]);
    let (done, clients) = steps("--set clients.count=2 --set clients.first=7 --set clients.add=3");
    assert!(!done.stderr.contains("other steps"), "{}", done.stderr);
    assert_eq!(clients, [7, 10]);
}

#[test]
fn a_variant_without_its_toolchain_is_a_row_and_the_others_are_measured() {
    let project = Project::new();
    project.add(&Server {
        more: "[[requires]]\nwhat = \"the gem\"\nprobe = [\"no-such-gem\"]\n\
               remedy = \"gem install it\"\nvariants = [\"b\"]\n\
               [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
               [[variant]]\nname = \"c\"\nversion = { command = [\"echo\", \"v9\"], matches = 'v(.)' }\n",
        ..Server::default()
    });
    project
        .shootout(&format!("{SHORT} --yes"))
        .expect(0, &["missing-toolchain", "gem install it", "report.html"]);
    let of = |variant: &str| project.measurement(&format!("go-example.{variant}.broadcast.text.1"));
    assert_eq!(of("a").status, Status::Ok);
    assert_eq!(of("a").server.library_version.as_deref(), Some("1.2.3"));
    assert_eq!(of("b").status, Status::MissingToolchain);
    assert_eq!(
        of("b").reason.unwrap(),
        "the gem is missing (`no-such-gem` is not installed); remedy: gem install it"
    );
    assert_eq!(of("c").server.library_version.as_deref(), Some("9"));
    assert_eq!(of("c").server.runtime, None);
    fs::remove_dir_all(project.path("out")).unwrap();
    project
        .shootout(&format!("{SHORT} --yes --servers go-example"))
        .expect(3, &["missing-toolchain"]);
}

#[test]
fn an_interrupted_run_keeps_what_it_has_and_resume_does_the_rest() {
    let project = Project::new();
    for name in ["a-first", "b-second", "c-third"] {
        project.add(&Server {
            name,
            ..Server::default()
        });
    }
    let mut child = project.spawn(
        "run --out out --set clients.first=20 --set clients.add=5 --set clients.count=20 --set load.samples=400 \
         --set limits.time=20s",
    );
    eventually("the second row is being measured", || {
        project
            .path("out/logs/b-second.default.broadcast.text.1.generator.log")
            .exists()
    });
    interrupt(&child);
    eventually("it ends", || child.try_wait().unwrap().is_some());
    let done = Done::from(child.wait_with_output().unwrap());
    done.expect(
        130,
        &[
            "interrupted, 2 of 3 rows are left",
            "shootout run --resume out",
            "report.html",
        ],
    );
    let first = project.measurement("a-first.default.broadcast.text.1");
    assert_eq!(first.status, Status::Ok);
    let second = project.measurement("b-second.default.broadcast.text.1");
    assert_eq!(second.status, Status::Interrupted);

    project
        .shootout("run --resume out --set load.in_flight=9")
        .expect(1, &["load.closed.in_flight was 4, now 9"]);
    project
        .shootout("run --resume out")
        .expect(0, &["a-first broadcast text: kept"]);
    assert_eq!(
        project
            .measurement("a-first.default.broadcast.text.1")
            .started,
        first.started
    );
    for name in ["b-second", "c-third"] {
        let measurement = project.measurement(&format!("{name}.default.broadcast.text.1"));
        assert_eq!(measurement.status, Status::Ok, "{name}");
    }
}

// timed: each round is one more interrupt: two that fall together are one, and the next makes two.
#[test]
fn the_second_interrupt_ends_everything_at_once() {
    let project = Project::new();
    project.add(&Server {
        // It would take its time after TERM.
        script: "trap '' TERM; \"$PROGRAMS/liar-server\" --port $PORT & exec sleep 7066",
        grace: "60s",
        ..Server::default()
    });
    let mut child = project.spawn("run --out out --set clients.first=20 --set clients.add=1");
    eventually("the server is there", || {
        crate::support::running("sleep\x007066") > 0
    });
    eventually("it ends", || {
        std::thread::sleep(Duration::from_millis(300));
        let ended = child.try_wait().unwrap().is_some();
        if !ended {
            interrupt(&child);
        }
        ended
    });
    Done::from(child.wait_with_output().unwrap()).expect(130, &["Ctrl-C again"]);
    eventually("nothing is left", || {
        crate::support::running("sleep\x007066") == 0
    });
}

#[test]
fn a_killed_orchestrator_leaves_no_server() {
    let project = Project::new();
    project.add(&Server {
        script: &format!("sleep 7065 & {CORRECT}"),
        ..Server::default()
    });
    let mut child = project.spawn(SHORT);
    eventually("the server is there", || {
        crate::support::running("sleep\x007065") > 0
    });
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("nothing is left", || {
        crate::support::running("sleep\x007065") == 0
    });
    assert_eq!(
        crate::support::running(&project.path("servers").to_string_lossy()),
        0
    );
}

/// The one child of a process.
fn child_of(parent: i32) -> i32 {
    let children: Vec<i32> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            // After the name, in brackets: the state, then the parent.
            let of: i32 = stat.rsplit(')').next()?.split(' ').nth(2)?.parse().ok()?;
            (of == parent).then_some(entry.file_name().to_str()?.parse().ok()?)
        })
        .collect();
    assert_eq!(children.len(), 1, "{children:?}");
    children[0]
}

/// Starts a run whose server leaves a process that has its own session, another parent and no
/// environment; kills what `kill` says; then nothing is left. Each test sleeps for its own time, by
/// which its processes are known.
#[track_caller]
fn assert_nothing_survives(seconds: &str, kill: fn(i32)) {
    let project = Project::new();
    project.add(&Server {
        script: &format!(
            "setsid env -i sh -c 'setsid sleep {seconds} & exec sleep {seconds}' & {CORRECT}"
        ),
        ..Server::default()
    });
    let mut command = project.command(SHORT);
    let mut child = command.process_group(0).spawn().unwrap();
    let sleeping = format!("sleep\0{seconds}");
    eventually("the strays are there", || {
        crate::support::running(&sleeping) == 2
    });
    kill(child.id() as i32);
    eventually("it ends", || child.try_wait().unwrap().is_some());
    eventually("no stray is left", || {
        crate::support::running(&sleeping) == 0
    });
    let servers = project.path("servers").to_string_lossy().into_owned();
    eventually("no server is left", || {
        crate::support::running(&servers) == 0
    });
}

fn send_kill(pid: i32) {
    // SAFETY: plain system call on a process, or group, that this test has started.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
}

#[test]
fn nothing_survives_a_kill_of_the_program() {
    assert_nothing_survives("7141", send_kill);
}

#[test]
fn nothing_survives_a_kill_of_the_process_that_works() {
    assert_nothing_survives("7142", |program| send_kill(child_of(child_of(program))));
}

#[test]
fn nothing_survives_a_kill_of_the_whole_process_group() {
    assert_nothing_survives("7143", |program| send_kill(-program));
}

#[test]
fn a_directory_that_is_being_written_to_is_refused() {
    let project = Project::new();
    project.add(&Server::default());
    let mut child = project.spawn("run --out out --set clients.first=20 --set clients.add=1");
    eventually("it is being written to", || {
        project.path("out/session.json").exists()
    });
    let holder = fs::read_to_string(project.path("out/.lock")).unwrap();
    let said = format!("another run (process {}) is measuring", holder.trim());
    project.shootout("run --resume out").expect(1, &[&said]);
    fs::remove_file(project.path("out/session.json")).unwrap();
    project.shootout("run --out out").expect(1, &[&said]);
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("its lock is gone", || {
        let done = project.shootout(SHORT);
        done.code == Some(0)
    });
}

#[test]
fn rows_of_other_sources_another_generator_or_kernel_are_not_gone_on_with() {
    let project = Project::new();
    for name in ["a-first", "b-second"] {
        project.add(&Server {
            name,
            ..Server::default()
        });
    }
    project.shootout(SHORT).expect(0, &[]);
    let second = project.path("out/b-second.default.broadcast.text.1.json");
    fs::remove_file(&second).unwrap();
    // Of the row that is to be measured again nothing is kept that its sources could differ from.
    fs::write(project.path("servers/b-second/more.txt"), "new").unwrap();
    project
        .shootout("run --resume out")
        .expect(0, &["a-first broadcast text: kept"]);

    fs::write(project.path("servers/a-first/more.txt"), "new").unwrap();
    project.shootout("run --resume out").expect(
        1,
        &[
            "the sources of a-first have changed",
            "a-first.default.broadcast.text.1.json",
            "start a new run",
        ],
    );
    fs::remove_file(project.path("servers/a-first/more.txt")).unwrap();

    let session = project.path("out/session.json");
    let text = fs::read_to_string(&session).unwrap();
    let mut changed: serde_json::Value = serde_json::from_str(&text).unwrap();
    changed["origin"]["kernel"] = "Linux 1.2.13".into();
    changed["origin"]["generator"] = "0".into();
    changed["origin"]["tool"] = "0.0.9".into();
    fs::write(&session, changed.to_string()).unwrap();
    project.shootout("run --resume out").expect(
        1,
        &[
            "shootout was 0.0.9",
            "the load generator is another build",
            "the kernel was Linux 1.2.13",
        ],
    );
    changed.as_object_mut().unwrap().remove("origin");
    fs::write(&session, changed.to_string()).unwrap();
    project.shootout("run --resume out").expect(0, &["kept"]);
}

#[test]
fn a_waived_check_does_not_forbid_a_number() {
    let project = Project::new();
    let lying = Server {
        script: "exec \"$PROGRAMS/liar-server\" --lie closes-with1000 --port $PORT",
        ..Server::default()
    };
    project.add(&lying);
    let told = project.shootout("verify go-example");
    told.expect(1, &["FAIL", "expected: ", "observed: ", "RFC 6455, 5.5.1"]);
    let failed: Vec<&str> = told
        .stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("FAIL ")?.split(' ').next())
        .collect();
    let waivers: String = failed
        .iter()
        .map(|id| format!("[[waiver]]\ncheck = \"{id}\"\nreason = \"it lies\"\nlink = \"https://example.org/1\"\n"))
        .collect();
    project.add(&Server {
        more: &waivers,
        ..lying
    });
    project
        .shootout("verify go-example")
        .expect(0, &["[1] waived: ", "it lies <https://example.org/1>"]);
    project.shootout(SHORT).expect(0, &[]);
    let measurement = project.measurement("go-example.default.broadcast.text.1");
    let checks = measurement.conformance.unwrap().checks;
    assert!(
        checks
            .iter()
            .any(|check| check.verdict == CheckVerdict::Waived)
    );
    assert_eq!(measurement.status, Status::Ok);
}

/// The table must say the same, whether the check passes or fails this time.
#[test]
fn a_check_that_fails_sometimes_is_waived_also_when_it_passes() {
    let project = Project::new();
    let waiver = "[[waiver]]\ncheck = \"rfc6455-5.5.2-ping\"\nreason = \"at times\"\n";
    for (sometimes, said) in [("", " passed, "), ("sometimes = true\n", "1 waived, ")] {
        project.add(&Server {
            script: "exec \"$PROGRAMS/liar-server\" --lie none --port $PORT",
            more: &format!("{waiver}{sometimes}"),
            ..Server::default()
        });
        let done = project.shootout("verify go-example");
        done.expect(0, &[said]);
        let is_waived = done.stdout.contains("1 waived");
        assert_eq!(is_waived, !sometimes.is_empty(), "{}", done.stdout);
    }
}

#[test]
fn what_cannot_work_is_said_before_anything_is_measured() {
    let project = Project::new();
    project.add(&Server::default());
    for (arguments, said) in [
        (
            "run --servers go-exmaple",
            "no server \"go-exmaple\"; did you mean \"go-example\"?",
        ),
        (
            "run --variants clustered",
            "no selected server has a variant \"clustered\"",
        ),
        (
            "run --out /proc/nowhere",
            "/proc/nowhere: cannot write the results there",
        ),
        ("run --server-cpus 4000", "core 4000 is not allowed"),
        (
            "run --set clients.first=9000000",
            "fewer than the 9000000 of the first step",
        ),
        (
            "run --workload all --repeat 1000 --via none",
            "records into one directory, and the report, check and site read 5000 at most",
        ),
        ("run --resume", "nothing to resume"),
        ("run --set limits.time=never", "--set limits.time=never"),
        (
            "run --generator /nowhere/bench",
            "the load generator is missing",
        ),
    ] {
        project.shootout(arguments).expect(1, &[said]);
    }
    assert!(fs::read_dir(project.path("results/local")).is_err());
}
