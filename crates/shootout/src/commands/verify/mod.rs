//! `shootout verify`: every check against every variant, with what was seen where it fails.

mod row;
mod side_by_side;
mod table;

pub(super) use table::Table;

use super::tally::Tally;
use super::{Context, only};
use crate::build::BuildError;
use crate::exit::Exit;
use crate::machine;
use crate::options::Pin;
use crate::rows::Wanted;
use anstyle::{AnsiColor, Style};
use board::conformance_table::Line;
use project::Refusal;
use rand::SeedableRng as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use record::Environment;
use std::num::NonZeroUsize;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is verified and how much is told.
pub(super) struct Choice {
    pub(super) servers: Vec<String>,
    pub(super) variants: Vec<String>,
    /// One variant of each server, another each time.
    pub(super) one_each: bool,
    pub(super) all: bool,
    pub(super) skip_build: bool,
    /// Rows at once; as many as there are cores, when absent.
    pub(super) jobs: Option<NonZeroUsize>,
    /// What is to be done with the documentation's tables.
    pub(super) table: Option<Table>,
}

impl Choice {
    fn is_named(&self) -> bool {
        !self.servers.is_empty()
    }

    fn rows_at_once(&self) -> usize {
        let cores = || std::thread::available_parallelism().ok();
        self.jobs.or_else(cores).map_or(1, NonZeroUsize::get)
    }
}

/// Something that is done, with the lines that tell of it.
struct Done {
    said: String,
    what: What,
}

impl Done {
    fn row(row: &row::Row<'_>, said: String, verified: row::Verified) -> Self {
        let what = What::Verified(row.variant.name.clone(), verified);
        Self { said, what }
    }
}

enum What {
    /// A server was built; these variants of it were not.
    Built(Vec<(String, BuildError)>),
    /// A variant was verified.
    Verified(String, row::Verified),
}

pub(super) fn verify(context: &Context<'_>, choice: &Choice) -> Result<Exit, Refusal> {
    let entries = context.project.select(&choice.servers)?;
    let mut readable = context.readable(&entries);
    let mut tally = Tally::default();
    tally.unreadable(entries.len() - readable.len());
    only(&mut readable, &choice.variants)?;
    if choice.one_each {
        draw_one_each(&mut readable);
    }
    // At least two, so that messages between loops or processes are checked, too.
    let threads = machine::cores(&Pin::Auto, &Environment::collect())?
        .server_threads
        .max(2);
    let mut lines: Vec<Line> = Vec::new();
    side_by_side::verify(context, choice, &readable, threads, &mut |server, done| {
        for line in done.said.lines() {
            say!("{line}");
        }
        match done.what {
            What::Built(without) => {
                for (variant, why) in &without {
                    tally.not_built(server, variant, why, choice.is_named());
                }
            }
            What::Verified(_, verified) if verified.again => {}
            What::Verified(variant, verified) => {
                if verified.passed {
                    tally.ok();
                } else {
                    tally.failed(server, &variant);
                }
                lines.extend(verified.line.map(|line| *line));
            }
        }
    });
    if context.interrupt.requested() {
        return Ok(Exit::Interrupted);
    }
    let exit = tally.finish();
    let kept = match choice.table {
        None => true,
        Some(table) => table::keep(context, table, lines)?,
    };
    Ok(if kept { exit } else { Exit::Failed })
}

/// Leaves one variant of each server.
fn draw_one_each(readable: &mut [Wanted<'_>]) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut dice = ChaCha8Rng::seed_from_u64(now.map_or(0, |since| since.as_nanos() as u64));
    for wanted in readable {
        let drawn = wanted.variants.choose(&mut dice).cloned();
        wanted.variants = drawn.into_iter().collect();
    }
}

fn painted(color: AnsiColor, word: &str) -> String {
    let style: Style = color.on_default().bold();
    format!("{style}{word}{style:#}")
}
