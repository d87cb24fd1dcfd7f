//! Rules for a plan whose clients carry out a script, and for recorded arrivals.

use super::{
    Arrivals, Clients, DialectFile, Life, Load, Nanos, Plan, PlanError, Reading, SearchOf, Workload,
};

const ARRIVALS: &str = "load.open.arrivals";

impl Plan {
    /// Checks what a script asks of the rest of the plan.
    ///
    /// # Errors
    /// The first contradiction.
    pub(super) fn validate_script(&self) -> Result<(), PlanError> {
        let refused = |field, reason| Err(PlanError::Contradiction { field, reason });
        let is_recorded = match &self.load {
            Load::Open(open) => open.arrivals == Arrivals::Recorded,
            Load::Connect(connect) => connect.arrivals == Arrivals::Recorded,
            Load::Closed(_) | Load::Watch(_) => false,
        };
        let file = self.message.definition.as_deref();
        if file.is_none_or(|file| file.send.script.is_empty()) {
            return match is_recorded {
                true => refused(
                    ARRIVALS,
                    "is recorded, and there is no recording: write [[message.definition.send.script]], \
                     or have `websocket-bench import` make the plan of a capture",
                ),
                false => Ok(()),
            };
        }
        let Load::Open(open) = &self.load else {
            return refused(
                "message.definition",
                "has a script, which is carried out by the clock: write [load.open]",
            );
        };
        if self.workload() != Workload::Echo {
            return refused(
                "audience",
                "is not the sender alone, as it is with a script: audience = \"sender\"",
            );
        }
        let is_plain = |of: &super::Population| of.life == Life::Stays && of.reads == Reading::Full;
        if !self.populations.iter().all(is_plain) {
            return refused(
                "populations",
                "has clients that leave or read slowly, and with a script each client sends its own \
                 requests",
            );
        }
        match file.is_some_and(DialectFile::is_dialogue) {
            true if !is_recorded => {
                return refused(
                    ARRIVALS,
                    "has clients begin at other times than a dialogue does, whose script has `after`: \
                     take \"recorded\", by which load.open.rate clients begin per second",
                );
            }
            false if !is_recorded => return Ok(()),
            _ => {}
        }
        if open.ramp.is_some() || open.warm_up != Nanos(0) {
            return refused(
                ARRIVALS,
                "is recorded, and a recording has no ramp and no warm-up: leave load.open.ramp and \
                 load.open.warm_up out, or take another value",
            );
        }
        match &self.clients {
            Clients::Search(search) if search.of == SearchOf::Rate => refused(
                "clients.search.of",
                "is rate, and a recording has its own times: take clients",
            ),
            _ => Ok(()),
        }
    }
}
