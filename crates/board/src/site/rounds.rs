//! The rounds of a results directory: each machine of a round by itself, and on it each run.

use super::board::{self, Known, Ranking};
use super::origin::Origin;
use crate::about::{self, About};
use crate::records;
use crate::report::load::{self, Run};
use crate::report::{ReportError, figures};
use record::{Environment, Measurement, NetworkUse};
use std::path::{Path, PathBuf};

/// What must be the same for two figures to stand side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    kernel: String,
    cpu: String,
    cores: u32,
    memory_gib: Option<u64>,
    /// What lay between server and clients, in words; `None` where that was loopback.
    network: Option<String>,
}

impl Machine {
    pub(super) fn new(environment: &Environment) -> Self {
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
            network: None,
        }
    }

    /// The same with this network.
    fn over(self, network: Option<&NetworkUse>) -> Self {
        Self {
            network: network.map(|of| of.asked.to_string()),
            ..self
        }
    }

    /// Whether it is one with this environment, whatever its network.
    pub(super) fn has(&self, environment: &Environment) -> bool {
        Self::new(environment) == self.clone().over(None)
    }

    /// Whether another differs in nothing but its kernel.
    pub(super) fn is_same_hardware(&self, other: &Self) -> bool {
        let of = |machine: &Self| Self {
            kernel: String::new(),
            ..machine.clone()
        };
        of(self) == of(other)
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
        let network = self.network.as_ref();
        let network = network.map_or_else(String::new, |words| format!(", network: {words}"));
        format!("{}, {cores}{memory}, {}{network}", self.cpu, self.kernel)
    }
}

/// The measurements of one machine in one round.
#[derive(Debug)]
pub(super) struct Board {
    /// `None` where nothing was measured.
    pub(super) machine: Option<Machine>,
    measured: Vec<Measured>,
}

/// Of these, the measurements of one run.
#[derive(Debug)]
struct Measured {
    origin: Origin,
    contestants: Vec<Measurement>,
    /// Those of servers that the others are held against.
    ceilings: Vec<Measurement>,
}

impl Board {
    /// Rankings of its rows, one for each workload and dialect of each run: rows of two runs are in
    /// none together.
    pub(super) fn rankings(&self, known: &Known<'_>) -> Vec<Ranking<'_>> {
        let runs = self.measured.iter();
        runs.flat_map(|run| board::rankings(&run.contestants, &run.ceilings, &run.origin, known))
            .collect()
    }

    /// Every measurement.
    pub(super) fn measurements(&self) -> impl Iterator<Item = &Measurement> {
        let runs = self.measured.iter();
        runs.flat_map(|run| run.contestants.iter().chain(&run.ceilings))
    }
}

impl Measured {
    fn new(origin: Origin) -> Self {
        Self {
            origin,
            contestants: Vec::new(),
            ceilings: Vec::new(),
        }
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

/// A directory of measurements, or of directories of these.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) name: String,
    /// When its first measurement began.
    pub(super) started: String,
    /// The one with the most measurements first.
    pub(super) boards: Vec<Board>,
    pub(super) about: About,
    pub(super) warnings: Vec<String>,
}

/// Where a round lies.
#[derive(Debug)]
pub(super) struct RoundFolder {
    dir: PathBuf,
    /// Its runs, in the order of their names: the directory itself where that holds measurements.
    runs: Vec<PathBuf>,
    started: String,
}

impl Round {
    fn new(place: &RoundFolder, runs: Vec<Run>, known: &Known<'_>) -> Self {
        let mut boards: Vec<Board> = Vec::new();
        let mut warnings = Vec::new();
        let about = about::read(&place.dir).unwrap_or_else(|error| {
            warnings.push(error.to_string());
            About::default()
        });
        for mut run in runs {
            warnings.append(&mut run.warnings);
            for (machine, measured) in by_machine(run, known) {
                match boards.iter_mut().find(|board| board.machine == machine) {
                    Some(board) => board.measured.push(measured),
                    None => boards.push(Board {
                        machine,
                        measured: vec![measured],
                    }),
                }
            }
        }
        boards.sort_by_key(|board| {
            std::cmp::Reverse(board.measured.iter().map(Measured::len).sum::<usize>())
        });
        Self {
            name: load::name(&place.dir),
            started: place.started.clone(),
            boards,
            about,
            warnings,
        }
    }
}

/// The measurements of a run, those of each machine apart.
fn by_machine(mut run: Run, known: &Known<'_>) -> Vec<(Option<Machine>, Measured)> {
    let mut all: Vec<(Option<Machine>, Measured)> = Vec::new();
    let mut homeless = Vec::new();
    for measurement in std::mem::take(&mut run.measurements) {
        let Some(record) = &measurement.run else {
            homeless.push(measurement);
            continue;
        };
        let network = measurement.network.as_ref();
        let machine = Some(Machine::new(&record.environment).over(network));
        let at = all.iter().position(|(known, _)| *known == machine);
        let at = at.unwrap_or_else(|| {
            let measured = Measured::new(Origin::new(&run, machine.as_ref()));
            all.push((machine, measured));
            all.len() - 1
        });
        all[at].1.add(measurement, known);
    }
    all.sort_by_key(|(_, measured)| std::cmp::Reverse(measured.len()));
    if all.is_empty() && !homeless.is_empty() {
        all.push((None, Measured::new(Origin::new(&run, None))));
    }
    // A row without a result names no machine: it is kept with most of the others.
    for measurement in homeless {
        all[0].1.add(measurement, known);
    }
    all
}

/// The rounds of a results directory, the newest first: itself where it holds measurements, and each
/// directory in it that does or whose own directories do.
pub(super) fn places(results: &Path) -> Result<Vec<RoundFolder>, ReportError> {
    let mut found = Vec::new();
    found.extend(place(results.to_owned(), vec![results.to_owned()])?);
    for dir in directories(results)? {
        let itself = place(dir.clone(), vec![dir.clone()])?;
        match itself {
            Some(place) => found.push(place),
            None => {
                let runs = directories(&dir)?;
                found.extend(place(dir, runs)?);
            }
        }
    }
    found.sort_by(|a, b| b.started.cmp(&a.started));
    Ok(found)
}

/// The round of those of these directories that hold measurements.
fn place(dir: PathBuf, candidates: Vec<PathBuf>) -> Result<Option<RoundFolder>, ReportError> {
    let mut runs = Vec::new();
    let mut first: Option<String> = None;
    for run in candidates {
        let Some(started) = load::first_start(&run)? else {
            continue;
        };
        first = Some(match first {
            Some(first) if !first.is_empty() && !started.is_empty() => first.min(started),
            Some(first) => first.max(started),
            None => started,
        });
        runs.push(run);
    }
    Ok(first.map(|started| RoundFolder { dir, runs, started }))
}

fn directories(dir: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let unreadable = |source| ReportError::UnreadableDirectory {
        path: dir.to_owned(),
        source,
    };
    records::directories(dir).map_err(unreadable)
}

/// The measurements of a round.
pub(super) fn read(place: &RoundFolder, known: &Known<'_>) -> Result<Round, ReportError> {
    let runs = place.runs.iter().map(|dir| load::run(dir));
    Ok(Round::new(place, runs.collect::<Result<_, _>>()?, known))
}
