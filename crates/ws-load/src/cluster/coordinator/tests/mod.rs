//! Runs over sites that are threads of the test, with channels for a transport. Every command and
//! report goes through bytes, and the clock of a site may be set as far apart as one likes.

mod clocks;
mod connections;
mod ends;
mod faults;
mod figures;
mod populations;

use super::run_on;
use crate::Measured;
use crate::cluster::{ClockRelation, Command, NodeTransport, Report, Share, Site, serve};
use plan::{Arrivals, Audience, Clients, Load, Nanos, OpenLoop, Plan, Timestamps};
use record::{End, Event};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

/// 20 broadcasts to 10 clients, 4 at a time.
fn plan(addr: SocketAddr) -> Plan {
    crate::test_plan(&format!("ws://{addr}/ws")).with(|plan| {
        plan.limits.time = Nanos::secs(20);
        plan.limits.sample_timeout = Nanos::secs(30);
        plan.generator.seed = 11;
        plan.clients = Clients::steps(10, 10, Some(1));
    })
}

/// 20 samples, 4 at a time.
fn closed() -> Load {
    Load::closed(4, 20)
}

fn open(rate: f64) -> Load {
    Load::Open(OpenLoop {
        rate,
        ramp: None,
        arrivals: Arrivals::Poisson,
        duration: Nanos(500_000_000),
        warm_up: Nanos(100_000_000),
    })
}

/// As JSON and back, as any transport has to be able to.
fn through_bytes<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let bytes = serde_json::to_vec(value).expect("it can be written");
    serde_json::from_slice(&bytes).expect("it can be read")
}

/// The transport to a site in this process, whose clock is said to be `clock` apart.
struct Channel {
    commands: Mutex<Option<mpsc::Sender<Command>>>,
    clock: ClockRelation,
}

impl NodeTransport for Arc<Channel> {
    fn tell(&self, command: Command) {
        let commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(commands) = &*commands {
            let _ = commands.send(through_bytes(&command).shifted(-self.clock.offset_ns));
        }
    }

    fn clock(&self) -> ClockRelation {
        self.clock
    }
}

/// Sites that are threads of this process.
struct Field {
    channels: Vec<Arc<Channel>>,
    threads: Vec<JoinHandle<()>>,
    said: mpsc::Sender<(u32, Report)>,
    heard: Option<mpsc::Receiver<(u32, Report)>>,
}

impl Field {
    fn new(plan: &Plan, clocks: &[ClockRelation]) -> Self {
        let (said, heard) = mpsc::channel();
        let mut field = Self {
            channels: Vec::new(),
            threads: Vec::new(),
            said: said.clone(),
            heard: Some(heard),
        };
        for (number, clock) in clocks.iter().enumerate() {
            let share = Share {
                number: number as u32,
                of: clocks.len() as u32,
            };
            let (commands, obeyed) = mpsc::channel();
            let (said, offset_ns) = (said.clone(), clock.offset_ns);
            let reports = move |report: Report| {
                let report = through_bytes(&report).shifted(offset_ns);
                let _ = said.send((share.number, report));
            };
            let plan = plan.clone();
            field.threads.push(std::thread::spawn(move || {
                serve(&plan, share, obeyed, Box::new(reports)).expect("the target is usable");
            }));
            field.channels.push(Arc::new(Channel {
                commands: Mutex::new(Some(commands)),
                clock: *clock,
            }));
        }
        field
    }

    /// The site gets no more commands, and the coordinator is told that it is lost.
    fn lose(channel: &Channel, number: u32, said: &mpsc::Sender<(u32, Report)>) {
        let _ = said.send((number, Report::Lost("it does not answer".to_owned())));
        *channel.commands.lock().unwrap() = None;
    }

    fn run(
        mut self,
        plan: &Plan,
        interrupted: &AtomicBool,
        on_event: &mut dyn FnMut(&Event),
    ) -> Measured {
        let sites = self
            .channels
            .iter()
            .enumerate()
            .map(|(number, channel)| Site {
                name: format!("site-{number}"),
                transport: Box::new(Arc::clone(channel)),
            });
        let heard = self.heard.take().expect("it runs once");
        let measured = run_on(plan, sites.collect(), heard, None, interrupted, on_event);
        self.channels.clear();
        for thread in self.threads {
            thread.join().expect("no site panics");
        }
        measured.expect("there are sites")
    }
}

fn run_with(plan: &Plan, clocks: &[ClockRelation]) -> Measured {
    Field::new(plan, clocks).run(plan, &AtomicBool::new(false), &mut |_| {})
}

/// Runs a plan on so many sites of one clock.
fn run(plan: &Plan, sites: usize) -> Measured {
    run_with(plan, &vec![ClockRelation::default(); sites])
}

/// Measures again while this machine was too busy to send by the clock, which is no defect of
/// anything that is tested here.
fn calmly(measure: impl Fn() -> Measured) -> Measured {
    let mut tries = 10;
    loop {
        let measured = measure();
        tries -= 1;
        if measured.outcome.end != End::GeneratorLimited || tries == 0 {
            return measured;
        }
    }
}

fn echo(plan: Plan) -> Plan {
    plan.with(|plan| {
        plan.audience = Audience::Sender;
    })
}

fn kernel_stamps(plan: Plan) -> Plan {
    plan.with(|plan| {
        plan.generator.timestamps = Timestamps::Kernel;
    })
}
