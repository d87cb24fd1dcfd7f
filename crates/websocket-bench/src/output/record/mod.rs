//! The record of a run in the forms that other programs read.

mod fields;
mod junit;
mod series;
mod streams;
mod table;

use crate::args;
use crate::expect::Expectation;
use record::{Json, OutputFile, RunRecord, Unwritable};
use run_page::Expected;
use std::io::{self, Write};
use std::path::Path;

/// A form that a record is written in.
#[derive(Clone, Copy, Debug)]
enum Form {
    Json,
    Csv,
    CsvSeries,
    Junit,
    Html,
}

/// Where the record goes.
pub(crate) struct Records {
    files: Vec<(OutputFile, Form)>,
    /// Printed when the run has ended.
    printed: Option<Form>,
    expectations: Vec<Expectation>,
}

impl Records {
    /// Checks every place that the arguments name; `sample` is a record as it is before the first
    /// step.
    ///
    /// # Errors
    /// When something cannot be written there.
    pub(crate) fn new(args: &args::Output, sample: &RunRecord) -> Result<Self, Unwritable> {
        let mut records = Self {
            files: Vec::new(),
            printed: None,
            expectations: args.expect.clone(),
        };
        for (flag, path) in args.places() {
            let (form, what) = match flag {
                "--json" => (Form::Json, "the record"),
                "--csv" => (Form::Csv, "the table"),
                "--csv-series" => (Form::CsvSeries, "the table of intervals"),
                "--junit" => (Form::Junit, "the JUnit report"),
                "--html" => (Form::Html, "the page"),
                _ => continue,
            };
            if path == Path::new("-") {
                records.printed = Some(form);
                continue;
            }
            let file =
                OutputFile::new(what, path, |out| form.write_file(out, sample, &args.expect))?;
            records.files.push((file, form));
        }
        Ok(records)
    }

    /// True when the record is in a file afterwards.
    pub(crate) const fn has_file(&self) -> bool {
        !self.files.is_empty()
    }

    /// Writes what has been measured so far, so that not even a kill loses it. What goes wrong is told at the
    /// end: a run that has used all open files has some by that time.
    pub(crate) fn save(&self, record: &RunRecord) {
        for (file, form) in &self.files {
            let _ = file.save(|out| form.write_file(out, record, &self.expectations));
        }
    }

    /// Writes the record of a run that has ended to every file.
    ///
    /// # Errors
    /// The first, after all others have been written.
    pub(crate) fn finish(&self, record: &RunRecord) -> io::Result<()> {
        let mut done = Ok(());
        for (file, form) in &self.files {
            let written = file.finish(|out| form.write_file(out, record, &self.expectations));
            done = done.and(written);
        }
        done
    }

    /// Writes the record to stdout, where that is asked for.
    ///
    /// # Errors
    /// When stdout takes no more.
    pub(crate) fn print(&self, record: &RunRecord) -> io::Result<()> {
        let Some(form) = self.printed else {
            return Ok(());
        };
        let mut out = io::stdout().lock();
        match form {
            // A line of its own, which a reader of a container's log finds as the last.
            Form::Json => {
                writeln!(out, "{}", record.to_json()?)?;
            }
            _ => form.write_file(&mut out, record, &self.expectations)?,
        }
        out.flush()
    }
}

impl Form {
    fn write_file(
        self,
        out: &mut dyn Write,
        record: &RunRecord,
        expectations: &[Expectation],
    ) -> io::Result<()> {
        match self {
            Self::Json => record.write_json(out),
            Self::Csv => table::write(out, record),
            Self::CsvSeries => series::write(out, record),
            Self::Junit => junit::write(out, record, expectations),
            Self::Html => {
                let expected = expectations.iter().map(|one| Expected {
                    text: one.to_string(),
                    unmet: one.unmet(record),
                });
                let expected: Vec<Expected> = expected.collect();
                let page = run_page::page(record, &expected).map_err(io::Error::other)?;
                out.write_all(page.as_bytes())
            }
        }
    }
}
