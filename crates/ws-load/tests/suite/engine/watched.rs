//! Messages that are watched, against a server that counts what it leaves out, and with connections that
//! end on the way to it.

use super::plan;
use crate::engine::common::{self, CLOSED, eventually, fates, run};
use ::plan::{Dialect, Meaning, Nanos, Plan, built_in_dialect};
use record::{End, Fates, StepRecord, Verdict, Watched};
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use test_servers::Framework;
use test_servers::oracle::{Fate, Oracle, OracleOptions, Strikes};

const CLIENTS: u32 = 12;
/// A hundred a second for 1.2 seconds.
const MESSAGES: u64 = 120;
const DUE: u64 = MESSAGES * CLIENTS as u64;

fn oracle(options: OracleOptions) -> Oracle {
    Oracle::start(options).unwrap()
}

fn watching(addr: SocketAddr) -> Plan {
    common::watching(plan(addr), CLIENTS, Nanos::millis(1200))
}

fn watched(plan: &Plan) -> Watched {
    *watched_step(plan).watched.expect("a watched step")
}

fn watched_step(plan: &Plan) -> StepRecord {
    let measured = run(plan);
    assert_eq!(
        measured.outcome.end,
        End::StepsDone,
        "{:?}",
        measured.outcome
    );
    let [step] = &measured.steps[..] else {
        panic!("one step");
    };
    assert!(step.faults.is_empty(), "{}", step.faults);
    // A busy machine may stamp too few reads, which makes a step noisy.
    let is_known = matches!(step.verdict, Verdict::Pass | Verdict::Noisy);
    assert!(is_known, "{:?}: {:?}", step.verdict, step.verdict_reasons);
    step.clone()
}

#[test]
fn what_an_honest_server_passes_on_is_live_and_confirmed() {
    let all = [
        (Framework::Plain, Dialect::Text),
        (Framework::Plain, Dialect::Binary),
        (Framework::SocketIo, Dialect::SocketIo),
        (Framework::Phoenix, Dialect::Phoenix),
    ];
    let carried_out = |(framework, dialect)| {
        let server = oracle(OracleOptions {
            framework,
            ..OracleOptions::default()
        });
        let plan = watching(server.addr()).with(|plan| plan.message.dialect = dialect);
        let step = watched_step(&plan);
        let of = step.watched.expect("a watched step");
        assert_eq!((of.planned, of.sent, of.confirmed), (MESSAGES, MESSAGES, MESSAGES));
        let live = Fates {
            live: DUE,
            ..Fates::default()
        };
        assert_eq!(of.of_confirmed, live, "{dialect:?}");
        assert_eq!((of.bystanders, step.drops), (u64::from(CLIENTS), None));
        assert_eq!(of.same_node.unwrap().count, DUE);
        assert_eq!(of.cross_node, None);
        assert_eq!((of.duplicate, of.repeated, of.reordered), (0, 0, 0));
    };
    thread::scope(|scope| {
        for one in all {
            scope.spawn(move || carried_out(one));
        }
    });
}

#[test]
fn deliveries_that_are_left_out_made_twice_or_not_confirmed_are_counted_exactly() {
    let strikes = |every, first| Strikes { every, first };
    let server = oracle(OracleOptions {
        lost: strikes(50, 7),
        duplicate: strikes(90, 11),
        unanswered: strikes(10, 3),
        ..OracleOptions::default()
    });
    let of = watched(&watching(server.addr()));
    let told = server.told();
    let copies = || told.asked.iter().flat_map(|asked| &asked.copies);
    let lost = copies().filter(|copy| copy.fate == Fate::Lost).count() as u64;
    let doubled = copies().filter(|copy| copy.fate == Fate::Doubled).count() as u64;
    assert!(lost > 20 && doubled > 10, "{lost} {doubled}");
    assert_eq!(fates(&of).lost_silent, lost);
    assert_eq!(fates(&of).live, DUE - lost);
    assert_eq!((of.duplicate, of.repeated), (doubled, 0));
    assert_eq!(of.confirmed, MESSAGES - MESSAGES / 10);
    assert_eq!(of.timeline.lost_silent.iter().sum::<u64>(), lost);
}

#[test]
fn without_results_and_own_copies_nothing_is_confirmed_and_each_publisher_is_due_none() {
    let server = oracle(OracleOptions {
        passes_sender_over: true,
        acknowledges_nothing: true,
        ..OracleOptions::default()
    });
    let mut file = built_in_dialect("text").unwrap().clone();
    file.send.reaches_sender = false;
    file.send.acknowledged = Some(false);
    let is_result = |means| matches!(means, Meaning::Result | Meaning::Published);
    file.receive.retain(|rule| !is_result(rule.means));
    let plan = watching(server.addr()).with(|plan| {
        plan.message.dialect = Dialect::File;
        plan.message.definition = Some(Box::new(file));
    });
    let of = watched(&plan);
    assert!(of.has_no_results);
    assert_eq!((of.sent, of.confirmed), (MESSAGES, 0));
    assert_eq!(of.of_unconfirmed.live, DUE - MESSAGES);
    assert_eq!(of.of_unconfirmed.lost(), 0);
}

/// One of several ways to a server, which can end all of its connections and take no more.
struct Way {
    addr: SocketAddr,
    open: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Way {
    fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let addr = listener.local_addr().unwrap();
        let (open, streams) = (Arc::new(AtomicBool::new(true)), Arc::<Mutex<Vec<_>>>::default());
        let (is_open, kept) = (Arc::clone(&open), Arc::clone(&streams));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut kept = kept.lock().unwrap();
                if !is_open.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(both) = pass(stream, server) {
                    kept.extend(both);
                }
            }
        });
        Self {
            addr,
            open,
            streams,
        }
    }

    /// How many connections go through it.
    fn connections(&self) -> usize {
        self.streams.lock().unwrap().len() / 2
    }

    fn end(&self) {
        let mut streams = self.streams.lock().unwrap();
        self.open.store(false, Ordering::SeqCst);
        for stream in streams.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // The listener looks whether it is to go on.
        let _ = TcpStream::connect(self.addr);
    }
}

/// Copies what comes on either side to the other.
fn pass(client: TcpStream, server: SocketAddr) -> io::Result<[TcpStream; 2]> {
    let server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let both = [client.try_clone()?, server.try_clone()?];
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    let (mut from_server, mut to_client) = (server, client);
    thread::spawn(move || {
        let _ = io::copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    Ok(both)
}

/// Two nodes, of which the second goes for good after half a second: its clients come back to the first.
#[test]
fn clients_of_a_node_that_goes_come_back_to_the_other() {
    let server = oracle(OracleOptions::default());
    let ways = [Way::to(server.addr()), Way::to(server.addr())];
    let long = common::watching(plan(ways[0].addr), CLIENTS, Nanos::secs(3));
    let plan = long.with(|plan| {
        plan.target.nodes = ways.iter().map(|way| way.addr).collect();
    });
    let half = u64::from(CLIENTS) / 2;
    let step = thread::scope(|scope| {
        let running = scope.spawn(|| watched_step(&plan));
        // timed: the node goes some time after messages have come; how many is not looked at.
        eventually("messages flow", || server.told().asked.len() > 50);
        assert_eq!(ways[1].connections() as u64, half);
        ways[1].end();
        running.join().unwrap()
    });
    let of = step.watched.expect("a watched step");
    let all = fates(&of);
    assert_eq!(of.bystanders, half);
    assert_eq!(step.drops.expect("connections ended").count(), half);
    assert_eq!(of.of_confirmed.lost_silent, 0, "{all:?}");
    // A message written just before its connection ended never reached the server. Clients that stayed
    // lost it in silence.
    let on_the_way = of.sent - server.told().asked.len() as u64;
    let of_bystanders = on_the_way * half..=on_the_way * u64::from(CLIENTS);
    let silent = of.of_unconfirmed.lost_silent;
    assert!(of_bystanders.contains(&silent), "{on_the_way} on the way: {all:?}");
    assert!(all.lost_away + all.lost_cut > 0, "{all:?}");
    let not_sent = of.planned - of.sent;
    assert_eq!(all.all(), of.sent * u64::from(CLIENTS));
    assert!(not_sent < 300, "{not_sent}");
    assert!(of.cross_node.is_some() && of.same_node.is_some());
    let ready = &of.timeline.ready;
    assert_eq!(ready.first(), Some(&u64::from(CLIENTS)));
    assert_eq!(ready.last(), Some(&u64::from(CLIENTS)));
    assert!(ready.iter().any(|ready| *ready < u64::from(CLIENTS)));
    assert_eq!(ways[0].connections() as u64, 2 * half);
}

#[test]
fn a_client_whose_node_is_not_there_is_named_with_its_address() {
    let server = oracle(OracleOptions::default());
    let plan = watching(server.addr()).with(|plan| {
        plan.target.nodes = vec![server.addr(), CLOSED];
    });
    let measured = run(&plan);
    assert_eq!(measured.outcome.end, End::ConnectFailed);
    let detail = measured.outcome.detail.as_str();
    assert!(detail.contains("127.0.0.1:1 refused"), "{detail}");
}
