//! Builds one server after the other, verifies several variants at the same time, and hands on what
//! came of it in the order of the servers and their variants.
//!
//! Conformance is bounded in time and not measured, so rows may share the cores, and builds run
//! beside them. Where a wait ran out, the row is verified again when nothing runs beside it, and
//! only that counts: a slow moment of the machine is no fault of the server.

use super::row::{self, Beside, Row};
use super::{Choice, Done, What};
use crate::commands::Context;
use crate::commands::build::{order, told};
use crate::rows::Wanted;
use project::contestant;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// A thing that is done, with its place in the output and its server.
type Numbered<'a> = (usize, &'a str, Done);

/// `on_done` is told the server. When the user ends it, what was not finished is left out.
pub(super) fn verify(
    context: &Context<'_>,
    choice: &Choice,
    all: &[Wanted<'_>],
    threads: usize,
    on_done: &mut dyn FnMut(&str, Done),
) {
    let (found, news) = mpsc::channel();
    let (ready, waiting) = mpsc::channel::<(usize, Row<'_>)>();
    let waiting = Mutex::new(waiting);
    let again = Mutex::new(Vec::new());
    let rows: usize = all.iter().map(|wanted| wanted.variants.len()).sum();
    let begun = AtomicUsize::new(0);
    let started = Instant::now();
    let begins = |wanted: &Wanted<'_>| choice.begins(&wanted.entry.name, started.elapsed());
    let servers = Mutex::new(BTreeSet::new());
    // All variants of a server, or none.
    let is_wanted = |wanted: &Wanted<'_>| {
        let mut begun = unpoisoned(&servers);
        let name = &wanted.entry.name;
        begun.contains(name) || begins(wanted) && begun.insert(name.clone())
    };
    let run = |row: &Row<'_>, beside| {
        let name = contestant(&row.wanted.entry.name, &row.variant.name);
        let line = match (beside, rows) {
            (Beside::Nothing, 2..) => format!("{name}: verifying again\n"),
            _ => {
                let before = begun.fetch_add(1, Ordering::Relaxed);
                format!("{name}: verifying ({} of {rows})\n", before + 1)
            }
        };
        anstream::eprint!("{line}");
        let mut said = String::new();
        let verified = row::verify(context, choice, row, threads, beside, &mut said)?;
        Some((said, verified))
    };
    let beside = match rows {
        // It is built before.
        1 => Beside::Nothing,
        _ => Beside::Others,
    };
    thread::scope(|scope| {
        // Children end with the thread that has started them: each row has one from start to end.
        for _ in 0..choice.rows_at_once().min(rows) {
            let (found, waiting, again, run) = (found.clone(), &waiting, &again, &run);
            let is_wanted = &is_wanted;
            scope.spawn(move || {
                let next = || unpoisoned(waiting).recv();
                while let Ok((number, row)) = next() {
                    if !is_wanted(row.wanted) {
                        continue;
                    }
                    let Some((said, verified)) = run(&row, beside) else {
                        continue;
                    };
                    let (server, repeat) = (row.wanted.entry.name.as_str(), verified.again);
                    let _ = found.send((number, server, Done::row(&row, said, verified)));
                    if repeat {
                        unpoisoned(again).push((number, row));
                    }
                }
            });
        }
        let begins = &begins;
        scope.spawn(move || build_all(context, choice, all, begins, &found, &ready));
        in_order(news, on_done);
    });
    let mut again = again.into_inner().unwrap_or_else(PoisonError::into_inner);
    again.sort_by_key(|(number, _)| *number);
    for (_, row) in again {
        if let Some((said, verified)) = run(&row, Beside::Nothing) {
            on_done(&row.wanted.entry.name, Done::row(&row, said, verified));
        }
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_order(news: Receiver<Numbered<'_>>, on_done: &mut dyn FnMut(&str, Done)) {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (number, server, done) in news {
        early.insert(number, (server, done));
        while let Some((server, done)) = early.remove(&next) {
            on_done(server, done);
            next += 1;
        }
    }
    // Behind what was not begun, or the user has ended.
    for (server, done) in early.into_values() {
        on_done(server, done);
    }
}

fn build_all<'a>(
    context: &Context<'_>,
    choice: &Choice,
    all: &'a [Wanted<'a>],
    begins: &dyn Fn(&Wanted<'_>) -> bool,
    found: &Sender<Numbered<'a>>,
    ready: &Sender<(usize, Row<'a>)>,
) {
    let mut number = 0;
    for (before, wanted) in all.iter().enumerate() {
        if !begins(wanted) {
            continue;
        }
        let server = wanted.entry.name.as_str();
        // In one piece: rows report from other threads.
        let line = format!("{server}: building ({} of {})\n", before + 1, all.len());
        anstream::eprint!("{line}");
        let order = order(context, wanted);
        let builds = if choice.skip_build {
            order.receipts()
        } else {
            order.build(false, &mut |_| {})
        };
        if builds.interrupted() || context.interrupt.requested() {
            return;
        }
        let said = told(context, wanted, &builds);
        let mut without = Vec::new();
        let mut rows = Vec::new();
        for (name, outcome) in builds.0 {
            match (outcome, wanted.manifest.variant(&name)) {
                (Ok(built), Some(variant)) => rows.push(Row {
                    wanted,
                    variant,
                    built,
                }),
                (Ok(_), None) => {}
                (Err(why), _) => without.push((name, why)),
            }
        }
        let what = What::Built(without);
        let _ = found.send((number, server, Done { said, what }));
        for (row, number) in rows.into_iter().zip(number + 1..) {
            let _ = ready.send((number, row));
        }
        number += 1 + wanted.variants.len();
    }
}
