//! What the two programs that stand for those of uWebSockets share: their life around a measurement.

use clap::Parser;
use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Reads the arguments and measures. An error is told under `name`, with exit code 1.
pub(crate) fn run<A: Parser>(
    name: &str,
    measure: fn(&A) -> Result<u8, Box<dyn Error>>,
) -> ExitCode {
    let args = match A::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    match measure(&args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(io::stderr(), "{name}: {error}");
            ExitCode::from(1)
        }
    }
}

/// The exit code 141 when the reader of stdout has closed it, none when it took everything.
pub(crate) fn closed(told: io::Result<()>) -> io::Result<Option<u8>> {
    match told {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Some(141)),
        told => told.map(|()| None),
    }
}
