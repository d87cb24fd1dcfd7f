//! What a check finds in a published run.

use crate::changed::{assert_found, found, write};
use board::records;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The time until all are back ranks a storm.
#[test]
fn a_number_that_ranks_a_published_storm_is_found() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/2026-11-again/run-13");
    assert_eq!(found(&run, |_| {}), [""; 0]);
    let places = ["run.steps.0: churn.cut.back_100_ns is 1000000, and by back_time"];
    assert_found(&run, &places, |dir| {
        let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
        let mut storms: Vec<_> = files
            .filter(|file| file.to_string_lossy().ends_with("storm.text.1.json.gz"))
            .collect();
        storms.sort();
        let packed = &storms[0];
        let mut row: Value = serde_json::from_str(&records::text(packed).unwrap()).unwrap();
        *row.pointer_mut("/run/steps/0/churn/cut/back_100_ns")
            .unwrap() = json!(1_000_000);
        let name = packed.file_stem().unwrap().to_str().unwrap();
        write(dir, name, &row);
        fs::remove_file(packed).unwrap();
    });
}
