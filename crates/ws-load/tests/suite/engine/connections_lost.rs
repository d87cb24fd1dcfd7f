//! Connections that end in a step, in a warm-up and between steps: the run ends, and says of how many.

use super::lives::splice;
use super::plan;
use ::plan::{Audience, Clients, Load, Nanos, Plan};
use record::{End, Event};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use test_servers::{Delay, DelayOptions, DelayServer, NullOptions, NullServer};
use ws_load::Measured;

/// Stands before a server and ends connections when it is told to.
struct Door {
    addr: SocketAddr,
    clients: Arc<Mutex<Vec<TcpStream>>>,
}

impl Door {
    fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let clients: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let kept = Arc::clone(&clients);
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                kept.lock().unwrap().push(client.try_clone().unwrap());
                splice(client, server).unwrap();
            }
        });
        Self { addr, clients }
    }

    /// Ends so many of the connections, of those that are open the oldest.
    fn end(&self, count: usize) {
        for client in self.clients.lock().unwrap().drain(..count) {
            client.shutdown(Shutdown::Both).unwrap();
        }
    }
}

/// Echoes: what a lost client waits for is waited for by no other.
fn echo(door: &Door) -> Plan {
    plan(door.addr).with(|plan| {
        plan.audience = Audience::Sender;
        plan.generator.threads = 2;
    })
}

/// Runs a plan that ends by itself.
// timed: interrupts a run that hangs, and a test that finds it interrupted fails.
fn ended(plan: &Plan, mut on_event: impl FnMut(&Event) + Send) -> Measured {
    let interrupted = AtomicBool::new(false);
    let measured = thread::scope(|scope| {
        let run = scope.spawn(|| ws_load::run(plan, &interrupted, &mut on_event).unwrap());
        let end = Instant::now() + Duration::from_secs(120);
        while !run.is_finished() {
            if Instant::now() >= end {
                interrupted.store(true, Ordering::SeqCst);
            }
            sleep(Duration::from_millis(10));
        }
        run.join().unwrap()
    });
    assert_ne!(measured.outcome.end, End::Interrupted, "it hung");
    measured
}

fn null() -> NullServer {
    NullServer::start(NullOptions::default()).unwrap()
}

/// Each of two threads has half of the clients.
fn ended_in_a_step(clients: u32, lost: usize) -> Measured {
    let server = null();
    let door = Door::before(server.addr());
    let plan = plan(door.addr).with(|plan| {
        plan.load = Load::closed(1, 1_000_000);
        plan.clients = Clients::steps(clients, 0, Some(1));
        plan.generator.threads = 2;
    });
    let mut is_open = true;
    ended(&plan, |event| {
        if matches!(event, Event::Measuring { samples: 1.., .. }) && is_open {
            is_open = false;
            door.end(lost);
        }
    })
}

#[test]
fn a_thread_that_has_lost_its_only_client_is_not_the_whole_run() {
    let measured = ended_in_a_step(2, 1);
    let outcome = &measured.outcome;
    assert_eq!(outcome.end, End::ServerLost, "{outcome:?}");
    let words = "all connections that a worker sends its part of the requests on; 1 of 2 were still open";
    assert!(outcome.detail.contains(words), "{outcome:?}");
    let faults = &measured.steps[0].faults;
    assert_eq!(faults.disconnected, 1, "{faults}");
    // What was on its way to the other client is not lost.
    assert!(faults.lost <= 1 && faults.unanswered <= 1, "{faults}");
}

#[test]
fn all_connections_are_lost_when_each_thread_has_lost_its_own() {
    let measured = ended_in_a_step(4, 4);
    let outcome = &measured.outcome;
    assert_eq!(outcome.end, End::ServerLost, "{outcome:?}");
    let words = "the server closed all connections at 4 clients";
    assert!(outcome.detail.contains(words), "{outcome:?}");
}

#[test]
fn a_connection_that_is_lost_in_a_warm_up_ends_the_run() {
    // So that a step takes half a second.
    let server = DelayServer::start(DelayOptions {
        delay: Delay::Constant(Duration::from_millis(5)),
        ..DelayOptions::default()
    });
    let server = server.unwrap();
    let door = Door::before(server.addr());
    let plan = echo(&door).with(|plan| {
        plan.warm_up = Nanos::secs(3_600);
        plan.load = Load::closed(1, 100);
    });
    let mut is_open = true;
    let measured = ended(&plan, |event| {
        if matches!(event, Event::WarmingUp { .. }) && is_open {
            is_open = false;
            door.end(1);
        }
    });
    // By when the loss is known: in one of the steps, or between two.
    let ends = [End::ServerLost, End::ConnectFailed];
    assert!(ends.contains(&measured.outcome.end), "{:?}", measured.outcome);
    assert!(measured.outcome.detail.contains("lost"), "{:?}", measured.outcome);
    assert!(measured.steps.is_empty());
}

#[test]
fn a_connection_that_is_lost_between_two_steps_ends_the_run() {
    let server = null();
    let door = Door::before(server.addr());
    let plan = echo(&door);
    let measured = ended(&plan, |event| {
        if matches!(event, Event::Step { step: 0, .. }) {
            door.end(1);
            // timed: where the loss is known later, it is one of the second step.
            sleep(Duration::from_millis(200));
        }
    });
    let ends = [End::ServerLost, End::ConnectFailed];
    assert!(ends.contains(&measured.outcome.end), "{:?}", measured.outcome);
    assert!(measured.outcome.detail.contains("lost"), "{:?}", measured.outcome);
    assert!(measured.steps[0].faults.is_empty());
}
