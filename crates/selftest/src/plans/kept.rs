//! Plans that found an error once, made smaller: what a seed means changes with what is drawn, and so
//! the plan itself is kept, with its server.

use super::case::Case;
use super::run::{Folder, Runner};
use super::{AGAIN, WritePlan, able};
use crate::error::Unmade;
use serde::Deserialize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

/// A file of `kept/`: a `case` as `--json` has it, and what it has found.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    found: String,
    case: Case,
}

/// A plan that is kept.
#[derive(Debug)]
pub struct KeptPlan<'a> {
    /// Its file, as JSON.
    pub text: &'a str,
    /// The load generator.
    pub program: &'a Path,
    /// A plan as a file that the program reads.
    pub write_plan: WritePlan,
}

/// Carries out a plan that is kept. Returns in words what it finds, which is nothing where the program is
/// right: it breaks a law again and again then.
///
/// # Errors
/// When the file is none, or this machine cannot carry it out.
pub fn kept_plan(kept: &KeptPlan<'_>) -> Result<Option<String>, Unmade> {
    let of = serde_json::from_str::<Kept>(kept.text)?;
    let case = of.case.fit(able());
    case.plan.validate()?;
    let folder = Folder::new()?;
    let runner = Runner {
        folder: &folder,
        program: kept.program,
        write_plan: kept.write_plan,
        interrupted: &NEVER,
    };
    let mut latest = Vec::new();
    for _ in 0..=AGAIN {
        latest = runner.carry_out(&case, 0)?.unwrap_or_default();
        if latest.is_empty() {
            return Ok(None);
        }
    }
    let laws: Vec<String> = latest.iter().map(ToString::to_string).collect();
    Ok(Some(format!("{}: {}", of.found, laws.join("; "))))
}
