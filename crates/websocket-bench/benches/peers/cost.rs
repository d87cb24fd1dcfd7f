//! CPU time of a whole process tree, and what one more message adds to it.

use crate::groups::Entry;
use crate::pulse::Pulse;
use crate::tools::{Bench, Workload};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A tool that takes longer is ended, and has failed.
const PATIENCE: Duration = Duration::from_secs(240);

/// CPU nanoseconds that one more message costs.
pub(crate) fn marginal(entry: &Entry, program: &Path, bench: &Bench) -> Result<f64, String> {
    let [little, much] = entry.samples;
    let cost = |samples| cpu_of(entry, program, bench, samples);
    let (before, after) = (cost(little)?, cost(much)?);
    if after <= before {
        return Err("more messages cost no more CPU: the machine is too restless".into());
    }
    Ok((after - before) / ((much - little) * entry.messages) as f64)
}

/// CPU nanoseconds of one run, from start to end.
fn cpu_of(entry: &Entry, program: &Path, bench: &Bench, samples: u64) -> Result<f64, String> {
    let tool = crate::tool(entry.tool);
    let command = (tool.command)(program, bench, entry.load, samples);
    let paced = tool.listens && entry.load.workload == Workload::Broadcast;
    let pulse = paced.then(|| Pulse::start(bench.port, samples));
    let beside = tool.beside.map(|beside| beside().spawn()).transpose();
    let mut beside = beside.map_err(|error| format!("what it needs does not start: {error}"))?;
    let used = run(command, &bench.directory);
    if let Some(beside) = &mut beside {
        let _ = beside.kill();
        let _ = beside.wait();
    }
    if let Some(pulse) = pulse {
        pulse.finish()?;
    }
    used
}

fn run(mut command: Command, directory: &Path) -> Result<f64, String> {
    let log = directory.join("output.log");
    let output = File::create(&log).map_err(|error| error.to_string())?;
    let errors = output.try_clone().map_err(|error| error.to_string())?;
    let before = children_cpu_ns();
    let mut child = command
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())?;
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if since.elapsed() > PATIENCE {
            // SAFETY: kill takes any process group; this one is the child's, which is not waited
            // for yet, so that no other process has its number.
            unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
            let _ = child.wait();
            return Err(format!("not done after {} s", PATIENCE.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if !status.success() {
        let text = fs::read_to_string(&log).unwrap_or_default();
        let tail: Vec<&str> = text.lines().rev().take(3).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        return Err(format!("{status}: {}", tail.join(" | ")));
    }
    Ok(children_cpu_ns() - before)
}

/// CPU time of all children that have ended and been waited for, and of theirs.
fn children_cpu_ns() -> f64 {
    // SAFETY: an all-zero rusage is valid, and the call fills it; it outlives the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}
