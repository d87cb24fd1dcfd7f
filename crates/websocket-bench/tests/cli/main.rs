//! The program as a user meets it: the built binary against servers of this process.

mod bad_flags;
mod bad_outputs;
mod bad_servers;
mod connect;
mod deploy;
mod events;
mod expectations;
mod files;
mod given_up;
mod handmade;
mod help;
mod hostile_coordinator;
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
mod window;
mod worker_credentials;
mod worker_process;
mod worker_refusals;
mod workers;
