//! (f) What this generator can do at most on this machine.

use super::bench::{Bench, io_flag, started};
use super::{Chapter, Findings, child};
use crate::Part;
use crate::error::Unmade;
use plan::{Dialect, Io, Workload};
use record::{Ceiling, Check, StepRecord, Unit};
use std::time::Duration;
use test_servers::{NullOptions, NullServer};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::F,
    id: "f",
    name: "ceiling",
    proves: "So much can this generator receive and verify on this machine; a result near it \
             says more of the generator than of a server.",
    takes: (Duration::from_secs(9), Duration::from_secs(3)),
    measure,
};

const PADDING: u32 = 200;
/// Messages per second that are surely below any ceiling: sizes the first, short run.
const SURELY: u64 = 50_000;

/// A closed loop that keeps the generator as busy as it can be.
struct Load {
    workload: Workload,
    clients: u64,
    concurrent: u32,
    threads: u32,
    io: Io,
}

impl Load {
    /// Messages that one sample brings.
    const fn messages_per_sample(&self) -> u64 {
        match self.workload {
            Workload::Echo | Workload::Connect => 1,
            Workload::Broadcast | Workload::Rooms => self.clients + 1,
        }
    }

    fn run(
        &self,
        bench: &Bench<'_>,
        server: &NullServer,
        samples: u64,
    ) -> Result<StepRecord, Unmade> {
        let command = self.workload.name();
        let arguments = format!(
            "{command} ws://{}/ -c {} -s {samples} --initial-clients {} --payload-padding {PADDING} \
             --threads {} --io {} --limit-rtt 20s",
            server.addr(),
            self.concurrent,
            self.clients,
            self.threads,
            io_flag(self.io)
        );
        child::measure(&arguments, false, bench.interrupted).map(|measured| measured.step)
    }
}

fn measure(bench: &Bench<'_>) -> Result<Findings, Unmade> {
    let server = started(NullServer::start(NullOptions::default()))?;
    // The null server has one thread; the generator gets the other cores.
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let threads = cores.saturating_sub(1).max(1);
    let mut found = Findings::default();
    for (workload, clients, concurrent) in
        [(Workload::Broadcast, 500, 4), (Workload::Echo, 100, 200)]
    {
        let load = Load {
            workload,
            clients,
            concurrent,
            threads,
            io: bench.io,
        };
        let first = load.run(
            bench,
            &server,
            (SURELY / 4).div_ceil(load.messages_per_sample()),
        )?;
        let time = bench.time(Duration::from_secs(4), Duration::from_secs(1));
        let samples = (first.samples as f64 * 1e9 / first.elapsed_ns as f64) * time.as_secs_f64();
        let step = load.run(bench, &server, (samples as u64).max(1))?;
        found.checks.extend(judge(&load, &step));
        let ceiling = ceiling(&load, &step);
        found.notes.push(words(&ceiling));
        found.ceilings.push(ceiling);
    }
    Ok(found)
}

/// Every message that the null server sent was received, verified and counted.
fn judge(load: &Load, step: &StepRecord) -> Vec<Check> {
    let name = load.workload.name();
    let known = step.samples_planned * load.messages_per_sample();
    vec![
        Check::exactly(&format!("{name}: messages"), known, step.generator.messages),
        Check::exactly(&format!("{name}: faults"), 0, step.faults.total()),
        Check::between(
            &format!("{name}: CPU of the generator per message"),
            Unit::Nanoseconds,
            per_message(step),
            Some(1.0),
            None,
        ),
    ]
}

fn per_message(step: &StepRecord) -> f64 {
    step.generator.cpu_ns as f64 / step.generator.messages as f64
}

fn ceiling(load: &Load, step: &StepRecord) -> Ceiling {
    Ceiling {
        workload: load.workload,
        dialect: Dialect::Text,
        clients: load.clients,
        payload_padding: PADDING,
        threads: load.threads,
        messages_per_second: step.generator.messages as f64 * 1e9 / step.elapsed_ns as f64,
        cpu_ns_per_message: per_message(step),
        busiest_thread: step.generator.busiest_thread,
    }
}

fn words(ceiling: &Ceiling) -> String {
    let Ceiling {
        workload,
        clients,
        threads,
        ..
    } = ceiling;
    let busy = ceiling.busiest_thread * 100.0;
    let bound = if busy < 90.0 {
        "; it was not busy all the time, so it can do more than this"
    } else {
        ""
    };
    format!(
        "{} to {clients} clients, {threads} worker{}: {:.0} messages per second, {:.2} us of CPU \
         each, busiest thread {busy:.0}%{bound}",
        workload.name(),
        if *threads == 1 { "" } else { "s" },
        ceiling.messages_per_second,
        ceiling.cpu_ns_per_message / 1e3,
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{failed, step, worst};
    use super::*;
    use record::{GeneratorUse, ProofVerdict};

    const LOAD: Load = Load {
        workload: Workload::Broadcast,
        clients: 10,
        concurrent: 4,
        threads: 1,
        io: Io::Epoll,
    };

    fn measured(messages: u64) -> StepRecord {
        StepRecord {
            samples_planned: 100,
            samples: 100,
            elapsed_ns: 500_000_000,
            generator: GeneratorUse {
                messages,
                cpu_ns: 1_100_000,
                busiest_thread: 0.5,
                ..GeneratorUse::default()
            },
            ..step()
        }
    }

    #[test]
    fn a_message_that_was_not_counted_fails() {
        assert_eq!(worst(&judge(&LOAD, &measured(1100))), ProofVerdict::Pass);
        assert_eq!(
            failed(&judge(&LOAD, &measured(1099))),
            ["broadcast: messages"]
        );
        assert_eq!(failed(&judge(&LOAD, &measured(0))).len(), 2);
    }

    #[test]
    fn the_ceiling_is_stated_with_what_limits_it() {
        let ceiling = ceiling(&LOAD, &measured(1100));
        assert_eq!(ceiling.messages_per_second, 2200.0);
        assert_eq!(ceiling.cpu_ns_per_message, 1000.0);
        assert!(words(&ceiling).contains("not busy all the time"));
    }
}
