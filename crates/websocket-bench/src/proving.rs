//! `selftest`: passes the arguments to the crate of that name, and turns its result into an exit code.

use crate::args::SelftestArgs;
use crate::bench::{catch_signals, now, tool};
use crate::draft;
use crate::exit::Exit;
use plan::Plan;
use plan_file::Given;
use selftest::{Conclusion, Plans, Request};
use std::error::Error;
use std::path::Path;

/// Makes the test that the arguments ask for.
///
/// # Errors
/// In words, when the test cannot be made here or an output cannot be written.
pub(crate) fn selftest(args: &SelftestArgs) -> Result<Exit, Box<dyn Error>> {
    if args.json.as_deref() == Some(Path::new("-")) {
        return Err("--json writes to a file, not to stdout; name a file".into());
    }
    let seed = args.seed.unwrap_or_else(draft::random_seed);
    if let Some(count) = args.plans {
        let interrupted = catch_signals()?;
        return Ok(exit(selftest::plans(&Plans {
            count,
            seed,
            json: args.json.as_deref(),
            write_plan,
            interrupted: &interrupted,
        })?));
    }
    let timestamps = draft::timestamps(args.timestamps.given())?;
    let (io, _) = draft::io(args.io.given(), timestamps)?;
    let interrupted = catch_signals()?;
    let conclusion = selftest::selftest(&Request {
        short: args.short,
        json: args.json.as_deref(),
        only: &args.only,
        seed,
        timestamps,
        io,
        tool: tool(),
        now,
        interrupted: &interrupted,
    })?;
    Ok(exit(conclusion))
}

const fn exit(conclusion: Conclusion) -> Exit {
    match conclusion {
        Conclusion::Proved => Exit::Measured,
        Conclusion::NotProved => Exit::Invalid,
        Conclusion::Interrupted => Exit::Interrupted,
    }
}

/// The file of a plan that leaves nothing to the machine.
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
