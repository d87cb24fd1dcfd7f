//! `selftest`: passes the arguments to the crate of that name, and turns its result into an exit code.

use crate::args::SelftestArgs;
use crate::bench::{catch_signals, now, tool};
use crate::draft;
use crate::exit::Exit;
use selftest::{Conclusion, Request};
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
    let timestamps = draft::timestamps(args.timestamps.given())?;
    let (io, _) = draft::io(args.io.given(), timestamps)?;
    let interrupted = catch_signals()?;
    let conclusion = selftest::selftest(&Request {
        short: args.short,
        json: args.json.as_deref(),
        only: &args.only,
        seed: args.seed.unwrap_or_else(draft::random_seed),
        timestamps,
        io,
        tool: tool(),
        now,
        interrupted: &interrupted,
    })?;
    Ok(match conclusion {
        Conclusion::Proved => Exit::Measured,
        Conclusion::NotProved => Exit::Invalid,
        Conclusion::Interrupted => Exit::Interrupted,
    })
}
