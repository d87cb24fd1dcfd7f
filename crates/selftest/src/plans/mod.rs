//! `websocket-bench selftest --plans N`: plans drawn at random, each against a server that knows what
//! it did. What the record of a run says must lie within what its server knows, in every combination
//! of what a plan can ask for.

mod case;
mod kept;
mod laws;
mod returns;
mod run;
mod shrink;

use crate::Conclusion;
use crate::error::Unmade;
use case::{Able, Case, case};
pub use kept::{KeptPlan, kept_plan};
use laws::Broken;
use plan::{Plan, Timestamps};
use record::VERSION;
use run::{Folder, Runner};
use serde_json::json;
use std::error::Error;
use std::io::{IsTerminal as _, Write as _};
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Plans at once: they wait more than they work.
const AT_ONCE: u64 = 12;
/// How often a plan that broke a law is carried out again, as it is and with no other beside it. A
/// machine that is busy can break one law once; one that is broken again is wrong.
const AGAIN: u32 = 4;
/// Most runs for making a plan smaller that broke a law, and how long they go on.
const TRIES: usize = 60;
const PATIENCE: Duration = Duration::from_secs(120);

/// Writes a plan as a file that the load generator reads.
pub type WritePlan = fn(&Plan) -> Result<String, Box<dyn Error + Send + Sync>>;

/// How many plans, and which.
#[derive(Debug)]
pub struct Plans<'a> {
    /// How many.
    pub count: NonZeroU64,
    /// The seed of the first; each further one has the next.
    pub seed: u64,
    /// Where the outcome is written besides stdout, as JSON.
    pub json: Option<&'a Path>,
    /// A plan as a file that the program reads.
    pub write_plan: WritePlan,
    /// The user wants it to end.
    pub interrupted: &'a AtomicBool,
}

/// A plan that broke a law.
struct Failure {
    seed: u64,
    /// As it was drawn.
    broken: Vec<Broken>,
    /// Made smaller; absent where it broke none when it was carried out again.
    smallest: Option<(Case, Vec<Broken>)>,
}

/// Carries out plans drawn at random, and prints those whose record does not agree with what their
/// server knows.
///
/// # Errors
/// In words, when this machine cannot carry them out or an output cannot be written.
pub fn plans(asked: &Plans<'_>) -> Result<Conclusion, Box<dyn Error>> {
    let able = able();
    let folder = Folder::new()?;
    let program = std::env::current_exe().map_err(Unmade::Program)?;
    let runner = Runner {
        folder: &folder,
        program: &program,
        write_plan: asked.write_plan,
        interrupted: asked.interrupted,
    };
    let last = asked.seed.wrapping_add(asked.count.get() - 1);
    anstream::println!(
        "{} plans drawn at random, seeds {} to {last}",
        asked.count,
        asked.seed
    );
    let began = Instant::now();
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let failures = Mutex::new(Vec::new());
    let stopped = Mutex::new(None);
    let alone = RwLock::new(());
    let shows_progress = std::io::stderr().is_terminal();
    let work = || {
        while !asked.interrupted.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= asked.count.get() || lock(&stopped).is_some() {
                return;
            }
            let seed = asked.seed.wrapping_add(number);
            match prove(&runner, (seed, number), able, &alone) {
                Ok(Proof::Interrupted) => return,
                Ok(Proof::Held) => {}
                Ok(Proof::Broken(failure)) => {
                    report(&failure, &runner);
                    lock(&failures).push(*failure);
                }
                Err(error) => *lock(&stopped) = Some(format!("the plan of seed {seed}: {error}")),
            }
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if shows_progress {
                let broken = lock(&failures).len();
                anstream::eprint!("\r{done} of {} plans, {broken} broke a law ", asked.count);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(asked.count.get()) {
            scope.spawn(work);
        }
    });
    if shows_progress {
        anstream::eprintln!();
    }
    if let Some(error) = lock(&stopped).take() {
        return Err(error.into());
    }
    let failures = failures
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let done = done.into_inner();
    let failed = failures.iter().filter(|of| of.smallest.is_some()).count();
    let once = failures.len() - failed;
    let mut words = match failed {
        0 => "each record agrees with what its server knows".to_owned(),
        failed => format!("{failed} do not agree with what their servers know"),
    };
    if once > 0 {
        words.push_str(&format!(
            "; {once} broke a law once, and none in {AGAIN} more runs"
        ));
    }
    anstream::println!(
        "{done} plans in {:.0} s: {words}",
        began.elapsed().as_secs_f64()
    );
    if let Some(path) = asked.json {
        write(path, asked, done, &failures)?;
    }
    Ok(match (done == asked.count.get(), failed) {
        (true, 0) => Conclusion::Proved,
        (false, 0) => Conclusion::Interrupted,
        _ => Conclusion::NotProved,
    })
}

/// What this machine lets plans use.
fn able() -> Able {
    Able {
        kernel_stamps: ws_load::probe_kernel_timestamps().is_ok(),
        uring: ws_load::probe_io_uring(Timestamps::User).is_ok(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What became of a plan.
enum Proof {
    Held,
    Broken(Box<Failure>),
    Interrupted,
}

/// Carries out the plan of a seed beside others. One that breaks a law is carried out again `alone`.
fn prove(
    runner: &Runner<'_>,
    (seed, number): (u64, u64),
    able: Able,
    alone: &RwLock<()>,
) -> Result<Proof, Unmade> {
    let drawn = case(seed, able);
    drawn.plan.validate()?;
    let broken = {
        let _beside = alone.read().unwrap_or_else(PoisonError::into_inner);
        runner.carry_out(&drawn, number)?
    };
    let Some(broken) = broken else {
        return Ok(Proof::Interrupted);
    };
    let Some(first) = broken.first() else {
        return Ok(Proof::Held);
    };
    anstream::eprintln!("seed {seed} breaks \"{}\": once more", first.law);
    let _alone = alone.write().unwrap_or_else(PoisonError::into_inner);
    let began = Instant::now();
    let mut attempt = |case: &Case| {
        if began.elapsed() > PATIENCE {
            return Vec::new();
        }
        let broken = runner.carry_out(case, number);
        broken.ok().flatten().unwrap_or_default()
    };
    let again = (0..AGAIN)
        .map(|_| attempt(&drawn))
        .find(|again| !again.is_empty());
    let smallest = again.map(|again| shrink::shrink(drawn, again, TRIES, &mut attempt));
    Ok(Proof::Broken(Box::new(Failure {
        seed,
        broken,
        smallest,
    })))
}

/// A failure as people read it: which laws, the smallest plan, how to see it again.
fn report(failure: &Failure, runner: &Runner<'_>) {
    let mut words = format!("\nseed {} breaks:\n", failure.seed);
    let list = |broken: &[Broken]| {
        broken
            .iter()
            .map(|of| format!("  {of}\n"))
            .collect::<String>()
    };
    words.push_str(&list(&failure.broken));
    match &failure.smallest {
        None => words.push_str(&format!(
            "and nothing in {AGAIN} more runs; a busy machine can do that\n"
        )),
        Some((case, broken)) => {
            let Case {
                plan,
                server,
                processes,
                ..
            } = case;
            words.push_str(&format!(
                "made smaller, {processes} processes, {server:?}:\n"
            ));
            words.push_str(&list(broken));
            let file = (runner.write_plan)(plan).unwrap_or_else(|error| error.to_string());
            for line in file.lines() {
                words.push_str(&format!("    {line}\n"));
            }
        }
    }
    let again = format!("websocket-bench selftest --plans 1 --seed {}", failure.seed);
    words.push_str(&format!("again: {again}\n"));
    anstream::print!("{words}");
    let _ = std::io::stdout().flush();
}

fn write(
    path: &Path,
    asked: &Plans<'_>,
    done: u64,
    failures: &[Failure],
) -> Result<(), Box<dyn Error>> {
    let words = |broken: &[Broken]| broken.iter().map(ToString::to_string).collect::<Vec<_>>();
    let failed: Vec<_> = failures
        .iter()
        .map(|failure| {
            json!({
                "seed": failure.seed,
                "broken": words(&failure.broken),
                "smallest": failure.smallest.as_ref().map(|(case, broken)| json!({
                    "case": case,
                    "broken": words(broken),
                })),
            })
        })
        .collect();
    let outcome = json!({
        "format": "websocket-shootout/plans",
        "version": VERSION,
        "seed": asked.seed,
        "plans": asked.count,
        "carried_out": done,
        "failed": failed,
    });
    std::fs::write(path, serde_json::to_string_pretty(&outcome)?)
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(())
}
