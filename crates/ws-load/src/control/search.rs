//! Steps whose loads are chosen by what the steps before them showed.

use super::controller::StepLoad;
use super::{Controller, Ended, Workers};
use crate::plan::{Hunt, briefly};
use plan::{OpenLoop, Search, SearchOf};
use record::{Edge, End, RunRecord, Verdict};

/// Most tries in a row without a verdict on the server.
const VOID_TRIES: u32 = 5;

impl<W: Workers> Controller<'_, W> {
    /// Finds the highest load within the limit.
    pub(super) fn search(&mut self, terms: Search) -> Ended {
        let first = match terms.of {
            SearchOf::Clients => f64::from(self.plan.clients.first()),
            SearchOf::Rate => self.plan.open_loop().map_or(1.0, |open| open.rate),
        };
        let mut hunt = Hunt::new(terms, first, terms.of == SearchOf::Clients);
        let mut void = 0;
        for step in 0.. {
            self.edge = Some(hunt.edge());
            let Some(value) = hunt.next() else {
                let found = || Ended::new(End::EdgeFound, in_words(&hunt.edge()));
                return self.unreachable.take().unwrap_or_else(found);
            };
            match self.try_load(step, terms.of, value, hunt.is_far()) {
                Ok(Some(passed)) => {
                    void = 0;
                    hunt.tried(value, passed);
                }
                Ok(None) if void + 1 < VOID_TRIES => void += 1,
                Ok(None) => return self.all_noisy(),
                // A machine that was busy for a moment looks like a generator at its limit.
                Err(Ended {
                    end: End::GeneratorLimited,
                    ..
                }) if void + 1 < VOID_TRIES => {
                    void += 1;
                    if let Err(ended) = self.workers.renew(self.interrupted) {
                        return ended;
                    }
                }
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
                "{VOID_TRIES} tries in a row said nothing, the last was noisy: {}",
                reasons.unwrap_or_default()
            ),
        )
    }

    /// Whether the server holds the limit under a load; `None` when this try does not say, an error
    /// when none can.
    fn try_load(
        &mut self,
        step: u32,
        of: SearchOf,
        value: f64,
        is_far: bool,
    ) -> Result<Option<bool>, Ended> {
        let mut load = self.load_of(of, value);
        if is_far {
            briefly(
                self.plan.limits.percentile,
                &mut load.open,
                &mut load.samples,
            );
        }
        if load.clients < self.workers.connected() {
            self.workers.renew(self.interrupted)?;
        }
        let measured_before = self.steps.len();
        let ended = match self.step(step, &load) {
            Ok(ended) => ended,
            Err(ended) => Some(ended),
        };
        let record = self.steps.get(measured_before);
        let is_noisy = record.is_some_and(|record| record.verdict == Verdict::Noisy);
        let passed = record.is_some_and(|record| record.passed());
        let is_measured = record.is_some();
        self.can_go_on(ended, of)?;
        if !is_measured {
            self.unmeasured.push(value);
        }
        Ok((!is_noisy).then_some(passed))
    }

    /// Makes the workers ready for another try after one that ended so.
    ///
    /// # Errors
    /// With the end of the search, where no other try can say more.
    fn can_go_on(&mut self, ended: Option<Ended>, of: SearchOf) -> Result<(), Ended> {
        let Some(ended) = ended else { return Ok(()) };
        match ended.end {
            End::OverLimit => Ok(()),
            // A lower rate has as many clients.
            End::ConnectFailed if self.steps.is_empty() && of == SearchOf::Rate => Err(ended),
            // Connections are gone, or wait for what will never come.
            End::TimedOut | End::ServerLost | End::ConnectFailed => {
                let is_unreachable = ended.end == End::ConnectFailed && self.steps.is_empty();
                self.unreachable = is_unreachable.then_some(ended);
                self.workers.renew(self.interrupted)
            }
            _ => Err(ended),
        }
    }

    fn load_of(&self, of: SearchOf, value: f64) -> StepLoad {
        let open = self.plan.open_loop().cloned();
        let samples = self.plan.samples();
        match of {
            SearchOf::Clients => StepLoad {
                clients: value as u64,
                open,
                samples,
            },
            SearchOf::Rate => StepLoad {
                clients: self.plan.clients_at(0),
                open: open.map(|open| OpenLoop {
                    rate: value,
                    ..open
                }),
                samples,
            },
        }
    }

    /// The clients of the run: the result of a search for clients, or the number that a search for a
    /// rate was made with.
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
            }) => Some(self.plan.clients_at(0)),
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
