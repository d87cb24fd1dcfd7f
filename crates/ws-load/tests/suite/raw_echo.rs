//! Raw over a raw echo: every echo is counted and checked, and what is not one ends the run.

use plan::{Nanos, Plan};
use record::End;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use test_servers::fault::{Fault, FaultServer};
use test_servers::{NullOptions, NullServer};
use ws_load::{Packs, Throughput};

const PACKS: Packs = Packs {
    payload: 20,
    pack: 10,
    duration: Nanos(1_000_000),
};

fn echo() -> NullServer {
    NullServer::start(NullOptions {
        echo_raw: true,
        ..NullOptions::default()
    })
    .unwrap()
}

fn plan(addr: SocketAddr, connections: u32, threads: u32) -> Plan {
    let mut plan = ws_load::plan_for_port(addr.port(), connections, 7);
    plan.generator.threads = threads;
    plan
}

fn run(addr: SocketAddr, connections: u32, threads: u32, packs: Packs) -> Throughput {
    let plan = plan(addr, connections, threads);
    ws_load::throughput(&plan, packs, &AtomicBool::new(false)).unwrap()
}

#[test]
fn each_iteration_brings_as_many_echoes_as_packs_have_frames() {
    for (threads, payload) in [(1, 20), (2, 20), (1, 0), (3, 7), (1, 200_000)] {
        let server = echo();
        let packs = Packs { payload, ..PACKS };
        let found = run(server.addr(), 30, threads, packs);
        assert_eq!(
            found.outcome.end,
            End::StepsDone,
            "{}",
            found.outcome.detail
        );
        // The connections of a worker, ten frames each, in every iteration of that worker.
        let per_iteration = 30 * 10 / u64::from(threads);
        assert_eq!(found.echoes, found.iterations * per_iteration);
        assert!(found.iterations >= u64::from(threads));
        assert!(found.elapsed_ns > 0 && found.echoes_per_ms() > 0.0);
    }
}

#[test]
fn a_message_far_larger_than_every_buffer_comes_back_whole() {
    let server = echo();
    let packs = Packs {
        payload: 15 << 20,
        pack: 1,
        ..PACKS
    };
    let found = run(server.addr(), 1, 1, packs);
    assert_eq!(
        found.outcome.end,
        End::StepsDone,
        "{}",
        found.outcome.detail
    );
    assert_eq!(found.echoes, found.iterations);
}

#[test]
fn what_is_no_echo_is_named() {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let found = run(server.addr(), 3, 1, PACKS);
    assert_eq!((found.outcome.end, found.echoes), (End::ServerLost, 0));
    let words = &found.outcome.detail;
    assert!(words.contains("a Text frame, Binary was due"), "{words}");
}

#[test]
fn a_message_that_the_server_refuses_ends_the_run() {
    let server = echo();
    let packs = Packs {
        payload: 17 << 20,
        pack: 1,
        ..PACKS
    };
    let found = run(server.addr(), 1, 1, packs);
    assert_eq!(found.outcome.end, End::ServerLost);
    let words = &found.outcome.detail;
    assert!(
        words.starts_with("connection 1: the server ended it"),
        "{words}"
    );
}

#[test]
fn silence_ends_the_run() {
    let server = FaultServer::start(Fault::Freezes, 0).unwrap();
    let mut plan = plan(server.addr(), 2, 2);
    plan.limits.sample_timeout = Nanos(400_000_000);
    let found = ws_load::throughput(&plan, PACKS, &AtomicBool::new(false)).unwrap();
    assert_eq!((found.outcome.end, found.echoes), (End::TimedOut, 0));
    assert!(found.outcome.detail.contains("nothing came back"));
}

/// What an endless run had found when it was interrupted after a while.
// timed: a run that was interrupted too early has found nothing: then it is given more time.
fn interrupted_after(wait: Duration) -> Throughput {
    let server = echo();
    let plan = plan(server.addr(), 10, 1);
    let interrupted = AtomicBool::new(false);
    let packs = Packs {
        duration: Nanos::secs(3600),
        ..PACKS
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(wait);
            interrupted.store(true, Ordering::Relaxed);
        });
        ws_load::throughput(&plan, packs, &interrupted).unwrap()
    })
}

#[test]
fn an_interrupt_keeps_the_average_so_far() {
    let waits = [500, 2_000, 8_000, 32_000].map(Duration::from_millis);
    let has_kept = waits.into_iter().any(|wait| {
        let found = interrupted_after(wait);
        assert_eq!(found.outcome.end, End::Interrupted);
        found.echoes > 0 && found.echoes_per_ms() > 0.0
    });
    assert!(has_kept, "no run kept an average");
}
