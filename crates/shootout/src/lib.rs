//! The orchestrator: builds, starts, checks, measures and compares the servers of a project.
//!
//! Purpose: everything behind the `shootout` program that is more than reading, as a library so that
//! its parts can be tested. What a project says of itself is read by `project`, what was measured is
//! shown by `board`. It contains no server's name; what is sent to a server, and how latency is
//! measured, is the business of `websocket-bench`.

#[macro_use]
mod stdout;

pub mod autobahn;
pub mod build;
pub mod cli;
pub mod commands;
pub mod conform;
pub mod exit;
pub mod generator;
pub mod interrupt;
pub mod machine;
pub mod measure;
pub mod network;
pub mod options;
pub mod passed;
pub mod process;
pub mod progress;
pub mod quick;
mod quiet;
pub mod rows;
pub mod sample;
pub mod session;
pub mod supervise;
mod target;
pub mod toolchain;

#[cfg(test)]
#[path = "../../board/src/report/fixture.rs"]
mod fixture;
