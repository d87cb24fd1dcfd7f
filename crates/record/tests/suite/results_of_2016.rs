//! results/2016/ holds what was published then, no row more or less. Its form is not that of a
//! record of today, so the types are here alone.

use serde::Deserialize;
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    round: String,
    server: String,
    hardware: String,
    generator: String,
    message: String,
    server_command: Option<String>,
    bench_command: String,
    memory_mb_approx: Option<u64>,
    connections_per_ms: Option<f64>,
    connections_per_mb: Option<f64>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    clients: u64,
    p95_ms: f64,
    min_ms: f64,
    median_ms: f64,
    max_ms: f64,
}

fn blocks(file: &str) -> Vec<Block> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../results/2016")
        .join(file);
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().enumerate();
    lines
        .map(|(at, line)| {
            serde_json::from_str(line).unwrap_or_else(|e| panic!("{file}, line {}: {e}", at + 1))
        })
        .collect()
}

/// Counted in the texts themselves: lines that begin with `clients:`.
#[test]
fn every_row_of_the_texts_is_there() {
    for (file, count, steps) in [
        ("round-1.jsonl", 6, 107),
        ("round-2.jsonl", 27, 461),
        ("round-2-binary.jsonl", 9, 121),
        ("readme-example.jsonl", 1, 5),
        ("uwebsockets.jsonl", 1, 0),
    ] {
        let blocks = blocks(file);
        let found: usize = blocks.iter().map(|block| block.steps.len()).sum();
        assert_eq!((blocks.len(), found), (count, steps), "{file}");
        for block in &blocks {
            let named = [&block.round, &block.server, &block.hardware, &block.message];
            assert!(named.iter().all(|text| !text.is_empty()), "{file}");
            assert!(block.bench_command.contains(&block.generator), "{file}");
            let rises = block.steps.is_sorted_by(|a, b| a.clients < b.clients);
            assert!(rises, "{file}: {}", block.server);
            for step in &block.steps {
                let figures = [step.min_ms, step.median_ms, step.p95_ms, step.max_ms];
                assert!(figures.is_sorted(), "{file}: {} {figures:?}", block.server);
            }
        }
    }
}

/// Rows looked up by eye.
#[test]
fn known_rows_are_as_printed() {
    let one = blocks("round-1.jsonl");
    let rails = &one[0].steps[5];
    assert_eq!((one[0].server.as_str(), rails.clients), ("Rails", 600));
    assert_eq!((rails.p95_ms, rails.max_ms), (494.355864, 575.684985));
    let memory: Vec<Option<u64>> = one.iter().map(|block| block.memory_mb_approx).collect();
    let read_off = [Some(150), Some(30), Some(800), None, Some(1500), Some(1900)];
    assert_eq!(memory, read_off);

    let two = blocks("round-2.jsonl");
    let clojure = two[0].steps.last().unwrap();
    assert_eq!((clojure.clients, clojure.max_ms), (18_000, 1403.0));
    assert!(two.iter().all(|block| block.server_command.is_some()));

    let binary = blocks("round-2-binary.jsonl");
    let cpp: Vec<&Block> = binary
        .iter()
        .filter(|block| block.generator == "cpp-bench")
        .collect();
    assert_eq!(cpp.len(), 3);
    let first = &cpp[0].steps[0];
    assert_eq!((first.clients, first.p95_ms), (10_000, 258.0));
    assert_eq!(
        (first.min_ms, first.median_ms, first.max_ms),
        (35.0, 144.0, 488.0)
    );

    let uws = &blocks("uwebsockets.jsonl")[0];
    assert_eq!(uws.connections_per_ms, Some(72.4323));
    assert_eq!(uws.connections_per_mb, Some(2695.25));
}
