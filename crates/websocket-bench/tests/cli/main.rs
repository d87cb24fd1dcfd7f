//! The program as a user meets it: the built binary against servers of this process.

mod bad_flags;
mod bad_outputs;
mod bad_servers;
mod closed_output;
mod connect;
mod deploy;
mod events;
mod expectations;
mod files;
mod handmade;
mod help;
mod interrupt;
mod limits;
mod records;
mod search;
mod seccomp;
mod seeds;
mod selftest;
#[path = "../shared/mod.rs"]
mod shared;
mod starvation;
mod support;
mod terminal;
mod tls;
mod worker_credentials;
mod worker_process;
mod worker_refusals;
mod workers;
