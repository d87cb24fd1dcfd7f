//! The load of the first step, before the first step: it is measured, and decides nothing.

use super::{Controller, Ended, Workers};
use crate::clock;
use plan::Nanos;
use record::{Event, Verdict};

/// A warm-up under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct WarmingUp {
    began_ns: u64,
    wanted_ns: u64,
}

impl<W: Workers> Controller<'_, W> {
    /// Carries out steps until the time of the plan is over. An error when the run cannot go on.
    pub(super) fn warm_up(&mut self) -> Result<(), Ended> {
        let Nanos(wanted_ns) = self.plan.warm_up;
        if wanted_ns == 0 {
            return Ok(());
        }
        let began_ns = clock::now_ns();
        self.warming_up = Some(WarmingUp {
            began_ns,
            wanted_ns,
        });
        let ended = self.repeat_first_step(began_ns, wanted_ns);
        self.warming_up = None;
        if let Some(warm_up) = &self.warm_up {
            (self.on_event)(&Event::WarmedUp {
                warm_up: warm_up.clone(),
            });
        }
        ended
    }

    fn repeat_first_step(&mut self, began_ns: u64, wanted_ns: u64) -> Result<(), Ended> {
        let load = self.load_at(0);
        loop {
            self.connect(0, load.clients)?;
            let (record, early_end) = self.measure(0, &load)?;
            let ended = early_end.or_else(|| self.connections_lost(&record, record.clients));
            let warm_up = self.warm_up.get_or_insert_default();
            if record.verdict != Verdict::GeneratorLimited {
                warm_up.faults.merge(&record.faults);
            }
            if warm_up.steps == 0 {
                warm_up.cold = record;
            }
            warm_up.steps += 1;
            warm_up.elapsed_ns = clock::now_ns() - began_ns;
            if let Some(ended) = ended {
                return Err(ended);
            }
            if warm_up.elapsed_ns >= wanted_ns {
                return Ok(());
            }
        }
    }

    pub(super) fn tell_warm_up(&mut self) {
        if let Some(of) = self.warming_up {
            (self.on_event)(&Event::WarmingUp {
                elapsed_ns: clock::now_ns() - of.began_ns,
                wanted_ns: of.wanted_ns,
            });
        }
    }
}
