//! What was measured, shown, compared and checked: reports, the board, and what holds of records.
//!
//! Purpose: everything that is made of records and of what a project says of itself. It measures
//! nothing and starts no process, so reading the results of a stranger runs none of their programs.

#![cfg_attr(not(test), forbid(unsafe_code))]

pub mod about;
pub mod autobahn;
pub mod check;
pub mod compare;
pub mod conformance_table;
pub mod explain;
mod failover;
mod network;
pub mod quiet;
pub mod records;
pub mod report;
pub mod servers_table;
mod side_by_side;
pub mod site;
pub mod stats;
pub mod status;
pub mod terminal;
