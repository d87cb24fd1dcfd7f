//! The test servers from outside, in one program: each more is linked anew.

mod again;
mod cluster;
mod delay;
mod fault;
mod null;
mod skipped;
mod support;
mod tls;
