//! What is known about a server, and the readings that bring it up to date.

use super::Snapshot;
use super::budget::Budget;
use super::series::Series;
use host_facts::{Identity, Kin, Side, Sockets, Tree, process};
use run_record::Memory;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Everything that the sampler knows.
#[derive(Debug)]
pub(super) struct State {
    tree: Tree,
    alive: Vec<Kin>,
    /// Last seen processor time of every process, ended ones too.
    cpu: BTreeMap<Identity, Duration>,
    sockets: Sockets,
    resident: Series<(u64, u32)>,
    proportional: Series<u64>,
    in_sockets: Series<u64>,
    budgets: Budgets,
}

#[derive(Debug)]
struct Budgets {
    search: Budget,
    usage: Budget,
    proportional: Budget,
    sockets: Budget,
}

impl State {
    pub(super) fn new(pids: &[u32], port: u16, interval: Duration) -> Self {
        Self {
            tree: Tree::new(pids),
            alive: Vec::new(),
            cpu: BTreeMap::new(),
            sockets: Sockets::new(port, Side::Local),
            resident: Series::default(),
            proportional: Series::default(),
            in_sockets: Series::default(),
            budgets: Budgets {
                search: Budget::new(interval),
                usage: Budget::new(interval),
                proportional: Budget::new(interval),
                sockets: Budget::new(interval),
            },
        }
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
        let cpu = self.cpu.values().sum();
        Snapshot {
            at,
            cpu,
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
        self.resident.push(Instant::now(), sum);
        sum
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
        let sum = self.budgets.sockets.charge(|| sockets.bytes())?;
        self.in_sockets.push(Instant::now(), sum);
        Some(sum)
    }
}

fn living(alive: &[Kin]) -> impl Iterator<Item = &Kin> {
    alive.iter().filter(|kin| !kin.zombie)
}
