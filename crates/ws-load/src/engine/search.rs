//! Steps whose loads are chosen by what the steps before them showed.

use super::{CLOSE_PATIENCE, Crew, Ended, Engine, Load};
use crate::plan::Hunt;
use run_record::{Edge, End, OpenLoop, RunRecord, Search, SearchOf, Verdict};
use std::sync::Arc;

/// Tries of one load in a row that may say nothing.
const NOISY_TRIES: u32 = 5;

impl Engine<'_> {
    /// Finds the highest load within the limit.
    pub(super) fn search(&mut self, terms: Search) -> Ended {
        let first = match terms.of {
            SearchOf::Clients => f64::from(self.plan.initial_clients),
            SearchOf::Rate => self.plan.open_loop.as_ref().map_or(1.0, |open| open.rate),
        };
        let mut hunt = Hunt::new(terms, first, terms.of == SearchOf::Clients);
        let mut noisy = 0;
        for step in 0.. {
            self.edge = Some(hunt.edge());
            let Some(value) = hunt.next() else {
                return Ended::new(End::EdgeFound, in_words(&hunt.edge()));
            };
            match self.try_load(step, terms.of, value) {
                Ok(Some(passed)) => {
                    noisy = 0;
                    hunt.tried(passed);
                }
                Ok(None) if noisy + 1 < NOISY_TRIES => noisy += 1,
                Ok(None) => return self.all_noisy(),
                Err(ended) => return ended,
            }
        }
        unreachable!("a search ends before 2^32 steps")
    }

    fn all_noisy(&self) -> Ended {
        let reasons = self
            .steps
            .last()
            .map(|step| step.verdict_reasons.join("; "));
        Ended::new(
            End::MachineLimit,
            format!(
                "{NOISY_TRIES} tries in a row were noisy: {}",
                reasons.unwrap_or_default()
            ),
        )
    }

    /// Whether the server holds the limit under a load; `None` when this try does not say, an error
    /// when none can.
    fn try_load(&mut self, step: u32, of: SearchOf, value: f64) -> Result<Option<bool>, Ended> {
        let load = self.load_of(of, value);
        if load.clients < self.crew.connected() {
            self.begin_anew()?;
        }
        let measured_before = self.steps.len();
        let ended = match self.step(step, &load) {
            Ok(ended) => ended,
            Err(ended) => Some(ended),
        };
        let record = self.steps.get(measured_before);
        let is_noisy = record.is_some_and(|record| record.verdict == Verdict::Noisy);
        let passed = record.is_some_and(|record| record.passed());
        match ended {
            None
            | Some(Ended {
                end: End::OverLimit,
                ..
            }) => {}
            // Connections are gone, or wait for what will never come.
            Some(Ended {
                end: End::TimedOut | End::ServerLost | End::ConnectFailed,
                ..
            }) => self.begin_anew()?,
            Some(ended) => return Err(ended),
        }
        Ok((!is_noisy).then_some(passed))
    }

    fn load_of(&self, of: SearchOf, value: f64) -> Load {
        let open = self.plan.open_loop.clone();
        match of {
            SearchOf::Clients => Load {
                clients: value as u64,
                open,
            },
            SearchOf::Rate => Load {
                clients: u64::from(self.plan.initial_clients),
                open: open.map(|open| OpenLoop {
                    rate: value,
                    ..open
                }),
            },
        }
    }

    /// Closes every connection and begins with new workers.
    fn begin_anew(&mut self) -> Result<(), Ended> {
        self.crew.dismiss(CLOSE_PATIENCE);
        let target = Arc::clone(&self.target);
        self.crew = Crew::of(self.plan, target)
            .map_err(|error| Ended::new(End::MachineLimit, error.to_string()))?;
        Ok(())
    }

    /// The clients that a run has carried: of a search for clients, its result; of one for a rate,
    /// the clients that it was made with.
    pub(super) fn carried(&self) -> Option<u64> {
        match self.edge {
            None => RunRecord::carried(&self.steps),
            Some(Edge { passed: None, .. }) => None,
            Some(Edge {
                of: SearchOf::Clients,
                passed: Some(clients),
                ..
            }) => Some(clients as u64),
            Some(Edge {
                of: SearchOf::Rate, ..
            }) => Some(u64::from(self.plan.initial_clients)),
        }
    }
}

fn in_words(edge: &Edge) -> String {
    let unit = match edge.of {
        SearchOf::Clients => "clients",
        SearchOf::Rate => "requests a second",
    };
    match (edge.passed, edge.failed) {
        (Some(passed), Some(failed)) => {
            format!("{passed:.0} {unit} pass, {failed:.0} do not")
        }
        (None, Some(failed)) => format!("not even {failed:.0} {unit} pass"),
        (passed, None) => format!("{:.0} {unit} pass", passed.unwrap_or(0.0)),
    }
}
