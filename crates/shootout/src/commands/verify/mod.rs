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
use project::{Refusal, ServerFolder};
use rand::SeedableRng as _;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand_chacha::ChaCha8Rng;
use record::Environment;
use std::num::NonZeroUsize;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is verified and how much is told.
pub(super) struct Choice {
    pub(super) servers: Vec<String>,
    pub(super) variants: Vec<String>,
    /// One variant of each server, another each time.
    pub(super) one_each: bool,
    /// Those servers first, and then others, of which none is begun later than this.
    pub(super) within: Option<Duration>,
    pub(super) all: bool,
    pub(super) skip_build: bool,
    /// Rows at once; as many as there are cores, when absent.
    pub(super) jobs: Option<NonZeroUsize>,
    /// What is to be done with the documentation's tables.
    pub(super) table: Option<Table>,
}

impl Choice {
    fn is_named(&self) -> bool {
        !self.servers.is_empty() && self.within.is_none()
    }

    /// Whether a server may still be begun, so long after the start.
    fn begins(&self, server: &str, after: Duration) -> bool {
        self.within.is_none_or(|within| after < within)
            || self.servers.iter().any(|named| named == server)
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
    let entries = match choice.within {
        None => context.project.select(&choice.servers)?,
        Some(_) => in_drawn_order(context, &choice.servers)?,
    };
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
    let mut left_out: Vec<&str> = readable.iter().map(|of| of.entry.name.as_str()).collect();
    side_by_side::verify(context, choice, &readable, threads, &mut |server, done| {
        for line in done.said.lines() {
            say!("{line}");
        }
        match done.what {
            What::Built(without) => {
                for (variant, why) in &without {
                    tally.not_built(server, variant, why, choice.is_named());
                    left_out.retain(|name| *name != server);
                }
            }
            What::Verified(_, verified) if verified.again => {}
            What::Verified(variant, verified) => {
                left_out.retain(|name| *name != server);
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
    if let Some(within) = choice.within.filter(|_| !left_out.is_empty()) {
        let (within, names) = (humantime::format_duration(within), left_out.join(", "));
        say!("not begun within {within}: {names}");
    }
    let kept = match choice.table {
        None => true,
        Some(table) => table::keep(context, table, lines)?,
    };
    Ok(if kept { exit } else { Exit::Failed })
}

/// All servers, those that are named first.
fn in_drawn_order(context: &Context<'_>, named: &[String]) -> Result<Vec<ServerFolder>, Refusal> {
    let mut all = context.project.select(&[])?;
    all.shuffle(&mut dice());
    if named.is_empty() {
        return Ok(all);
    }
    let mut ordered = context.project.select(named)?;
    all.retain(|entry| ordered.iter().all(|first| first.name != entry.name));
    ordered.append(&mut all);
    Ok(ordered)
}

/// Leaves one variant of each server.
fn draw_one_each(readable: &mut [Wanted<'_>]) {
    let mut dice = dice();
    for wanted in readable {
        let drawn = wanted.variants.choose(&mut dice).cloned();
        wanted.variants = drawn.into_iter().collect();
    }
}

/// Random numbers, others each time.
fn dice() -> ChaCha8Rng {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    ChaCha8Rng::seed_from_u64(now.map_or(0, |since| since.as_nanos() as u64))
}

fn painted(color: AnsiColor, word: &str) -> String {
    let style: Style = color.on_default().bold();
    format!("{style}{word}{style:#}")
}
