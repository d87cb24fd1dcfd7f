//! What is known about a server, and the readings that bring it up to date.

use super::Snapshot;
use super::budget::Budget;
use super::series::Series;
use host_facts::{Identity, Kin, Side, Sockets, ThreadCounts, Threads, Tree, process};
use record::{Memory, ServerRow, ServerSeries};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Everything that the sampler knows.
#[derive(Debug)]
pub(super) struct State {
    tree: Tree,
    alive: Vec<Kin>,
    /// Last seen CPU time of every process, ended ones too.
    cpu: BTreeMap<Identity, Duration>,
    /// Last seen parts of it in the program and in the kernel.
    parts: BTreeMap<Identity, (Duration, Duration)>,
    threads: Threads,
    /// By port.
    sockets: Vec<Sockets>,
    /// The sum of `cpu` over time.
    used: Series<Duration>,
    resident: Series<(u64, u32)>,
    proportional: Series<u64>,
    in_sockets: Series<u64>,
    budgets: Budgets,
}

#[derive(Debug)]
struct Budgets {
    search: Budget,
    usage: Budget,
    threads: Budget,
    proportional: Budget,
    sockets: Budget,
}

impl State {
    pub(super) fn new(pids: &[u32], ports: &[u16], interval: Duration) -> Self {
        Self {
            tree: Tree::new(pids),
            alive: Vec::new(),
            cpu: BTreeMap::new(),
            parts: BTreeMap::new(),
            threads: Threads::default(),
            sockets: ports
                .iter()
                .map(|port| Sockets::new(*port, Side::Local))
                .collect(),
            used: Series::default(),
            resident: Series::default(),
            proportional: Series::default(),
            in_sockets: Series::default(),
            budgets: Budgets {
                search: Budget::new(interval),
                usage: Budget::new(interval),
                threads: Budget::new(interval),
                proportional: Budget::new(interval),
                sockets: Budget::new(interval),
            },
        }
    }

    pub(super) fn add(&mut self, pids: &[u32]) {
        self.tree.add(pids);
    }

    /// Makes the readings whose budget allows it.
    pub(super) fn read_due(&mut self) {
        let now = Instant::now();
        if self.budgets.search.due(now) {
            self.search();
        }
        if self.budgets.usage.due(now) {
            self.usage();
        }
        if self.budgets.threads.due(now) {
            self.threads();
        }
        if self.budgets.proportional.due(now) {
            self.proportional();
        }
        if self.budgets.sockets.due(now) {
            self.in_sockets();
        }
    }

    /// Makes all readings, whatever they cost.
    pub(super) fn read_all(&mut self) -> Snapshot {
        self.search();
        let at = Instant::now();
        let (resident_bytes, processes) = self.usage();
        Snapshot {
            at,
            cpu: self.cpu.values().sum(),
            user: self.parts.values().map(|(user, _)| *user).sum(),
            kernel: self.parts.values().map(|(_, kernel)| *kernel).sum(),
            threads: self.threads(),
            memory: Memory {
                resident_bytes,
                proportional_bytes: self.proportional(),
                sockets_bytes: self.in_sockets(),
                processes,
            },
        }
    }

    pub(super) fn window(&mut self, from: Instant, to: Instant) -> Memory {
        let (resident_bytes, processes) = self.resident.largest(from, to).unwrap_or_else(|| {
            self.search();
            self.usage()
        });
        Memory {
            resident_bytes,
            processes,
            proportional_bytes: self
                .proportional
                .largest(from, to)
                .or_else(|| self.proportional()),
            sockets_bytes: self
                .in_sockets
                .largest(from, to)
                .or_else(|| self.in_sockets()),
        }
    }

    fn search(&mut self) {
        self.alive = self.budgets.search.charge(|| self.tree.search());
        for kin in &self.alive {
            self.parts.insert(kin.identity, (kin.user, kin.kernel));
        }
    }

    fn threads(&mut self) -> Option<ThreadCounts> {
        let (threads, alive) = (&mut self.threads, &self.alive);
        self.budgets.threads.charge(|| threads.read(alive))
    }

    /// Reads clocks and resident memory; returns the memory and the number of processes.
    fn usage(&mut self) -> (u64, u32) {
        let (cpu, alive) = (&mut self.cpu, &self.alive);
        let sum = self.budgets.usage.charge(|| {
            for kin in alive {
                if let Some(used) = process::cpu(kin.identity.pid) {
                    // A clock that runs backwards belongs to a newer process of the same number.
                    let seen = cpu.entry(kin.identity).or_default();
                    *seen = used.max(*seen);
                }
            }
            let living: Vec<u64> = living(alive)
                .filter_map(|kin| process::resident(kin.identity.pid))
                .collect();
            (living.iter().sum(), living.len() as u32)
        });
        let now = Instant::now();
        self.used.push(now, self.cpu.values().sum());
        self.resident.push(now, sum);
        sum
    }

    /// What was used between two moments, in intervals of equal length.
    pub(super) fn series(&self, from: Instant, to: Instant) -> ServerSeries {
        let length = to.saturating_duration_since(from);
        let interval_ns = ServerSeries::interval_of(nanoseconds(length));
        let interval = Duration::from_nanos(interval_ns);
        let count = nanoseconds(length).div_ceil(interval_ns);
        let mut used = self
            .used
            .last_before(from)
            .or_else(|| self.used.first())
            .unwrap_or_default();
        let rows = (0..count).map(|number| {
            let begin = from + interval * number as u32;
            let end = (begin + interval).min(to);
            let before = used;
            used = self.used.last_before(end).unwrap_or(before);
            let resident = within(&self.resident, begin, end).unwrap_or_default();
            ServerRow {
                cpu_ns: nanoseconds(used.saturating_sub(before)),
                resident_bytes: resident.0,
                // Of a server that has ended, nothing more is read.
                proportional_bytes: within(&self.proportional, begin, end)
                    .filter(|_| resident.1 > 0),
                sockets_bytes: within(&self.in_sockets, begin, end),
            }
        });
        ServerSeries {
            interval_ns,
            rows: rows.collect(),
        }
    }

    fn proportional(&mut self) -> Option<u64> {
        let alive = &self.alive;
        let sum = self.budgets.proportional.charge(|| {
            let known: Vec<u64> = living(alive)
                .filter_map(|kin| process::proportional(kin.identity.pid))
                .collect();
            (!known.is_empty()).then(|| known.iter().sum())
        })?;
        self.proportional.push(Instant::now(), sum);
        Some(sum)
    }

    fn in_sockets(&mut self) -> Option<u64> {
        let sockets = &mut self.sockets;
        let sum = self
            .budgets
            .sockets
            .charge(|| sockets.iter_mut().map(Sockets::bytes).sum::<Option<u64>>())?;
        self.in_sockets.push(Instant::now(), sum);
        Some(sum)
    }
}

/// The largest sample between two moments; where there is none, the last before.
fn within<T: Copy + Ord>(series: &Series<T>, from: Instant, to: Instant) -> Option<T> {
    let largest = series.largest(from, to);
    largest.or_else(|| series.last_before(from))
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn living(alive: &[Kin]) -> impl Iterator<Item = &Kin> {
    alive.iter().filter(|kin| !kin.zombie)
}
