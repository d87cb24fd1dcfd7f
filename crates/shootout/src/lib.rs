//! The orchestrator: builds, starts, checks, measures and compares the servers of a project.
//!
//! Purpose: everything behind the `shootout` program, as a library so that its parts can be
//! tested. It knows server folders by their manifest and contains no server's name; what is sent
//! to a server, and how latency is measured, is the business of `websocket-bench`.

#[macro_use]
mod stdout;

mod leaves;

pub mod about;
pub mod autobahn;
pub mod build;
pub mod check;
pub mod cli;
pub mod commands;
pub mod compare;
pub mod conform;
pub mod conformance_table;
pub mod exit;
pub mod generator;
pub mod interrupt;
pub mod machine;
pub mod manifest;
pub mod measure;
pub mod options;
pub mod process;
pub mod progress;
pub mod project;
pub mod quick;
mod quiet;
pub mod records;
pub mod report;
pub mod rows;
pub mod sample;
pub mod servers_table;
pub mod session;
pub mod site;
pub mod stats;
pub mod supervise;
pub mod toolchain;
pub mod workload;
