//! The commands from outside, in one program: each more is linked anew. `supervise` makes its process
//! the reaper of orphans, and stays alone.

mod browser;
mod check;
mod commands;
mod compare;
mod every_workload;
#[path = "../../src/report/fixture.rs"]
mod fixture;
#[path = "../../src/report/fixture_under.rs"]
mod fixture_under;
mod fuzz_corpus;
mod hostile_results;
#[path = "../support/import_graph.rs"]
mod import_graph;
mod imports;
mod made_site;
mod quick;
mod removal;
mod report_page;
mod run;
mod services;
mod site;
#[path = "../support/mod.rs"]
mod support;
mod verify;
mod workloads;
