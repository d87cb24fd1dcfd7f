//! The second half of `make bench-generator`: what other load generators spend on the same work.
//!
//! Every tool drives (or, where it cannot, listens to) the same null server on the other core. Each
//! is run twice, with little and with much to do, and the difference of the CPU time of its whole
//! process tree is divided by the difference of the messages: start-up, compilation and
//! connections cancel out. Tools that are not installed are named with the command that brings
//! them; nothing is installed here. `--rounds N`; `--only NAME,NAME` measures these alone.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

#[path = "../common/mod.rs"]
mod common;
mod cost;
mod groups;
mod pulse;
mod tools;

use common::{median, option, pin};
use groups::{Group, groups};
use std::collections::HashMap;
use std::path::PathBuf;
use test_servers::{NullOptions, NullServer};
use tools::{Bench, TOOLS, Tool};

fn main() {
    let rounds: usize = option("--rounds").and_then(|n| n.parse().ok()).unwrap_or(3);
    let only = option("--only");
    let wanted = |tool: &Tool| {
        let named = |names: &String| names.split(',').any(|name| name == tool.name);
        only.as_ref().is_none_or(named)
    };
    let directory = tempfile::tempdir().expect("a temporary directory");
    // Threads and children inherit the affinity of the thread that starts them.
    pin(0);
    let server = NullServer::start(NullOptions::default()).expect("the null server starts");
    pin(1);
    let bench = Bench {
        port: server.addr().port(),
        directory: directory.path().to_owned(),
    };
    let found: HashMap<&str, PathBuf> = TOOLS
        .iter()
        .filter(|tool| wanted(tool))
        .filter_map(|tool| Some((tool.name, (tool.find)(&bench)?)))
        .collect();
    println!(
        "{} clients, padding {}, {rounds} rounds, medians; server on core 0, one tool at a time on core 1",
        tools::CLIENTS,
        tools::PADDING
    );
    for tool in TOOLS.iter().filter(|tool| wanted(tool)) {
        match found.get(tool.name) {
            Some(_) => println!("  {:<30} of a message it checks {}", tool.name, tool.checks),
            None => println!("  {:<30} not installed: {}", tool.name, tool.install),
        }
    }
    for group in groups() {
        measure(&group, &bench, &found, rounds);
    }
}

/// Measures the tools of a group in turn and prints a line for each.
fn measure(group: &Group, bench: &Bench, found: &HashMap<&str, PathBuf>, rounds: usize) {
    println!("{}", group.title);
    let here: Vec<_> = group
        .entries
        .iter()
        .filter_map(|entry| Some((entry, found.get(entry.tool)?)))
        .collect();
    let mut costs: Vec<Vec<f64>> = vec![Vec::new(); here.len()];
    let mut failures: Vec<Option<String>> = vec![None; here.len()];
    for _ in 0..rounds {
        for (at, (entry, program)) in here.iter().enumerate() {
            if failures[at].is_some() {
                continue;
            }
            match cost::marginal(entry, program, bench) {
                Ok(ns) => costs[at].push(ns),
                Err(why) => failures[at] = Some(why),
            }
        }
    }
    let column = |name: &str| {
        let at = here.iter().position(|(entry, _)| entry.tool == name)?;
        failures[at].is_none().then(|| costs[at].clone())
    };
    let (bare, ours) = (column(tools::BARE), column(tools::OURS));
    for (at, (entry, _)) in here.iter().enumerate() {
        if let Some(why) = &failures[at] {
            println!("  {:<30} failed: {why}", entry.tool);
            continue;
        }
        let spread: Vec<String> = costs[at]
            .iter()
            .map(|ns| format!("{:.2}", ns / 1e3))
            .collect();
        println!(
            "  {:<30} {:8.2} us CPU per {}  {} of the bare loop's  {} of websocket-bench's  ({})",
            entry.tool,
            median(costs[at].iter().copied()) / 1e3,
            group.unit,
            times(&costs[at], bare.as_deref()),
            times(&costs[at], ours.as_deref()),
            spread.join(" ")
        );
    }
}

/// Median of the ratios, round by round; a dash without the other side.
fn times(costs: &[f64], of: Option<&[f64]>) -> String {
    let Some(of) = of else {
        return format!("{:>6}", "-");
    };
    let ratios: Vec<f64> = costs.iter().zip(of).map(|(a, b)| a / b).collect();
    format!("{:6.2}", median(ratios.into_iter()))
}

/// Names of tools in groups are those of the list, so that no row is left out by a slip.
fn tool(name: &str) -> &'static Tool {
    TOOLS
        .iter()
        .find(|tool| tool.name == name)
        .unwrap_or_else(|| panic!("no tool {name}"))
}
