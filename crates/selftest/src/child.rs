//! This very program as a child: the generator as a process of its own, whose CPU time is its own
//! and which can be stopped without stopping the server.

use crate::error::Unmade;
use record::{Event, Json, StepRecord};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A hindered generator runs so long and is stopped so long, again and again.
pub(super) const RUNS: Duration = Duration::from_millis(50);
pub(super) const STOPS: Duration = Duration::from_millis(50);

/// Interval at which a child that is not hindered is checked for its end.
const LOOKS: Duration = Duration::from_millis(50);

/// What a child measured, and how it was hindered meanwhile.
pub(super) struct Measured {
    pub(super) step: StepRecord,
    pub(super) stops: Vec<Stop>,
}

/// A stop of a child, in nanoseconds of the realtime clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    /// It had been told to stop.
    pub(super) stopped_ns: u64,
    /// It was about to be told to go on.
    pub(super) continued_ns: u64,
}

fn realtime_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// Runs one step of `websocket-bench` with these arguments, apart by spaces, and returns what it
/// measured. A child is ended when `interrupted` becomes true.
///
/// # Errors
/// When it does not start or measures nothing.
pub(super) fn measure(
    arguments: &str,
    hindered: bool,
    interrupted: &AtomicBool,
) -> Result<Measured, Unmade> {
    let program = std::env::current_exe().map_err(Unmade::Program)?;
    let mut command = Command::new(&program);
    command
        .args(arguments.split_whitespace())
        .args(["--total-steps", "1", "--events", "-", "--no-progress"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    ends_with_us(&mut command);
    let child = command.spawn().map_err(|error| Unmade::Generator {
        program: program.clone(),
        error,
    })?;
    let mut child = Guard(child);
    let ended = AtomicBool::new(false);
    let pid = Pid::from_child(&child.0);
    let (step, stops) = std::thread::scope(|scope| {
        let attending = scope.spawn(|| attend(pid, hindered, &ended, interrupted));
        let step = first_step(&mut child.0);
        ended.store(true, Ordering::Relaxed);
        (step, attending.join().unwrap_or_default())
    });
    let mut words = String::new();
    if let Some(stderr) = &mut child.0.stderr {
        let _ = stderr.read_to_string(&mut words);
    }
    let _ = child.0.wait();
    let step = step.ok_or_else(|| Unmade::NothingMeasured(words.trim().to_owned()))?;
    Ok(Measured { step, stops })
}

/// Has a child end with the thread that starts it. A stopped one would outlive it for ever.
pub(super) fn ends_with_us(command: &mut Command) {
    let tie = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: the system call is async-signal-safe and touches no memory of this process.
    unsafe { command.pre_exec(tie) };
}

/// The record of the first step among a child's events, once these have ended.
fn first_step(child: &mut Child) -> Option<StepRecord> {
    let lines = BufReader::new(child.stdout.take()?).lines();
    let mut step = None;
    for line in lines.map_while(Result::ok) {
        if let Ok(Event::Step { record, .. }) = Event::from_json(&line) {
            step.get_or_insert(*record);
        }
    }
    step
}

/// Stays with a child until it has ended: ends it on an interrupt, and stops it again and again if
/// it is to be hindered. The caller has not waited for it, so that its number is still its own.
fn attend(pid: Pid, hindered: bool, ended: &AtomicBool, interrupted: &AtomicBool) -> Vec<Stop> {
    let mut stops = Vec::new();
    let signal = |signal| {
        let _ = kill_process(pid, signal);
    };
    while !ended.load(Ordering::Relaxed) {
        if interrupted.load(Ordering::Relaxed) {
            // Ends a stopped one, too.
            signal(Signal::KILL);
            return stops;
        }
        if !hindered {
            std::thread::sleep(LOOKS);
            continue;
        }
        std::thread::sleep(RUNS);
        signal(Signal::STOP);
        let stopped_ns = realtime_ns();
        std::thread::sleep(STOPS);
        stops.push(Stop {
            stopped_ns,
            continued_ns: realtime_ns(),
        });
        signal(Signal::CONT);
    }
    stops
}

/// Ends a child that has not been waited for.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
