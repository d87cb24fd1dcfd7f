//! Steps whose loads are chosen by what the steps before them showed.

use super::{CLOSE_PATIENCE, Crew, Ended, Engine, Load};
use crate::io::Epoll;
use crate::plan::Hunt;
use run_record::{Edge, End, OpenLoop, RunRecord, Search, SearchOf};
use std::sync::Arc;

/// Above this share of a core the generator, and not the server, may have failed a step.
const BUSY: f64 = 0.9;

impl Engine<'_> {
    /// Finds the highest load within the limit.
    pub(super) fn search(&mut self, terms: Search) -> Ended {
        let first = match terms.of {
            SearchOf::Clients => f64::from(self.plan.initial_clients),
            SearchOf::Rate => self.plan.open_loop.as_ref().map_or(1.0, |open| open.rate),
        };
        let mut hunt = Hunt::new(terms, first, terms.of == SearchOf::Clients);
        for step in 0.. {
            self.edge = Some(hunt.edge());
            let Some(value) = hunt.next() else {
                return Ended::new(End::EdgeFound, in_words(&hunt.edge()));
            };
            match self.try_load(step, terms.of, value) {
                Ok(passed) => hunt.tried(passed),
                Err(ended) => return ended,
            }
        }
        unreachable!("a search ends before 2^32 steps")
    }

    /// Whether the server holds the limit under a load; an error when that cannot be told.
    fn try_load(&mut self, step: u32, of: SearchOf, value: f64) -> Result<bool, Ended> {
        let load = self.load_of(of, value);
        if load.clients < self.crew.connected() {
            self.begin_anew()?;
        }
        let measured_before = self.steps.len();
        let ended = match self.step(step, &load) {
            Ok(ended) => ended,
            Err(ended) => Some(ended),
        };
        let passed = self.steps.len() > measured_before
            && self.steps.last().is_some_and(|record| record.passed());
        match ended {
            None => {}
            Some(Ended {
                end: End::OverLimit,
                ..
            }) => self.blame()?,
            // Connections are gone, or wait for what will never come.
            Some(Ended {
                end: End::TimedOut | End::ServerLost | End::ConnectFailed,
                ..
            }) => self.begin_anew()?,
            Some(ended) => return Err(ended),
        }
        Ok(passed)
    }

    /// A failure of the generator is none of the server's.
    fn blame(&self) -> Result<(), Ended> {
        let busy = self
            .steps
            .last()
            .map(|record| record.generator.busiest_thread);
        match busy {
            Some(busy) if busy > BUSY => Err(Ended::new(
                End::MachineLimit,
                format!(
                    "the generator was busy {:.0}% of a step that failed: it, and not the server, \
                     may have been the limit; give it more cores or --threads",
                    busy * 100.0
                ),
            )),
            _ => Ok(()),
        }
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
        self.crew = Crew::hire::<Epoll>(self.plan, target)
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
