//! `shootout run` of servers of several nodes, with faults that end, freeze and cut off their parts, end
//! to end with the real load generator.

use crate::proxies;
use crate::support::{Done, Project, Server, eventually, interrupt, running};
use record::{Claim, Measurement, Status};
use std::fs;
use std::process::Child;
use std::time::Duration;

/// A server of two nodes and a broker. Their programs have the project's folder in their names, so that a
/// test finds them. `$3` is the port of the broker, `$4` the number of the node.
fn nodes(script: &str) -> Project {
    let project = Project::new();
    let program = project.path("bin/cluster-server");
    let target = crate::support::programs().join("cluster-server");
    std::os::unix::fs::symlink(target, &program).unwrap();
    let program = program.display();
    project.add(&Server {
        script: &format!("{script}\nexec {program} node --address $HOST --port $PORT --broker $3"),
        more: &format!(
            r#"
[[variant]]
name = "nodes"
args = ["{{service:hub}}", "{{node}}"]
nodes = 2
claim = "at-most-once"

[[service]]
name = "hub"
command = ["{program}", "broker", "--address", "{{host}}", "--port", "{{service:hub}}"]
broker = true
"#
        ),
        ..Server::default()
    });
    project
}

/// A plan that publishes for so long and waits for so long for each message, with these faults: when,
/// what and to what.
fn plan(project: &Project, name: &str, time: (&str, &str), faults: &[(&str, &str, &str)]) {
    let (duration, patience) = time;
    let faults: String = faults
        .iter()
        .map(|(at, deed, what)| {
            format!("[[fault]]\nat = \"{at}\"\ndo = \"{deed}\"\nwhat = \"{what}\"\n")
        })
        .collect();
    let text = format!(
        "name = \"{name}\"\nreason = \"A fault.\"\naudience = \"everyone\"\n\
         [[populations]]\nshare = 1\n\
         reconnect = {{ first = \"100ms\", factor = 2.0, most = \"500ms\", jitter = 0.5 }}\n\
         [clients.steps]\nfirst = 20\ncount = 1\n\
         [load.watch]\nrate = 20.0\nduration = \"{duration}\"\npatience = \"{patience}\"\n{faults}"
    );
    fs::write(project.path(&format!("{name}.toml")), text).unwrap();
}

/// Runs a plan; once more where a fault came late, which a busy machine does.
fn measured(project: &Project, name: &str) -> Measurement {
    measured_as(project, "nodes", name)
}

/// The same for a row of this variant.
fn measured_as(project: &Project, variant: &str, name: &str) -> Measurement {
    for _ in 0..20 {
        let _ = fs::remove_dir_all(project.path("out"));
        project.shootout(&format!("run --out out --workload ./{name}.toml"));
        let measurement = project.measurement(&format!("go-example.{variant}.{name}.text.1"));
        let reason = measurement.reason.as_deref().unwrap_or_default();
        if !reason.ends_with(" ms late") && measurement.status != Status::GeneratorLimited {
            return measurement;
        }
    }
    panic!("the machine was never on time");
}

/// Nothing of the project's programs runs any more.
#[track_caller]
fn leaves_nothing(project: &Project) {
    let folder = project.path("bin").display().to_string();
    eventually("nothing is left", || running(&folder) == 0);
}

#[test]
fn a_node_dies_and_comes_back_at_the_times_of_the_plan() {
    let project = nodes("");
    let faults = [("2s", "kill", "node:2"), ("4s", "start", "node:2")];
    plan(&project, "killed", ("8s", "2s"), &faults);
    let measurement = measured(&project, "killed");
    assert_eq!(measurement.status, Status::Ok, "{:?}", measurement.reason);
    assert_eq!(measurement.nodes, Some(2));
    assert_eq!(measurement.claim, Some(Claim::AtMostOnce));
    assert_eq!(measurement.pinning, None);
    let [kill, start] = measurement.faults.as_slice() else {
        panic!("{:?}", measurement.faults)
    };
    for (fault, due_ns) in [(kill, 2_000_000_000), (start, 4_000_000_000)] {
        assert_eq!((fault.due_ns, &fault.failure), (due_ns, &None));
        assert!(fault.began_ns.unwrap() >= due_ns && fault.ended_ns >= fault.began_ns);
    }
    assert!(kill.ended_ns.unwrap() < start.began_ns.unwrap());
    let run = measurement.run.unwrap();
    assert!(run.steps[0].drops.is_some());
    assert_eq!(measurement.server_steps.len(), run.steps.len());
    assert_eq!(run.plan.target.nodes.len(), 2);
    assert_eq!(run.plan.faults.len(), 2);
    let watched = run.steps[0].watched.as_ref().unwrap();
    // Ten clients lost their connections and were away for a moment.
    assert!(
        watched.of_confirmed.lost_away + watched.of_confirmed.lost_cut > 0,
        "{watched:?}"
    );
    assert!(
        watched.bystanders > 0 && watched.bystanders <= 10,
        "{watched:?}"
    );
    leaves_nothing(&project);
}

#[test]
fn a_proxy_chooses_the_node_and_fails_as_the_plan_says() {
    let project = nodes("");
    proxies::add(&project, "relay", 10_000, "");
    let faults = [
        ("2s", "reload", "proxy"),
        ("4s", "kill", "proxy"),
        ("5s", "start", "proxy"),
    ];
    plan(&project, "reloaded", ("8s", "2s"), &faults);
    let file = project.path("reloaded.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("via = [\"relay\"]\n{text}")).unwrap();
    let measurement = measured_as(&project, "nodes-via-relay", "reloaded");
    assert_eq!(measurement.status, Status::Ok, "{:?}", measurement.reason);
    for fault in &measurement.faults {
        assert_eq!(fault.failure, None);
        assert!(fault.ended_ns.is_some());
    }
    let log = project.path("out/logs/go-example.nodes-via-relay.reloaded.text.1.server.relay.log");
    let log = fs::read_to_string(log).unwrap();
    let mut chosen: Vec<&str> = log.lines().filter(|l| l.starts_with("to ")).collect();
    chosen.sort_unstable();
    chosen.dedup();
    assert_eq!(chosen.len(), 2, "{log}");
    let run = measurement.run.unwrap();
    assert_eq!(run.plan.target.nodes, []);
    // Every connection ended, each time.
    let step = &run.steps[0];
    assert_eq!(step.watched.as_ref().unwrap().bystanders, 0);
    assert_eq!(step.drops.as_ref().unwrap().count(), 40);
    leaves_nothing(&project);

    let straight = project.shootout("run --out other --workload ./reloaded.toml --via none");
    let why = "no proxy stands before it, and a fault of this workload is of the proxy";
    straight.expect(1, &[why]);
    let manifest = project.path("proxies/relay/proxy.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("reload = ", "# ")).unwrap();
    let deaf = project.shootout("run --out other --workload ./reloaded.toml");
    deaf.expect(1, &["the manifest of relay has no command that reloads it"]);
}

/// A link that this is done to at 2 s loses nothing; the longest time of a message that crosses it.
fn slowest_across(deed: &str, healed_at: &str) -> Duration {
    let project = nodes("");
    let faults = [("2s", deed, "link:2"), (healed_at, "heal", "link:2")];
    plan(&project, "linked", ("6s", "20s"), &faults);
    let measurement = measured(&project, "linked");
    assert_eq!(measurement.status, Status::Ok, "{:?}", measurement.reason);
    let run = measurement.run.unwrap();
    let watched = run.steps[0].watched.as_ref().unwrap();
    assert_eq!(watched.bystanders, 20, "{watched:?}");
    assert_eq!(watched.of_confirmed.lost(), 0, "{watched:?}");
    leaves_nothing(&project);
    Duration::from_nanos(watched.cross_node.as_ref().unwrap().max_ns)
}

#[test]
fn what_a_cut_link_holds_comes_when_it_is_healed() {
    // Messages across the link waited for most of a second.
    assert!(slowest_across("cut", "3s") > Duration::from_millis(500));
}

#[test]
fn a_slow_link_keeps_back_what_crosses_it_and_nothing_is_lost() {
    assert!(slowest_across("slow", "4s") >= Duration::from_millis(200));
}

#[test]
fn a_node_that_ends_by_itself_is_a_crash_whatever_faults_there_are() {
    let project = nodes(
        "log=$(dirname $0)/../../out/logs/go-example.nodes.crashing.text.1.generator.log\n\
         [ $4 = 1 ] && (until [ -e $log ]; do sleep 0.1; done; sleep 2; kill -9 $$) &",
    );
    plan(
        &project,
        "crashing",
        ("5m", "2s"),
        &[("1s", "kill", "node:2")],
    );
    let _ = fs::remove_dir_all(project.path("out"));
    project.shootout("run --out out --workload ./crashing.toml");
    let measurement = project.measurement("go-example.nodes.crashing.text.1");
    assert_eq!(
        measurement.status,
        Status::Crashed,
        "{:?}",
        measurement.reason
    );
    let reason = measurement.reason.unwrap();
    assert!(
        reason.starts_with("node 1 ended by itself: signal 9 (SIGKILL)"),
        "{reason}"
    );
    leaves_nothing(&project);
}

#[test]
fn a_fault_that_cannot_happen_makes_the_row_invalid() {
    let project = nodes("");
    plan(
        &project,
        "doubled",
        ("4s", "1s"),
        &[("1s", "start", "node:2")],
    );
    let measurement = measured(&project, "doubled");
    assert_eq!(measurement.status, Status::FaultFailed);
    assert_eq!(
        measurement.reason.as_deref(),
        Some(
            "the fault \"start node:2\", due at 1.0 s, did not happen as planned: node 2 was running"
        )
    );
    leaves_nothing(&project);
}

/// A run of which a node and the broker are frozen.
fn frozen(project: &Project) -> Child {
    let faults = [("500ms", "freeze", "node:2"), ("500ms", "freeze", "broker")];
    plan(project, "frozen", ("10m", "1s"), &faults);
    let child = project.spawn("run --out out --workload ./frozen.toml");
    let program = project.path("bin/cluster-server").display().to_string();
    eventually("they stand still", || stopped(&program) == 2);
    child
}

/// Processes with this in their command line that stand still.
fn stopped(word: &str) -> usize {
    let of_process = |entry: fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let state = stat.rsplit(')').next()?.trim_start().chars().next()?;
        (state == 'T' && String::from_utf8_lossy(&line).contains(word)).then_some(())
    };
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    all.filter_map(of_process).count()
}

#[test]
fn an_interrupt_ends_frozen_parts_too() {
    let project = nodes("");
    let mut child = frozen(&project);
    interrupt(&child);
    eventually("it ends", || child.try_wait().unwrap().is_some());
    let done = Done::from(child.wait_with_output().unwrap());
    done.expect(130, &[]);
    let measurement = project.measurement("go-example.nodes.frozen.text.1");
    assert_eq!(measurement.status, Status::Interrupted);
    leaves_nothing(&project);
}

#[test]
fn a_death_in_the_middle_of_a_fault_leaves_nothing() {
    let project = nodes("");
    let mut child = frozen(&project);
    child.kill().unwrap();
    child.wait().unwrap();
    leaves_nothing(&project);
}
