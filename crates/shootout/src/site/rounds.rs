//! The rounds of a results directory, each machine of a round by itself.

use super::board::{self, Known, Ranking};
use crate::report::load::{self, Run};
use crate::report::{ReportError, figures};
use run_record::{Environment, Measurement};
use std::fs;
use std::path::{Path, PathBuf};

/// What must be the same for two figures to stand side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    kernel: String,
    cpu: String,
    cores: u32,
    memory_gib: Option<u64>,
}

impl Machine {
    fn of(environment: &Environment) -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            kernel: environment.kernel.clone(),
            cpu: environment
                .cpu_model
                .clone()
                .unwrap_or_else(|| "unknown processor".to_owned()),
            cores: environment.cores,
            // The kernel keeps some of the memory for itself, and not always as much.
            memory_gib: environment
                .memory_bytes
                .map(|bytes| (bytes + GIB / 2) / GIB),
        }
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        let memory = self
            .memory_gib
            .map_or_else(String::new, |gib| format!(", {gib} GiB"));
        let cores = match self.cores {
            1 => "1 core".to_owned(),
            several => format!("{} cores", figures::count(several.into())),
        };
        format!("{}, {cores}{memory}, {}", self.cpu, self.kernel)
    }
}

/// The measurements of one machine in one round.
#[derive(Debug)]
pub(super) struct Board {
    /// `None` where nothing was measured.
    pub(super) machine: Option<Machine>,
    pub(super) contestants: Vec<Measurement>,
    /// Those of servers that the others are held against.
    pub(super) ceilings: Vec<Measurement>,
}

impl Board {
    /// Rankings of its rows, one for each workload and dialect.
    pub(super) fn rankings(&self, known: &Known<'_>) -> Vec<Ranking<'_>> {
        board::rankings(&self.contestants, &self.ceilings, known)
    }

    fn len(&self) -> usize {
        self.contestants.len() + self.ceilings.len()
    }

    fn add(&mut self, measurement: Measurement, known: &Known<'_>) {
        match known.ceilings.contains(&measurement.server.name) {
            true => self.ceilings.push(measurement),
            false => self.contestants.push(measurement),
        }
    }
}

/// A directory of measurements.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) name: String,
    /// When its first measurement began.
    pub(super) started: String,
    /// The one with the most measurements first.
    pub(super) boards: Vec<Board>,
    pub(super) warnings: Vec<String>,
}

impl Round {
    fn of(run: Run, known: &Known<'_>) -> Self {
        let mut boards: Vec<Board> = Vec::new();
        let mut homeless = Vec::new();
        for measurement in run.measurements {
            let machine = measurement
                .run
                .as_ref()
                .map(|run| Machine::of(&run.environment));
            if machine.is_none() {
                homeless.push(measurement);
                continue;
            }
            let at = boards.iter().position(|board| board.machine == machine);
            let at = at.unwrap_or_else(|| {
                boards.push(Board {
                    machine,
                    contestants: Vec::new(),
                    ceilings: Vec::new(),
                });
                boards.len() - 1
            });
            boards[at].add(measurement, known);
        }
        boards.sort_by_key(|board| std::cmp::Reverse(board.len()));
        if boards.is_empty() && !homeless.is_empty() {
            boards.push(Board {
                machine: None,
                contestants: Vec::new(),
                ceilings: Vec::new(),
            });
        }
        // A row without a result names no machine: it is kept with most of the others.
        for measurement in homeless {
            boards[0].add(measurement, known);
        }
        Self {
            name: run.name,
            started: run.started,
            boards,
            warnings: run.warnings,
        }
    }
}

/// The directories under `results` that hold measurements, and `results` itself if it does; the
/// newest first.
pub(super) fn directories(results: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let unreadable = |source| ReportError::UnreadableDirectory {
        path: results.to_owned(),
        source,
    };
    let mut dirs = vec![results.to_owned()];
    for entry in fs::read_dir(results).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            dirs.push(path);
        }
    }
    dirs.sort();
    let mut found = Vec::new();
    for dir in dirs {
        if let Some(started) = load::first_start(&dir)? {
            found.push((started, dir));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0));
    Ok(found.into_iter().map(|(_, dir)| dir).collect())
}

/// The measurements of a directory.
pub(super) fn read(dir: &Path, known: &Known<'_>) -> Result<Round, ReportError> {
    Ok(Round::of(load::run(dir)?, known))
}
