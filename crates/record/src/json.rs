//! JSON of whole records. A compiler takes seconds to make a reader or a writer of one: it makes each once,
//! here, and not in every crate that calls it.

use super::{Certificate, Conformance, Event, Measurement, RunRecord, StepRecord};
use serde_json::Error;
use std::io::{self, Write};

/// Written as JSON and read from it.
pub trait Json: Sized {
    /// Reads one.
    ///
    /// # Errors
    /// When the text is not JSON, or holds something else.
    fn from_json(text: &str) -> Result<Self, Error>;

    /// One line without a line break.
    ///
    /// # Errors
    /// When a histogram cannot be encoded.
    fn to_json(&self) -> Result<String, Error>;

    /// Writes indented lines, each with a line break.
    ///
    /// # Errors
    /// When `out` takes no more, or a histogram cannot be encoded.
    fn write_json(&self, out: &mut dyn Write) -> io::Result<()>;
}

macro_rules! json {
    ($($of:ty),*) => {$(
        impl Json for $of {
            fn from_json(text: &str) -> Result<Self, Error> {
                serde_json::from_str(text)
            }

            fn to_json(&self) -> Result<String, Error> {
                serde_json::to_string(self)
            }

            fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
                serde_json::to_writer_pretty(&mut *out, self)?;
                out.write_all(b"\n")
            }
        }
    )*};
}

json!(
    Certificate,
    Conformance,
    Event,
    Measurement,
    RunRecord,
    StepRecord
);
