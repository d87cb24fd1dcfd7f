//! The engine from outside, in one program: each more is linked anew. `hostile_coordinator` counts what
//! its whole process allocates, and stays alone.
#![allow(missing_docs)]

mod bytes_corpus;
mod corpus;
mod engine;
mod fuzz_corpus;
mod imports;
mod mqtt_corpus;
mod planted_losses;
mod raw_echo;
mod surviving_mutants;
