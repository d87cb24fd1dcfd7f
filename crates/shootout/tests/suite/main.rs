//! The commands from outside, in one program: each more is linked anew. `supervise` makes its process
//! the reaper of orphans, and stays alone.

#[path = "../../../board/tests/support/changed.rs"]
mod changed;
mod check;
mod commands;
mod compare;
mod every_workload;
mod explain;
#[path = "../../../board/src/report/fixture.rs"]
mod fixture;
mod hostile_results;
#[path = "../support/import_graph.rs"]
mod import_graph;
mod imports;
mod network;
mod nodes;
mod passed;
mod proxies;
mod quick;
mod removal;
mod run;
mod runtimes;
mod services;
#[path = "../support/mod.rs"]
mod support;
mod verify;
mod workloads;
