//! What is made of records, in one program: each more is linked anew.

mod browser;
#[path = "../support/changed.rs"]
mod changed;
mod checked_round;
mod comparison_schema;
#[path = "../../src/report/fixture.rs"]
mod fixture;
#[path = "../../src/report/fixture_under.rs"]
mod fixture_under;
#[path = "../../src/report/fixture_watched.rs"]
mod fixture_watched;
mod front;
#[path = "../../../shootout/tests/support/import_graph.rs"]
mod import_graph;
mod imports;
mod made_site;
mod report_page;
mod site;
mod starts_nothing;
