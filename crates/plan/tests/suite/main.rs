//! The tests of this crate from outside, in one program: each more is linked anew.

mod dialect_file;
mod limits;
mod plan_parts;
mod plans;
mod watched;
