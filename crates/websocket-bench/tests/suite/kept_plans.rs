//! The plans that found an error once (crates/selftest/src/plans/kept), each carried out again.

use plan::Plan;
use plan_file::Given;
use selftest::{KeptPlan, kept_plan};
use std::error::Error;
use std::fs;
use std::path::Path;

fn write_plan(plan: &Plan) -> Result<String, Box<dyn Error + Send + Sync>> {
    let generator = plan.generator;
    let given = Given {
        threads: Some(generator.threads),
        io: Some(generator.io),
        timestamps: Some(generator.timestamps),
        seed: Some(generator.seed),
    };
    Ok(plan_file::printed(plan, given)?)
}

#[test]
fn each_plan_that_found_an_error_finds_none() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../selftest/src/plans/kept");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut carried_out = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let found = kept_plan(&KeptPlan {
            text: &text,
            program: Path::new(env!("CARGO_BIN_EXE_websocket-bench")),
            write_plan,
        });
        let found = found.map_err(|error| error.to_string());
        assert_eq!(found, Ok(None), "{}", file.display());
        carried_out += 1;
    }
    assert!(carried_out > 3, "{carried_out}");
}
