//! Builds one server after the other, verifies several variants at the same time, and hands on what
//! came of it in the order of the servers and their variants.
//!
//! Conformance is not timed, so that rows may share the cores. A build uses all of them by itself.

use super::row::{self, Row};
use super::{Choice, Done, What};
use crate::commands::Context;
use crate::commands::build::{order, told};
use crate::rows::Wanted;
use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

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
    let (ready, waiting) = mpsc::channel();
    let waiting = Mutex::new(waiting);
    let rows: usize = all.iter().map(|wanted| wanted.variants.len()).sum();
    thread::scope(|scope| {
        // Children end with the thread that has started them: each row has one from start to end.
        for _ in 0..choice.rows_at_once().min(rows) {
            let (found, waiting) = (found.clone(), &waiting);
            scope.spawn(move || verify_waiting(context, choice, threads, waiting, &found));
        }
        scope.spawn(move || build_all(context, choice, all, &found, &ready));
        in_order(news, on_done);
    });
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
    // Behind what the user has ended.
    for (server, done) in early.into_values() {
        on_done(server, done);
    }
}

fn build_all<'a>(
    context: &Context<'_>,
    choice: &Choice,
    all: &'a [Wanted<'a>],
    found: &Sender<Numbered<'a>>,
    ready: &Sender<(usize, Row<'a>)>,
) {
    let mut number = 0;
    for wanted in all {
        let server = wanted.entry.name.as_str();
        // In one piece: rows report from other threads.
        let line = format!("{server}: building\n");
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
                    version: built.version,
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

fn verify_waiting<'a>(
    context: &Context<'_>,
    choice: &Choice,
    threads: usize,
    waiting: &Mutex<Receiver<(usize, Row<'a>)>>,
    found: &Sender<Numbered<'a>>,
) {
    loop {
        let next = waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok((number, row)) = next else {
            return;
        };
        let mut said = String::new();
        if let Some(verified) = row::verify(context, choice, &row, threads, &mut said) {
            let what = What::Verified(row.variant.name.clone(), verified);
            let done = Done { said, what };
            let _ = found.send((number, &row.wanted.entry.name, done));
        }
    }
}
