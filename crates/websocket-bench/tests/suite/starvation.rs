//! A generator that is stopped again and again, by the kernel's stamps and by its own.
//!
//! On a busy machine any single run may be disturbed, and its server late as well, hence a few tries and the server's own times beside those of an unhindered run: what
//! must show is that the kernel's stamps can withstand what the generator's own never can.

use crate::handmade;
use crate::support::{bench, record, url};
use ::record::{Latency, Recorder, Verdict};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const TRIES: u32 = 20;
/// How long the server takes to answer.
const DELAY: Duration = Duration::from_millis(30);
/// How long the generator is stopped.
const STOP: Duration = Duration::from_millis(50);
/// How long it may run in between, when it is stopped at any time: no multiple of that and the stop
/// is near the time between two requests, so that every phase comes.
const RUNS: Duration = Duration::from_millis(60);
const PATIENCE: Duration = Duration::from_secs(300);

/// When the generator is stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stops {
    Never,
    /// With each request, until the answer has been there for a while: no send is hindered.
    WhileAnswered,
    /// Without regard to what it does.
    Freely,
}

/// The median and the 90th percentile.
#[derive(Debug)]
struct Figures {
    p50_ns: u64,
    p90_ns: u64,
}

impl Figures {
    fn new(latency: &Latency) -> Self {
        Self {
            p50_ns: latency.p50_ns,
            p90_ns: latency.p90_ns,
        }
    }

    /// Within 5 percent or 100 us.
    fn are_like(&self, others: &Self) -> bool {
        let like = |one: u64, other: u64| one.abs_diff(other) <= (other / 20).max(100_000);
        like(self.p50_ns, others.p50_ns) && like(self.p90_ns, others.p90_ns)
    }
}

fn signal(child: &Child, signal: i32) {
    // SAFETY: the child has not been waited for, so the id is its own.
    unsafe { libc::kill(child.id() as i32, signal) };
}

// timed: a stop that lasts longer hinders the generator more; a try that is disturbed is made again.
fn stop_once(child: &Child) {
    signal(child, libc::SIGSTOP);
    thread::sleep(STOP);
    signal(child, libc::SIGCONT);
}

/// Waits for the end of a child that it stops again and again.
// timed: the pauses set when it is stopped, and a try that is disturbed is made again; the end is only for
// a hang.
fn hinder(child: &mut Child, stops: Stops, requests: &Receiver<()>) {
    let end = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("the run hangs");
        }
        match stops {
            Stops::Freely => {
                thread::sleep(RUNS);
                stop_once(child);
            }
            Stops::WhileAnswered if requests.recv_timeout(RUNS).is_ok() => stop_once(child),
            Stops::Never | Stops::WhileAnswered => thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// A run: what it reports, and what the server says.
#[derive(Debug)]
struct Run {
    reported: Figures,
    truth: Figures,
}

/// Reports from the intended sends, or from the real ones where these are hindered; `None` where the run
/// says that this machine disturbed it.
fn measure(timestamps: &str, stops: Stops) -> Option<Run> {
    let (request, requests) = channel();
    let truth = Arc::new(Mutex::new(Recorder::default()));
    let answers = Arc::clone(&truth);
    let addr = handmade::slow(
        DELAY,
        move || {
            let _ = request.send(());
        },
        move |took| answers.lock().unwrap().record(took.as_nanos() as u64),
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let arguments = format!(
        "echo {} --initial-clients 50 --rate 10 --arrivals constant --duration 2500ms --seed 3 \
         --threads 1 --limit-rtt 20s --timestamps {timestamps} --json {}",
        url(addr),
        path.display()
    );
    let mut command: Command = bench();
    let mut child = command.args(arguments.split_whitespace()).spawn().unwrap();
    hinder(&mut child, stops, &requests);
    let record = record(&path);
    let step = &record.steps[0];
    assert_ne!(step.verdict, Verdict::Fail, "{:?}", step.verdict_reasons);
    if step.verdict != Verdict::Pass {
        return None;
    }
    let latency = match stops {
        Stops::Freely => &step.uncorrected,
        Stops::Never | Stops::WhileAnswered => &step.completion,
    };
    let truth = truth.lock().unwrap().latency();
    Some(Run {
        reported: Figures::new(latency.as_ref().unwrap()),
        truth: Figures::new(truth.as_ref().unwrap()),
    })
}

/// In one of a few tries the kernel's figures are those of a generator that was not hindered, and
/// the generator's own are not.
fn assert_withstands(stops: Stops) {
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let measuring =
            |timestamps: &'static str, stops| thread::spawn(move || measure(timestamps, stops));
        let runs = [
            measuring("kernel", Stops::Never),
            measuring("kernel", stops),
            measuring("user", stops),
        ];
        let [Some(free), Some(kernel), Some(user)] = runs.map(|run| run.join().unwrap()) else {
            continue;
        };
        let is_right =
            |run: &Run| run.reported.are_like(&free.reported) || run.reported.are_like(&run.truth);
        if is_right(&kernel) && !is_right(&user) {
            return;
        }
        seen.push((free, kernel, user));
    }
    panic!("unhindered, with the kernel's stamps, with its own: {seen:#?}");
}

#[test]
fn a_generator_that_is_stopped_while_it_waits_reports_what_an_unhindered_one_does() {
    assert_withstands(Stops::WhileAnswered);
}

#[test]
fn a_generator_that_is_stopped_at_any_time_reports_it_from_its_real_sends() {
    assert_withstands(Stops::Freely);
}
