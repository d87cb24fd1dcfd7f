//! The program as a user meets it: the built binary against servers of this process.

mod bad_flags;
mod bad_outputs;
mod bad_servers;
mod events;
mod expectations;
mod files;
mod handmade;
mod help;
mod interrupt;
mod limits;
mod records;
mod seccomp;
mod seeds;
mod selftest;
mod starvation;
mod support;
mod terminal;
mod tls;
