//! Runs in which a worker hangs: they end, keep what was measured, and name the worker.

use super::controller::ANSWER;
use super::local::Local;
use super::{Controller, Measured};
use crate::io::{Backend, Epoll, Handler, Turn, Waker};
use crate::net::Target;
use crate::scenario::Work;
use crate::verify::Keeper;
use crate::worker::WorkerPool;
use plan::{Audience, Connect, Load, Nanos, Plan, Timestamps};
use record::{End, Event};
use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use test_servers::{NullOptions, NullServer};

/// Samples of a step that does not end before it is stopped.
const LONG: u32 = 3_000_000;

thread_local! {
    /// How many backends were made on this thread so far, and the switch that stops the second.
    static MADE: RefCell<(u32, Arc<AtomicBool>)> = RefCell::default();
}

/// epoll in a thread that can be stopped.
struct Stoppable {
    epoll: Epoll,
    stopped: Arc<AtomicBool>,
}

impl Backend for Stoppable {
    type Control = <Epoll as Backend>::Control;

    fn new(timestamps: Timestamps) -> io::Result<Self> {
        let stopped = MADE.with_borrow_mut(|(made, stop)| {
            *made += 1;
            let stops = *made == 2;
            if stops {
                Arc::clone(stop)
            } else {
                Arc::default()
            }
        });
        let epoll = Epoll::new(timestamps)?;
        Ok(Self { epoll, stopped })
    }

    fn begin(&mut self) -> io::Result<()> {
        self.epoll.begin()
    }

    fn waker(&self) -> Waker {
        self.epoll.waker()
    }

    fn control(&mut self) -> &mut Self::Control {
        self.epoll.control()
    }

    fn turn<H: Handler<Self::Control>>(
        &mut self,
        timeout: Duration,
        handler: &mut H,
    ) -> io::Result<Turn> {
        while self.stopped.load(Ordering::Relaxed) {
            // timed: polls until the test lets it go on.
            std::thread::sleep(Duration::from_millis(5));
        }
        self.epoll.turn(timeout, handler)
    }
}

/// What a test does when an event is told.
type Meanwhile<'a> = &'a dyn Fn(&Event, &Switches);

/// What a test may change in a run.
#[derive(Default)]
struct Switches {
    stop: Arc<AtomicBool>,
    interrupted: AtomicBool,
    stopped_at: Cell<Option<Instant>>,
}

impl Switches {
    // timed: when the worker was stopped, for `run`.
    fn stop(&self) {
        let first = self.stopped_at.get().unwrap_or_else(Instant::now);
        self.stopped_at.set(Some(first));
        self.stop.store(true, Ordering::Relaxed);
    }

    fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }
}

/// Runs a plan with two workers against a server that does everything right. Besides what came of
/// it: how long it went on after the worker was stopped.
// timed: it is held against times that are many times as long, or after which the worker is given up.
fn run(plan: Plan, meanwhile: Meanwhile<'_>) -> (Measured, Duration) {
    let server = NullServer::start(NullOptions::default()).unwrap();
    let plan = plan.with(|plan| {
        plan.target.url = format!("ws://{}/ws", server.addr());
        plan.generator.threads = 2;
    });
    let switches = Switches::default();
    MADE.set((0, Arc::clone(&switches.stop)));
    let target = Arc::new(Target::new(&plan).unwrap());
    let pool =
        WorkerPool::start_on::<Stoppable>(&plan, Arc::clone(&target), Keeper::Process, Work::Plan)
            .unwrap();
    let workers = Local::with(&plan, target, pool);
    let mut on_event = |event: &Event| meanwhile(event, &switches);
    let controller = Controller::new(&plan, workers, None, &switches.interrupted, &mut on_event);
    let measured = controller.carry_out();
    let took = switches.stopped_at.get().unwrap().elapsed();
    switches.stop.store(false, Ordering::Relaxed);
    (measured, took)
}

fn echo() -> Plan {
    crate::test_plan("ws://127.0.0.1:1/ws").with(|plan| {
        plan.audience = Audience::Sender;
    })
}

fn assert_lost(measured: &Measured) {
    let outcome = &measured.outcome;
    assert_eq!(outcome.end, End::WorkerLost, "{}", outcome.detail);
    let names_it = outcome.detail.contains("worker thread 2 of 2");
    assert!(names_it, "{}", outcome.detail);
}

#[test]
fn a_worker_that_hangs_before_a_step_leaves_the_steps_before() {
    let (measured, _) = run(echo(), &|event, switches| {
        if matches!(event, Event::Step { .. }) {
            switches.stop();
        }
    });
    assert_lost(&measured);
    assert_eq!(measured.steps.len(), 1);
    assert_eq!(measured.steps[0].samples, 20);
}

/// The server is not blamed for what waits, and the other worker's part is kept.
#[test]
fn a_worker_that_hangs_in_a_step_leaves_what_the_others_measured() {
    let mut plan = echo();
    plan.load = Load::closed(4, LONG);
    plan.limits.sample_timeout = Nanos(3_000_000_000);
    let (measured, _) = run(plan, &|event, switches| {
        if matches!(event, Event::Measuring { samples: 1.., .. }) {
            switches.stop();
        }
    });
    assert_lost(&measured);
    assert_eq!(measured.steps.len(), 1);
    let step = &measured.steps[0];
    assert!(step.completion.as_ref().is_some_and(|c| c.count > 0));
    assert!(step.faults.is_empty(), "{}", step.faults);
}

#[test]
fn a_worker_that_hangs_in_a_hold_ends_it() {
    let mut plan = crate::test_plan("ws://127.0.0.1:1/ws");
    plan.audience = Audience::Sender;
    plan.load = Load::Connect(Connect {
        rate: None,
        arrivals: plan::Arrivals::Constant,
        hold: Nanos::secs(3600),
        ping_interval: Nanos(100_000_000),
        ping_timeout: Nanos(100_000_000),
    });
    let (measured, took) = run(plan, &|event, switches| {
        if matches!(event, Event::Holding { .. }) {
            switches.stop();
        }
    });
    assert_lost(&measured);
    assert_eq!(measured.steps.len(), 1);
    assert!(took < Duration::from_secs(1800), "{took:?}");
}

/// Long before the worker would be given up.
#[test]
fn the_user_does_not_wait_for_a_worker_that_hangs() {
    for before_the_step in [true, false] {
        let mut plan = echo();
        plan.load = Load::closed(4, if before_the_step { 20 } else { LONG });
        let (measured, took) = run(plan, &|event, switches| {
            let is_time = match event {
                Event::Step { .. } => before_the_step,
                Event::Measuring { samples: 1.., .. } => true,
                _ => false,
            };
            if is_time {
                switches.stop();
                switches.interrupt();
            }
        });
        let outcome = &measured.outcome;
        assert_eq!(outcome.end, End::Interrupted, "{}", outcome.detail);
        assert_eq!(measured.steps.len(), 1);
        assert!(took < ANSWER, "{took:?}");
    }
}
