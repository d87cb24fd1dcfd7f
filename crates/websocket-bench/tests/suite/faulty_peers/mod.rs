//! The client against every faulty peer of `test_servers::faulty`: with either backend and each
//! workload it ends in time, with its documented exit code and a line that says what happened,
//! within a bound of memory, and prints nothing of the peer's bytes raw.
//!
//! Each behaviour meets each workload, with the one backend or the other in turn; `TESTS=long` runs
//! both. Many runs at a time, since most of them wait. `FAULTY_PEER=NAME` runs the behaviours whose name
//! holds NAME and shows what each run printed; with `--nocapture` the table of all runs is shown.

mod certificates;
mod run;

use certificates::Certificates;
use run::{Case, Ran, Workload};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use test_servers::faulty::{Family, behaviours};

/// Runs at a time, of all tests together. One that keeps a core busy counts for several.
const AT_ONCE: usize = 24;
const BUSY: usize = 6;

static FREE: Mutex<usize> = Mutex::new(AT_ONCE);
static FREED: Condvar = Condvar::new();

#[test]
fn handshakes() {
    survive(Family::Handshake);
}

#[test]
fn frames() {
    survive(Family::Framing);
}

#[test]
fn streams() {
    survive(Family::Streams);
}

#[test]
fn floods() {
    survive(Family::Floods);
}

#[test]
fn tls() {
    survive(Family::Tls);
}

#[test]
fn lies() {
    survive(Family::Lies);
}

#[test]
fn resets() {
    survive(Family::Resets);
}

/// Runs the client against each behaviour of a family, in every way.
fn survive(family: Family) {
    let only = std::env::var("FAULTY_PEER").ok();
    let certificates = Certificates::issue();
    let is_chosen = |name: &str| only.as_ref().is_none_or(|of| name.contains(of));
    let every_backend = std::env::var("TESTS").is_ok_and(|which| which == "long");
    let backends = run::backends();
    let cases: VecDeque<Case> = behaviours(family)
        .iter()
        .flat_map(|behaviour| Workload::ALL.map(|workload| (behaviour, workload)))
        .enumerate()
        .filter(|(_, (behaviour, _))| is_chosen(behaviour.name))
        .flat_map(|(number, (behaviour, workload))| {
            let ios = match every_backend {
                true => backends.clone(),
                false => vec![backends[number % backends.len()]],
            };
            ios.into_iter().map(move |io| Case {
                behaviour,
                io,
                workload,
            })
        })
        .collect();
    let count = cases.len();
    let cases = Mutex::new(cases);
    let ran = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(count) {
            scope.spawn(|| {
                loop {
                    let Some(case) = lock(&cases).pop_front() else {
                        return;
                    };
                    let weight = if case.behaviour.busy { BUSY } else { 1 };
                    take(weight);
                    let outcome = case.run(&certificates);
                    give(weight);
                    lock(&ran).push(outcome);
                }
            });
        }
    });
    let mut ran = lock(&ran);
    ran.sort_by_key(|ran| (ran.case.behaviour.name, ran.case.io, ran.case.workload));
    eprintln!(
        "{:<32} {:<6} {:<9} {:>4} {:>6} {:>5}",
        "behaviour", "io", "workload", "exit", "s", "MiB"
    );
    for ran in ran.iter() {
        eprintln!("{}", ran.row());
        if only.is_some() {
            eprintln!("{}", ran.outputs());
        }
    }
    let wrong: Vec<&Ran> = ran.iter().filter(|ran| !ran.is_right()).collect();
    let told: String = wrong.iter().map(|ran| ran.report()).collect();
    assert!(
        wrong.is_empty(),
        "{} of {count} runs did not end as they should:\n{told}",
        wrong.len()
    );
}

fn take(weight: usize) {
    let free = lock(&FREE);
    let waited = FREED.wait_while(free, |free| *free < weight);
    *waited.unwrap_or_else(PoisonError::into_inner) -= weight;
}

fn give(weight: usize) {
    *lock(&FREE) += weight;
    FREED.notify_all();
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
