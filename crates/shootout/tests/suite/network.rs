//! `shootout run --network`: rows over a network that is not loopback. Needs root; says so and passes
//! where it is not permitted.

use crate::support::{Done, Project, SHORT, Server, eventually};
use record::Measurement;
use shootout::network::{Link, parse};
use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use test_servers::skipped;

const ROW: &str = "go-example.default.broadcast.text.1";
const MS: u64 = 1_000_000;
/// What a row says that other programs on this machine have disturbed.
const DISTURBED: &str = "the network was not what was asked for";
/// A row that lasts until it is ended.
const LONG: &str = "run --out out --set clients.first=20 --set clients.add=1 --set load.samples=100000 \
                    --set limits.time=20s";

fn is_permitted() -> bool {
    let made = Link::new(&parse("lan").unwrap(), &[]);
    if let Err(error) = &made {
        skipped(&error.to_string());
    }
    made.is_ok()
}

fn project() -> Project {
    let project = Project::new();
    project.add(&Server::default());
    project
}

/// A run into out/, made again where this machine was too busy for it.
fn over(project: &Project, network: &str) -> (Done, Measurement) {
    for _ in 0..20 {
        let mut command = project.command(SHORT);
        let done = Done::from(command.args(["--network", network]).output().unwrap());
        let is_disturbed = [DISTURBED, "generator-limited"]
            .iter()
            .any(|words| done.stdout.contains(words));
        if !is_disturbed {
            return (done, project.measurement(ROW));
        }
        let _ = std::io::stderr().write_all(done.stdout.as_bytes());
        fs::remove_dir_all(project.path("out")).unwrap();
    }
    panic!("this machine is too busy for a network");
}

#[test]
fn rows_are_as_far_away_as_was_asked_and_never_beside_those_over_loopback() {
    if !is_permitted() {
        return;
    }
    let project = project();
    let (done, row) = over(&project, "delay=20ms loss=1%");
    let words = "(network: 20 ms round trip, 1 % loss each way)";
    done.expect(0, &["network: 20 ms round trip, 1 % loss each way", words]);
    let report = fs::read_to_string(project.path("out/report.md")).unwrap();
    assert!(report.contains(words), "{report}");

    let network = row.network.unwrap();
    assert_eq!(network.asked.delay_ns, 20 * MS);
    let probe = network.probe.unwrap();
    assert!(probe.round_trip.unwrap().min_ns >= 20 * MS - MS / 10);
    assert!(probe.lost > 0 && probe.sent == 1000, "{} lost", probe.lost);
    let sent = network.to_clients.unwrap();
    assert!(sent.packets > 800 && sent.missed == 0, "{sent:?}");
    assert!(network.to_server.unwrap().packets > 20);
    let run = row.run.unwrap();
    assert_eq!(run.steps.len(), 2);
    for step in &run.steps {
        let shortest = step.completion.as_ref().unwrap().min_ns;
        assert!(shortest >= 20 * MS - MS / 10, "{shortest}");
    }
    assert!(run.plan.target.url.contains("10.78.0.1"));

    project
        .shootout("run --resume out --network lan")
        .expect(1, &["cannot resume with other options: --network was"]);
    project
        .shootout(&SHORT.replace("--out out", "--out loopback"))
        .expect(0, &[]);
    project.shootout("compare out loopback").expect(
        3,
        &["20 ms round trip, 1 % loss each way / loopback; measure both over one network"],
    );
}

#[test]
fn what_is_no_network_is_refused_before_anything_is_built() {
    let project = project();
    for (network, said) in [
        ("delay=-1", "is no time; write one like 20ms"),
        ("loss=200%", "is not between 0% and 50%"),
        ("rate=0", "is no rate; write one like 50mbit"),
        ("wam", "did you mean \"wan\"?"),
    ] {
        let done = project
            .command("run --out out")
            .args(["--network", network])
            .output();
        Done::from(done.unwrap()).expect(1, &[said]);
    }
    let mut command = project.command("run --out out --network lan");
    // CAP_SYS_ADMIN in linux/capability.h.
    const SYS_ADMIN: libc::c_ulong = 21;
    // SAFETY: the closure makes one system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            // Where it is refused, this process never had it.
            libc::prctl(libc::PR_CAPBSET_DROP, SYS_ADMIN, 0, 0, 0);
            Ok(())
        });
    }
    Done::from(command.output().unwrap())
        .expect(1, &["--network: cannot make a network", "need root"]);
    assert!(!project.path("out").exists());
}

/// The network namespaces that processes are in or hold, by process.
fn namespaces() -> HashSet<PathBuf> {
    let of = |process: &Path| -> Vec<PathBuf> {
        let own = process.join("ns/net");
        let held = fs::read_dir(process.join("fd"))
            .into_iter()
            .flatten()
            .flatten();
        let links = held.map(|fd| fd.path()).chain([own]);
        let targets = links.filter_map(|link| fs::read_link(link).ok());
        targets
            .filter(|to| to.to_string_lossy().starts_with("net:["))
            .collect()
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes.flat_map(|process| of(&process.path())).collect()
}

/// The namespaces of the processes in whose environment or command the project's folder is.
fn of_project(project: &Project) -> HashSet<PathBuf> {
    let folder = project.path("").display().to_string();
    let processes = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let own = processes.filter(|process| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&folder)
            || fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder))
    });
    own.filter_map(|process| fs::read_link(process.join("ns/net")).ok())
        .collect()
}

fn begin(project: &Project) -> Child {
    let mut command = project.command(LONG);
    command
        .args(["--network", "delay=5ms loss=1%"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // A shell that runs tests in the background has SIGINT ignored, and so would the program have it until
    // it takes the signal over: one that comes before would be lost.
    // SAFETY: plain system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    command.spawn().unwrap()
}

/// Ends a run by a signal once `moment` is there: nothing may be left of it.
fn ended_at(
    signal: libc::c_int,
    (moment, sides): (&str, usize),
    is_there: impl Fn(&Project) -> bool,
) {
    let project = project();
    let here = fs::read_link("/proc/self/ns/net").unwrap();
    let mut child = begin(&project);
    eventually(moment, || is_there(&project));
    let mut made = of_project(&project);
    made.remove(&here);
    assert!(made.len() >= sides, "{moment}: {made:?}");
    // SAFETY: plain system call; the child has not been waited for.
    unsafe { libc::kill(child.id() as i32, signal) };
    eventually("it ends", || child.try_wait().unwrap().is_some());
    eventually("no process is left", || of_project(&project).is_empty());
    let left = namespaces();
    assert!(made.is_disjoint(&left), "{moment}: {made:?}, {left:?}");
    assert!(!Path::new("/sys/class/net/wire").exists());
    // By name there is nothing that could be found: `ip netns` lists this folder.
    let named = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    assert!(
        named
            .into_iter()
            .all(|name| !name.file_name().to_string_lossy().contains("wire"))
    );
}

fn begins(_: &Project) -> bool {
    true
}

fn server_is_there(project: &Project) -> bool {
    // The machine's own, the clients' and the server's.
    of_project(project).len() >= 3
}

fn is_measured(project: &Project) -> bool {
    let log = format!("out/logs/{ROW}.generator.log");
    project.path(&log).exists() && server_is_there(project)
}

#[test]
fn nothing_of_a_network_is_left_however_the_run_ends() {
    if !is_permitted() {
        return;
    }
    for signal in [libc::SIGKILL, libc::SIGINT] {
        ended_at(signal, ("the run begins", 0), begins);
        ended_at(signal, ("a server is there", 2), server_is_there);
        ended_at(signal, ("a row is measured", 2), is_measured);
    }
}
