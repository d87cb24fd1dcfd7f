//! What the two programs that stand for those of uWebSockets share: their life around a measurement.

use clap::Parser;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Reads the arguments and measures. An error in words is told under `name`, with exit code 1.
pub(crate) fn run<A: Parser>(name: &str, measure: fn(&A) -> Result<u8, String>) -> ExitCode {
    let args = match A::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    match measure(&args) {
        Ok(code) => ExitCode::from(code),
        Err(words) => {
            let _ = writeln!(io::stderr(), "{name}: {words}");
            ExitCode::from(1)
        }
    }
}

/// The exit code 141 when the reader of stdout has closed it, none when it took everything.
pub(crate) fn closed(told: io::Result<()>) -> Result<Option<u8>, String> {
    match told {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Some(141)),
        told => told.map(|()| None).map_err(|error| error.to_string()),
    }
}
