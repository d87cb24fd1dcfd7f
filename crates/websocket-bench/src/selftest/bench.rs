//! What every part measures with: the generator and the plans it is given.

use run_record::{
    Arrivals, Dialect, Io, Limit, Measure, OpenLoop, Plan, Recorder, StepRecord, Timeouts,
    Timestamps, Workload,
};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Of all plans.
pub(super) const SEED: u64 = 4;

/// The instrument under test, as the parts use it.
pub(super) struct Bench<'a> {
    pub(super) short: bool,
    pub(super) timestamps: Timestamps,
    pub(super) io: Io,
    /// The kernel gives stamps, so that a hindered generator must not make a server look slow.
    pub(super) prove_hindered: bool,
    /// The user wants it to end; what is measured then is of no use.
    pub(super) interrupted: &'a AtomicBool,
    /// Carries out a plan of one step. Tests put generators with a planted fault here.
    pub(super) generate: &'a dyn Fn(&Plan) -> Result<StepRecord, String>,
}

/// The engine of this program, on threads of this process.
pub(super) fn in_process(plan: &Plan, interrupted: &AtomicBool) -> Result<StepRecord, String> {
    let measured = ws_load::run(plan, interrupted, &mut |_| {});
    let measured = measured.map_err(|error| error.to_string())?;
    let detail = measured.outcome.detail;
    measured.steps.into_iter().next().ok_or(detail)
}

impl Bench<'_> {
    pub(super) fn run(&self, plan: &Plan) -> Result<StepRecord, String> {
        (self.generate)(plan)
    }

    /// One or the other time.
    pub(super) const fn time(&self, full: Duration, short: Duration) -> Duration {
        if self.short { short } else { full }
    }

    /// One step of so many clients against `server`, one request after the other.
    pub(super) fn plan(&self, server: SocketAddr, workload: Workload, clients: u32) -> Plan {
        Plan {
            url: format!("ws://{server}/"),
            workload,
            dialect: Dialect::Json,
            origin: None,
            local_addrs: Vec::new(),
            open_loop: None,
            connect: None,
            concurrent: 1,
            sample_size: 1,
            initial_clients: clients,
            step_size: 1,
            search: None,
            total_steps: Some(1),
            payload_padding: 64,
            limit: Limit {
                percentile: 95.0,
                rtt_ns: nanos(Duration::from_secs(60)),
                measure: Measure::Completion,
            },
            timeouts: Timeouts {
                connect_ns: nanos(Duration::from_secs(10)),
                sample_ns: nanos(Duration::from_secs(10)),
            },
            timestamps: self.timestamps,
            io: self.io,
            connect_concurrency: 50,
            threads: 1,
            seed: SEED,
            verify_certificate: true,
            ca_file: None,
        }
    }
}

/// A backend as the command line calls it.
pub(super) const fn io_flag(io: Io) -> &'static str {
    match io {
        Io::Epoll => "epoll",
        Io::Uring => "uring",
    }
}

/// Sends by the clock.
pub(super) fn at_rate(rate: f64, arrivals: Arrivals, duration: Duration) -> Option<OpenLoop> {
    Some(OpenLoop {
        rate,
        ramp: None,
        arrivals,
        duration_ns: nanos(duration),
        warm_up_ns: 0,
    })
}

pub(super) const fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

/// The histogram of a figure that may be missing from a record; empty then.
pub(super) fn recorder(latency: Option<&run_record::Latency>) -> Recorder {
    latency
        .and_then(|latency| latency.recorder().ok())
        .unwrap_or_default()
}

/// Starting a server of this process.
pub(super) fn started<S>(server: std::io::Result<S>) -> Result<S, String> {
    server.map_err(|error| format!("the test server does not start: {error}"))
}
