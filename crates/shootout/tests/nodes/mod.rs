//! Servers of several nodes: from the start to what faults do to their parts.

use super::*;
use conformance::{Target, formed};
use plan::{FaultDeed, FaultPart};
use shootout::supervise::{DeedError, UnderWay};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

const NODE: FaultPart = FaultPart::Node(2);

/// A broker and two nodes, each under a shell that stays.
fn cluster() -> Fixture {
    let program = support::programs().join("cluster-server");
    let program = program.display();
    let mut fixture = script(&format!(
        "echo {{node}} {{node-ports}} >> nodes; {program} node --port {{port}} --broker {{service:hub}}; \
         exit $?"
    ));
    fixture.variant.nodes = Some(2);
    fixture.variant.workloads = vec![Workload::Echo, Workload::Broadcast];
    let command = format!("exec {program} broker --port {{service:hub}}");
    let mut broker = service("hub", &command);
    broker.broker = true;
    fixture.variant.services = vec![broker];
    fixture
}

fn has_formed(server: &Server) -> bool {
    let target = |address: &SocketAddr| Target {
        timeout: Duration::from_millis(500),
        ..Target::new(*address)
    };
    let targets: Vec<Target> = server.addresses().iter().map(target).collect();
    // What was sent by an earlier attempt may come late.
    static ATTEMPT: AtomicU64 = AtomicU64::new(1000);
    let attempt = ATTEMPT.fetch_add(1, Ordering::Relaxed);
    targets.len() == 2 && formed(&targets, attempt).is_ok()
}

fn done(server: &mut Server, mut under_way: UnderWay) -> Result<(), DeedError> {
    loop {
        if let Some(result) = under_way.look(server) {
            return result;
        }
        // timed: polls; the supervisor bounds the time of a deed.
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn act(server: &mut Server, deed: FaultDeed, what: FaultPart) -> Result<(), String> {
    let begun = server.begin(deed, what);
    begun
        .and_then(|under_way| done(server, under_way))
        .map_err(|error| error.to_string())
}

/// The state of a process as its kernel tells it.
fn state(pid: u32) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = stat.rsplit(')').next().unwrap().trim_start();
    rest.chars().next().unwrap()
}

/// An orphan that has ended may wait until its init reaps it.
fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

fn child_of(pid: u32) -> u32 {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    children.split_whitespace().next().unwrap().parse().unwrap()
}

#[track_caller]
fn ends_well(server: Server) {
    let pids = server.pids();
    let stopped = server.stop();
    assert_eq!((stopped.crash(), stopped.leak()), (None, None));
    assert!(pids.iter().all(|pid| !alive(*pid as i32)));
}

#[test]
fn nodes_know_their_numbers_and_ports_and_each_other() {
    let fixture = cluster();
    let server = fixture.start(60_000).unwrap();
    let ports = server.ports();
    assert_eq!(ports.len(), 2);
    assert!(server.url().contains(&format!(":{}/", ports[0])));
    let mut told: Vec<String> = fs::read_to_string(fixture.path("nodes"))
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    told.sort();
    let [one, two] = [ports[0], ports[1]];
    assert_eq!(told, [format!("1 {one},{two}"), format!("2 {one},{two}")]);
    for log in ["server.node-1.log", "server.node-2.log", "server.hub.log"] {
        let text = fs::read_to_string(fixture.path(log)).unwrap();
        assert!(text.starts_with("listening on "), "{log}: {text}");
    }
    assert!(has_formed(&server));
    ends_well(server);
}

#[test]
fn nodes_that_do_not_know_each_other_are_not_ready() {
    let mut fixture = cluster();
    // Nothing listens there.
    let command = &mut fixture.variant.command[2];
    *command = command.replace("--broker {service:hub}", "--broker 1");
    let (error, _) = fixture.start(3000).unwrap_err();
    assert!(matches!(error, StartError::NotFormed(..)), "{error}");
    assert!(
        error.to_string().starts_with(
            "its nodes did not pass broadcasts on to each other within 3s; last: node "
        ),
        "{error}"
    );
}

#[test]
fn a_node_that_a_fault_kills_is_no_crash_and_comes_back_where_it_was() {
    let fixture = cluster();
    let mut server = fixture.start(60_000).unwrap();
    let (pids, ports) = (server.pids(), server.ports());
    let child = child_of(pids[1]);
    act(&mut server, FaultDeed::Kill, NODE).unwrap();
    assert!(!alive(pids[1] as i32) && !runs(child));
    assert_eq!(server.death(), None);
    assert!(!has_formed(&server));
    act(&mut server, FaultDeed::Start, NODE).unwrap();
    assert_eq!(server.ports(), ports);
    assert_ne!(server.pids()[1], pids[1]);
    support::eventually("the nodes know each other", || has_formed(&server));
    ends_well(server);
}

#[test]
fn a_node_that_ends_by_itself_is_a_crash() {
    let fixture = cluster();
    let mut server = fixture.start(60_000).unwrap();
    let child = child_of(server.pids()[1]) as i32;
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    support::eventually("the death is seen", || server.death().is_some());
    let death = server.death().unwrap().to_string();
    assert_eq!(death, "node 2 ended by itself: exit code 137");
    let crash = server.stop().crash();
    assert_eq!(crash.as_deref(), Some(death.as_str()));
}

#[test]
fn a_node_that_is_asked_to_end_is_killed_when_its_grace_is_over() {
    let mut fixture = cluster();
    fixture.variant.command[2].insert_str(0, "trap '' TERM; ");
    let mut server = fixture.start(60_000).unwrap();
    let pid = server.pids()[1] as i32;
    act(&mut server, FaultDeed::Terminate, NODE).unwrap();
    assert!(!alive(pid));
    assert_eq!(server.death(), None);
    drop(server);
}

#[test]
fn frozen_nodes_stand_still_and_end_all_the_same() {
    let fixture = cluster();
    let mut server = fixture.start(60_000).unwrap();
    let leader = server.pids()[1];
    let both = [leader, child_of(leader)];
    act(&mut server, FaultDeed::Freeze, NODE).unwrap();
    support::eventually("all of it stands still", || both.map(state) == ['T', 'T']);
    assert!(!has_formed(&server));
    act(&mut server, FaultDeed::Thaw, NODE).unwrap();
    support::eventually("it goes on", || has_formed(&server));
    act(&mut server, FaultDeed::Freeze, FaultPart::Node(1)).unwrap();
    act(&mut server, FaultDeed::Freeze, FaultPart::Broker).unwrap();
    ends_well(server);
}

#[test]
fn the_broker_dies_and_comes_back() {
    let fixture = cluster();
    let mut server = fixture.start(60_000).unwrap();
    act(&mut server, FaultDeed::Kill, FaultPart::Broker).unwrap();
    assert_eq!(server.death(), None);
    assert!(!has_formed(&server));
    act(&mut server, FaultDeed::Start, FaultPart::Broker).unwrap();
    support::eventually("the nodes know each other", || has_formed(&server));
    ends_well(server);
}

#[test]
fn a_way_that_is_cut_passes_nothing_until_it_is_healed() {
    let fixture = cluster();
    let log = fixture.path("server.log");
    let cuts = Cuts {
        nodes: BTreeSet::from([2]),
        cpus: &[],
    };
    let spec = fixture.spec(&log, 60_000).with_cuts(cuts);
    let mut server = start(&spec, &Interrupt::default()).unwrap();
    assert!(has_formed(&server));
    let link = FaultPart::Link(2);
    act(&mut server, FaultDeed::Cut, link).unwrap();
    assert!(!has_formed(&server));
    assert_eq!(server.death(), None);
    let again = act(&mut server, FaultDeed::Cut, link).unwrap_err();
    assert_eq!(again, "link:2 was cut already");
    let other = act(&mut server, FaultDeed::Cut, FaultPart::Link(1)).unwrap_err();
    assert_eq!(other, "the server has no link:1");
    act(&mut server, FaultDeed::Heal, link).unwrap();
    support::eventually("the nodes know each other", || has_formed(&server));
    ends_well(server);
}

#[test]
fn what_cannot_be_done_is_said() {
    let mut server = cluster().start(60_000).unwrap();
    let mut refused = |deed, what| act(&mut server, deed, what).unwrap_err();
    assert_eq!(refused(FaultDeed::Start, NODE), "node 2 was running");
    assert_eq!(refused(FaultDeed::Thaw, NODE), "node 2 was not frozen");
    let third = FaultPart::Node(3);
    assert_eq!(refused(FaultDeed::Kill, third), "the server has no node:3");
    act(&mut server, FaultDeed::Kill, FaultPart::Broker).unwrap();
    let again = act(&mut server, FaultDeed::Kill, FaultPart::Broker).unwrap_err();
    assert_eq!(again, "the service hub was not running");
}
