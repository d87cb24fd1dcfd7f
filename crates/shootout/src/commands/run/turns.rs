//! The order in which rows are measured, what is installed before each, and when it ends.
//!
//! A run installs everything first and measures every row. `--quick` over all servers measures what
//! is ready, shows its table, and installs more only then.

use super::super::{Context, setup};
use crate::cli::RunArgs;
use crate::quick::{self, Budget};
use crate::rows::{Row, Wanted};
use project::Refusal;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Seconds that the project's script took before it started this program.
const BEFORE: &str = "SHOOTOUT_SECONDS_BEFORE";

/// A row and the packages that are installed before it.
pub(super) struct Turn<'r> {
    pub(super) row: &'r Row,
    packages: Vec<String>,
}

/// The turns of a run.
pub(super) struct Turns<'r> {
    pub(super) all: Vec<Turn<'r>>,
    quick: Option<Clock>,
}

struct Clock {
    begun: Instant,
    before: Duration,
    budget: Budget,
}

impl<'r> Turns<'r> {
    /// Every row, after all that is missing was installed.
    ///
    /// # Errors
    /// When nothing can be installed here.
    pub(super) fn full(
        context: &Context<'_>,
        args: &RunArgs,
        rows: &'r [Row],
    ) -> Result<Self, Refusal> {
        if !args.skip_build {
            let packages = setup::lacking_packages(context, &Wanted::by(rows));
            context.stop_if_interrupted()?;
            if setup::may_install(&packages, args.yes) && !packages.is_empty() {
                setup::install(context, &packages)?;
            }
        }
        let turn = |row| Turn {
            row,
            packages: Vec::new(),
        };
        Ok(Self {
            all: rows.iter().map(turn).collect(),
            quick: None,
        })
    }

    /// What is ready first. The user is asked once, before all.
    ///
    /// # Errors
    /// After an interrupt.
    pub(super) fn quick(
        context: &Context<'_>,
        args: &RunArgs,
        rows: &'r [Row],
    ) -> Result<Self, Refusal> {
        let begun = Instant::now();
        let before = std::env::var(BEFORE).ok();
        let before = before.and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut lacking: HashMap<&str, Vec<String>> = HashMap::new();
        if !args.skip_build {
            for wanted in Wanted::by(rows) {
                let packages = setup::lacking_packages(context, std::slice::from_ref(&wanted));
                lacking.insert(&wanted.entry.name, packages);
                context.stop_if_interrupted()?;
            }
            let mut packages: Vec<String> = lacking.values().flatten().cloned().collect();
            packages.sort();
            packages.dedup();
            if !setup::may_install(&packages, args.yes) {
                lacking.clear();
            }
        }
        let turn = |row: &'r Row| Turn {
            row,
            packages: lacking
                .get(row.entry.name.as_str())
                .cloned()
                .unwrap_or_default(),
        };
        let mut all: Vec<Turn<'_>> = rows.iter().map(turn).collect();
        all.sort_by_key(|turn| (turn.row.repetition, !turn.packages.is_empty()));
        Ok(Self {
            all,
            quick: Some(Clock {
                begun,
                before: Duration::from_secs(before),
                budget: Budget::new(),
            }),
        })
    }

    /// Whether there is time for this turn, when `done` rows have been measured.
    pub(super) fn admits(&self, turn: &Turn<'_>, done: usize) -> bool {
        self.quick.as_ref().is_none_or(|clock| {
            let cost = turn.is_dear().then(|| quick::cost(&turn.row.entry));
            clock.budget.admits(clock.gone(), cost, done == 0)
        })
    }

    /// Whether the ranking is to be shown now that the turn before number `next` has ended.
    pub(super) fn table_is_due(&mut self, next: usize) -> bool {
        let (Some(clock), Some(next)) = (&mut self.quick, self.all.get(next)) else {
            return false;
        };
        let gone = clock.gone();
        clock.budget.table_is_due(gone, next.is_dear())
    }
}

impl Turn<'_> {
    fn is_dear(&self) -> bool {
        !self.packages.is_empty()
    }

    /// Installs what its row lacks. What cannot be installed is told, and is the row's reason then.
    pub(super) fn install(&self, context: &Context<'_>) {
        if self.packages.is_empty() || self.row.repetition > 1 {
            return;
        }
        if let Err(refusal) = setup::install(context, &self.packages) {
            anstream::eprintln!("setup: {refusal}");
        }
    }
}

impl Clock {
    fn gone(&self) -> Duration {
        self.before + self.begun.elapsed()
    }
}
