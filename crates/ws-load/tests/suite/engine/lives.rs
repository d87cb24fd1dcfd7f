//! Clients that leave and come back while requests go on.

use super::plan;
use crate::engine::common::{eventually, run_undisturbed};
use ::plan::{Arrivals, Audience, Backoff, ComesAndGoes, Cut, Life, Load, Nanos, OpenLoop, Plan, Population, Reconnect, Tls, TlsVersion};
use record::{Churn, End, StepRecord, Verdict};
use socket2::{Domain, Socket, Type};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;
use test_servers::{NullOptions, NullServer, TlsServer};

const CLIENTS: u32 = 20;
/// Those that leave.
const LEAVE: u64 = 10;

fn lives(server: SocketAddr, life: Life, reconnect: Reconnect) -> Plan {
    plan(server).with(|plan| {
        plan.audience = Audience::Everyone;
        plan.load = Load::Open(OpenLoop {
            rate: 60.0,
            ramp: None,
            arrivals: Arrivals::Constant,
            duration: Nanos::secs(5),
            warm_up: Nanos(0),
        });
        plan.clients = ::plan::Clients::steps(CLIENTS, 1, Some(1));
        plan.generator.threads = 2;
        plan.populations = vec![
            Population::default(),
            Population {
                life,
                reconnect,
                ..Population::default()
            },
        ];
    })
}

const fn cut(ms: u64) -> Life {
    Life::Cut(Cut {
        at: Nanos::millis(ms),
    })
}

fn soon() -> Reconnect {
    Reconnect::Backoff(Backoff {
        first: Nanos::millis(100),
        most: Nanos::millis(400),
        ..Backoff::default()
    })
}

/// The only step of a run to its end, and what became of those that left.
fn carried_out(plan: &Plan) -> (StepRecord, Box<Churn>) {
    let measured = run_undisturbed(plan);
    let [step] = &measured.steps[..] else {
        panic!("{:?}", measured.outcome);
    };
    assert!(step.faults.is_empty(), "{} {step:?}", step.faults);
    assert_eq!((step.samples, step.samples_planned), (300, 300));
    // Samples wait for those that stay, whatever the others do.
    let stay = u64::from(CLIENTS) - LEAVE;
    assert_eq!(step.delivery.as_ref().unwrap().count, 300 * stay);
    let churn = step.churn.clone().unwrap();
    assert_eq!(churn.clients, LEAVE);
    assert_eq!(
        churn.attempts,
        churn.reconnected + churn.failures.total() + churn.unfinished
    );
    assert_eq!((churn.lost, churn.duplicate, churn.disconnected), (0, 0, 0));
    // A busy machine may be why some are not back.
    let is_back = churn.cut.as_ref().is_none_or(|cut| cut.back == cut.clients);
    let ends: &[End] = match is_back {
        true => &[End::StepsDone],
        false => &[End::OverLimit, End::GeneratorLimited],
    };
    assert!(ends.contains(&measured.outcome.end), "{:?}", measured.outcome);
    let carried = measured.outcome.carried_clients;
    assert!(is_back || carried.is_none(), "{carried:?}");
    (step.clone(), churn)
}

/// Stands before a server: accepts or holds connections as it is told.
struct Gate {
    addr: SocketAddr,
    ends: Arc<AtomicBool>,
    accepted: Arc<AtomicU32>,
    thread: Option<thread::JoinHandle<()>>,
}

/// What becomes of a connection, by its number.
#[derive(Clone, Copy, PartialEq)]
enum Pass {
    /// It goes through to the server.
    Through,
    /// It is accepted and gets no answer.
    Held,
    /// It is accepted and closed at once.
    Closed,
}

impl Gate {
    fn before(server: SocketAddr, pass: impl Fn(u32) -> Pass + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let (ends, accepted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let (ended, count) = (Arc::clone(&ends), Arc::clone(&accepted));
        let thread = thread::spawn(move || {
            let held = Mutex::new(Vec::new());
            for client in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let client = client.unwrap();
                match pass(count.fetch_add(1, Ordering::SeqCst)) {
                    Pass::Through => splice(client, server).unwrap(),
                    Pass::Held => held.lock().unwrap().push(client),
                    Pass::Closed => drop(client),
                }
            }
        });
        Self {
            addr,
            ends,
            accepted,
            thread: Some(thread),
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.addr);
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

/// Carries bytes both ways until one side ends.
pub(super) fn splice(client: TcpStream, server: SocketAddr) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    let ways = [
        (client.try_clone()?, server.try_clone()?),
        (server, client),
    ];
    for (mut from, mut to) in ways {
        from.set_nodelay(true)?;
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                if to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
    Ok(())
}

fn null() -> NullServer {
    NullServer::start(NullOptions::default()).unwrap()
}

#[test]
fn those_that_are_cut_are_all_back_and_the_others_hear_everything_meanwhile() {
    let server = null();
    let (step, churn) = carried_out(&lives(server.addr(), cut(1_000), soon()));
    assert_ne!(step.verdict, Verdict::Fail, "{:?}", step.verdict_reasons);
    let cut = churn.cut.as_ref().unwrap();
    assert_eq!((cut.clients, cut.back, churn.reconnected), (LEAVE, LEAVE, LEAVE));
    assert_eq!((churn.attempts, churn.failures.total()), (LEAVE, 0));
    // The first delay is from half of 100 ms to all of it.
    assert!(cut.back_50_ns.unwrap() >= 50_000_000, "{cut:?}");
    assert!(cut.back_50_ns <= cut.back_95_ns && cut.back_95_ns <= cut.back_100_ns);
    let counts = [&cut.before, &cut.during, &cut.after].map(|of| of.as_ref().unwrap().count);
    assert_eq!(counts.iter().sum::<u64>(), step.completion.as_ref().unwrap().count);
    // Once before the cut and once after it.
    assert_eq!(churn.visits, 2 * LEAVE);
    // 60 each before the cut, and more after it.
    assert!(churn.messages > 100 * LEAVE, "{churn:?}");
}

#[test]
fn clients_come_and_go_with_a_close_handshake() {
    let server = null();
    let life = Life::ComesAndGoes(ComesAndGoes {
        stays: Nanos::millis(200),
        away: Nanos::millis(50),
    });
    let (_, churn) = carried_out(&lives(server.addr(), life, soon()));
    // 10 clients, 5 s, a cycle of 250 ms: 200 expected, and fewer on a busy machine.
    assert!((40..400).contains(&churn.left), "{churn:?}");
    assert!(churn.reconnected <= churn.left && churn.left <= churn.reconnected + LEAVE);
    assert_eq!((churn.unclosed, churn.failures.total()), (0, 0));
    assert_eq!(churn.cut, None);
}

#[test]
fn those_that_never_come_back_do_so_in_the_next_step() {
    let server = null();
    let plan = lives(server.addr(), cut(500), Reconnect::Never).with(|plan| {
        plan.clients = ::plan::Clients::steps(CLIENTS, 0, Some(2));
    });
    let measured = run_undisturbed(&plan);
    assert_eq!(measured.outcome.end, End::StepsDone, "{:?}", measured.outcome);
    assert_eq!(measured.steps.len(), 2);
    for step in &measured.steps {
        assert!(step.faults.is_empty(), "{}", step.faults);
        let churn = step.churn.as_ref().unwrap();
        let cut = churn.cut.as_ref().unwrap();
        assert_eq!((cut.clients, cut.back, churn.attempts), (LEAVE, 0, 0));
        assert_eq!((cut.back_50_ns, &cut.after), (None, &None));
        assert_eq!(churn.visits, LEAVE);
    }
}

#[test]
fn attempts_that_are_closed_are_counted_and_made_again() {
    let server = null();
    let gate = Gate::before(server.addr(), |number| match number {
        20..35 => Pass::Closed,
        _ => Pass::Through,
    });
    let (_, churn) = carried_out(&lives(gate.addr, cut(500), soon()));
    assert_eq!((churn.failures.closed, churn.failures.total()), (15, 15));
    assert_eq!(churn.reconnected, LEAVE);
    assert!(churn.first_failure.is_some());
    assert_eq!(gate.accepted.load(Ordering::SeqCst), 20 + 15 + LEAVE as u32);
}

/// The step ends while attempts are under way.
#[test]
fn a_server_that_accepts_and_never_answers_holds_up_neither_the_step_nor_its_end() {
    let server = null();
    let gate = Gate::before(server.addr(), |number| match number {
        0..20 => Pass::Through,
        _ => Pass::Held,
    });
    let plan = lives(gate.addr, cut(500), soon()).with(|plan| {
        plan.connection.at_once = 4;
        plan.connection.timeout = Nanos::secs(2);
    });
    let (step, churn) = carried_out(&plan);
    assert_ne!(step.verdict, Verdict::Pass);
    let words = format!("0 of {LEAVE} clients that were cut off were back");
    let said = step.verdict_reasons.join("; ");
    assert!(said.contains(&words) && said.contains("connection.at_once"), "{said}");
    assert_eq!(churn.reconnected, 0);
    assert_eq!(churn.failures.timed_out, churn.failures.total());
    assert!(churn.failures.timed_out >= 4 && churn.unfinished > 0, "{churn:?}");
    assert!(churn.unfinished <= 4, "{churn:?}");
    assert!(churn.attempt_lag.as_ref().unwrap().max_ns > 900_000_000, "{churn:?}");
}

/// Runs a plan until so many connections wait at the gate for an answer; how many do.
// timed: what goes beyond the bound comes at once; where it is late, the test sees less of it.
fn held(gate: &Gate, plan: &Plan, passed: u32, expected: u32) -> u32 {
    let interrupted = AtomicBool::new(false);
    thread::scope(|scope| {
        let run = scope.spawn(|| ws_load::run(plan, &interrupted, &mut |_| {}));
        let accepted = || gate.accepted.load(Ordering::SeqCst).saturating_sub(passed);
        eventually("the attempts are under way", || accepted() >= expected);
        sleep(Duration::from_millis(200));
        let held = accepted();
        interrupted.store(true, Ordering::SeqCst);
        let end = run.join().unwrap().unwrap().outcome.end;
        assert_eq!(end, End::Interrupted);
        held
    })
}

/// Whatever the threads: 50 that are dealt out to eight, rounded up, would be 56.
#[test]
fn no_more_handshakes_are_under_way_than_the_plan_permits() {
    let server = null();
    for (at_once, threads) in [(1, 2), (6, 4), (50, 8)] {
        let gate = Gate::before(server.addr(), |_| Pass::Held);
        let plan = plan(gate.addr).with(|plan| {
            plan.clients = ::plan::Clients::steps(200, 0, Some(1));
            plan.generator.threads = threads;
            plan.connection.at_once = at_once;
            plan.connection.timeout = Nanos::secs(3_600);
        });
        assert_eq!(held(&gate, &plan, 0, at_once), at_once);
    }
}

/// Between two steps some come back and others are new.
#[test]
fn those_that_come_back_and_those_that_are_new_share_the_places() {
    const AT_ONCE: u32 = 4;
    let server = null();
    let gate = Gate::before(server.addr(), |number| match number {
        0..CLIENTS => Pass::Through,
        _ => Pass::Held,
    });
    let plan = lives(gate.addr, cut(100), Reconnect::Never).with(|plan| {
        plan.clients = ::plan::Clients::steps(CLIENTS, CLIENTS, Some(2));
        plan.connection.at_once = AT_ONCE;
        plan.connection.timeout = Nanos::secs(3_600);
        if let Load::Open(open) = &mut plan.load {
            (open.rate, open.duration) = (1.0, Nanos::secs(1));
        }
    });
    assert_eq!(held(&gate, &plan, CLIENTS, AT_ONCE), AT_ONCE);
}

/// A socket that is bound, and lets others be bound to its port as long as none of them listens.
fn bound(addr: SocketAddr) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_reuse_address(true).unwrap();
    socket.bind(&addr.into()).unwrap();
    socket
}

fn listening(socket: Socket) -> TcpListener {
    socket.listen(64).unwrap();
    socket.into()
}

/// Serves all clients, does not listen from before the cut until a second after it, and serves again.
// timed: an attempt that is late finds a server that listens: a run in which too few were refused is made
// again.
fn refused_for_a_while() -> Box<Churn> {
    let server = null();
    let behind = server.addr();
    let first = bound(([127, 0, 0, 1], 0).into());
    let addr = first.local_addr().unwrap().as_socket().unwrap();
    // No other program gets the port while none listens.
    let held = bound(addr);
    let first = listening(first);
    let serving = thread::spawn(move || {
        for _ in 0..CLIENTS {
            splice(first.accept().unwrap().0, behind).unwrap();
        }
        drop(first);
        sleep(Duration::from_millis(1_500));
        let again = listening(bound(addr));
        drop(held);
        for _ in 0..LEAVE {
            splice(again.accept().unwrap().0, behind).unwrap();
        }
    });
    let (_, churn) = carried_out(&lives(addr, cut(500), soon()));
    // Those that never came back would be waited for.
    while !serving.is_finished() {
        let _ = TcpStream::connect(addr);
        sleep(Duration::from_millis(10));
    }
    serving.join().unwrap();
    assert_eq!(churn.failures.refused, churn.failures.total());
    assert!(churn.reconnected <= LEAVE, "{churn:?}");
    churn
}

/// Nothing listens for a while: attempts are refused.
#[test]
fn a_server_that_refuses_for_a_while_is_found_again() {
    let mut seen = Vec::new();
    let is_found = (0..10).any(|_| {
        let churn = refused_for_a_while();
        seen.push((churn.failures.refused, churn.reconnected));
        churn.failures.refused >= LEAVE && churn.reconnected == LEAVE
    });
    assert!(is_found, "{seen:?}");
}

#[test]
fn with_tls_each_resumes_its_own_session_unless_the_plan_says_no() {
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(issued.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![issued.cert.der().clone()], key.unwrap())
        .unwrap();
    let server = TlsServer::start(([127, 0, 0, 1], 0).into(), Arc::new(config)).unwrap();
    let plan = lives(server.addr(), cut(500), soon()).with(|plan| {
        plan.target.url = format!("wss://localhost:{}/ws", server.addr().port());
        plan.target.verify_certificate = false;
    });
    for (resumption, max, resumed) in [
        (true, TlsVersion::V1_3, LEAVE),
        (true, TlsVersion::V1_2, LEAVE),
        (false, TlsVersion::V1_3, 0),
    ] {
        let plan = plan.clone().with(|plan| {
            plan.connection.tls = Some(Tls {
                max,
                resumption,
                ..Tls::default()
            });
        });
        let (step, churn) = carried_out(&plan);
        assert_eq!((churn.reconnected, churn.failures.total()), (LEAVE, 0));
        let tls = step.tls.unwrap();
        // The first handshake of a client resumes nothing, not even a stranger's session.
        let handshakes = u64::from(CLIENTS) + LEAVE;
        assert_eq!((tls.handshakes, tls.resumed), (handshakes, resumed), "{max:?}");
    }
}

#[test]
fn an_interrupt_ends_a_step_in_which_attempts_are_under_way() {
    let server = null();
    let gate = Gate::before(server.addr(), |number| match number {
        0..20 => Pass::Through,
        _ => Pass::Held,
    });
    let plan = lives(gate.addr, cut(100), soon()).with(|plan| {
        plan.connection.timeout = Nanos::secs(3600);
        if let Load::Open(open) = &mut plan.load {
            open.duration = Nanos::secs(3600);
        }
    });
    let interrupted = AtomicBool::new(false);
    let measured = thread::scope(|scope| {
        let run = scope.spawn(|| ws_load::run(&plan, &interrupted, &mut |_| {}));
        eventually("all attempts are under way", || {
            gate.accepted.load(Ordering::SeqCst) >= CLIENTS + LEAVE as u32
        });
        interrupted.store(true, Ordering::SeqCst);
        run.join().unwrap()
    });
    let measured = measured.unwrap();
    assert_eq!(measured.outcome.end, End::Interrupted);
    let churn = measured.steps[0].churn.as_ref().unwrap();
    assert_eq!((churn.unfinished, churn.reconnected), (LEAVE, 0));
}
