//! One side of a comparison: its rows, and the repetitions of each.

use plan::{Dialect, Measure, Workload};
use record::{Measurement, Network, Pinning, Recorder, RunRecord, Status, StepRecord, Verdict};
use std::collections::BTreeMap;

/// One side.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// The file, directory or server, as it is to be shown.
    pub name: String,
    /// Its rows.
    pub rows: Vec<Contestant>,
    /// Files that were left out, each with the reason.
    pub left_out: Vec<String>,
}

/// One row: every repetition of one server and variant under one workload and dialect.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// Server and variant; absent for records of the generator alone.
    pub server: Option<(String, String)>,
    /// Which request.
    pub workload: Workload,
    /// Name of the workload.
    pub workload_name: String,
    /// In which message format.
    pub dialect: Dialect,
    /// Version of the library.
    pub version: Option<String>,
    /// What runs or compiled it.
    pub runtime: Option<String>,
    /// Repetitions that have a result.
    pub invocations: Vec<Invocation>,
    /// Those that have none, each with the reason.
    pub without: Vec<String>,
}

/// One repetition with a result.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Its status.
    pub status: Status,
    /// Which cores were given to whom.
    pub pinning: Option<Pinning>,
    /// The network that was asked for; absent over loopback.
    pub network: Option<Network>,
    /// What the generator measured.
    pub run: RunRecord,
}

/// Request, name of the workload, and message format.
type Kind = (Workload, String, Dialect);

/// Clients, and the bits of the rate of an open loop.
pub(super) type Load = (u64, u64);

impl Contestant {
    /// Server and variant in words; empty where the record has none.
    pub fn name(&self) -> String {
        match &self.server {
            Some((server, variant)) if variant == "default" => server.clone(),
            Some((server, variant)) => format!("{server} {variant}"),
            None => String::new(),
        }
    }

    fn is_row_of(&self, server: Option<&(String, String)>, of: &Kind) -> bool {
        let own = (self.workload, self.dialect);
        self.server.as_ref() == server && own == (of.0, of.2) && self.workload_name == of.1
    }
}

impl Side {
    fn row(&mut self, server: Option<(String, String)>, of: Kind) -> &mut Contestant {
        let known = self
            .rows
            .iter()
            .position(|row| row.is_row_of(server.as_ref(), &of));
        let index = known.unwrap_or_else(|| {
            self.rows.push(Contestant {
                server,
                workload: of.0,
                workload_name: of.1,
                dialect: of.2,
                version: None,
                runtime: None,
                invocations: Vec::new(),
                without: Vec::new(),
            });
            self.rows.len() - 1
        });
        &mut self.rows[index]
    }

    /// Adds a repetition of `shootout run`. One that the workload does not apply to is none.
    pub(crate) fn add_measurement(&mut self, measurement: Measurement) {
        if measurement.status == Status::NotApplicable {
            return;
        }
        let name = measurement.workload_name().to_owned();
        let of = (measurement.workload, name, measurement.dialect);
        let server = (measurement.server.name, measurement.server.variant);
        let row = self.row(Some(server), of);
        row.version = row.version.take().or(measurement.server.library_version);
        row.runtime = row.runtime.take().or(measurement.server.runtime);
        let status = measurement.status;
        let told = || {
            let reason = measurement.reason.as_deref().unwrap_or("no reason given");
            format!(
                "repetition {}: {}: {reason}",
                measurement.repetition,
                status.name()
            )
        };
        match (status, measurement.run) {
            // A run that the user or the generator ended has complete steps before its end.
            (
                Status::Ok | Status::Noisy | Status::GeneratorLimited | Status::Interrupted,
                Some(run),
            ) => row.invocations.push(Invocation {
                status,
                pinning: measurement.pinning,
                network: measurement.network.map(|of| of.asked),
                run,
            }),
            (Status::Interrupted, None) => {}
            _ => row.without.push(told()),
        }
    }

    /// Adds a run of `websocket-bench`.
    pub(crate) fn add_run(&mut self, run: RunRecord) {
        let request = run.plan.workload();
        let name = run.plan.name.as_deref().unwrap_or(request.name());
        let of = (request, name.to_owned(), run.plan.message.dialect);
        let row = self.row(None, of);
        let faults = run.faults();
        if !faults.is_empty() {
            let started = &run.started;
            row.without
                .push(format!("the run begun at {started}: faults: {faults}"));
            return;
        }
        let limited = |step: &StepRecord| step.verdict == Verdict::GeneratorLimited;
        row.invocations.push(Invocation {
            status: if run.steps.iter().any(limited) {
                Status::GeneratorLimited
            } else {
                Status::Ok
            },
            pinning: None,
            network: None,
            run,
        });
    }
}

impl Invocation {
    /// The latencies of every load that was measured completely and not at the generator's limit;
    /// several tries at one load are one distribution.
    pub(super) fn loads(&self, measure: Measure) -> BTreeMap<Load, Recorder> {
        let mut loads: BTreeMap<Load, Recorder> = BTreeMap::new();
        for step in self.run.steps.iter().filter(|step| counts(step)) {
            let recorder = step
                .measured(measure)
                .and_then(|latency| latency.recorder().ok());
            if let Some(recorder) = recorder {
                loads
                    .entry((step.clients, step.rate.unwrap_or_default().to_bits()))
                    .or_default()
                    .merge(&recorder);
            }
        }
        loads
    }
}

/// A passed step with reasons is one in which the generator may have made the server look slower;
/// two servers would look more alike than they are.
fn counts(step: &StepRecord) -> bool {
    let servers_own = match step.verdict {
        Verdict::Pass => step.verdict_reasons.is_empty(),
        Verdict::Fail => true,
        Verdict::GeneratorLimited | Verdict::Noisy | Verdict::Interrupted => false,
    };
    servers_own && step.is_complete() && !step.timed_out && step.faults.is_empty()
}
