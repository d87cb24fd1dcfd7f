//! Plans against test servers.

use run_record::{Dialect, Io, Limit, Measure, Plan, Timeouts, Timestamps, Workload};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use ws_load::Measured;

/// A short broadcast against `addr`: two steps of ten clients each.
pub(crate) fn plan(addr: SocketAddr, io: Io, timestamps: Timestamps) -> Plan {
    Plan {
        url: format!("ws://{addr}/ws"),
        workload: Workload::Broadcast,
        dialect: Dialect::Json,
        origin: None,
        local_addrs: Vec::new(),
        search: None,
        open_loop: None,
        connect: None,
        concurrent: 4,
        sample_size: 20,
        initial_clients: 10,
        step_size: 10,
        total_steps: Some(2),
        payload_padding: 200,
        limit: Limit {
            percentile: 95.0,
            rtt_ns: 5_000_000_000,
            measure: Measure::Completion,
        },
        timeouts: Timeouts {
            connect_ns: 1_000_000_000,
            sample_ns: 20_000_000_000,
        },
        timestamps,
        io,
        connect_concurrency: 50,
        threads: 1,
        seed: 11,
        verify_certificate: true,
        ca_file: None,
    }
}

/// Runs a plan to its end.
pub(crate) fn run(plan: &Plan) -> Measured {
    ws_load::run(plan, &AtomicBool::new(false), &mut |_| {}).expect("the target is usable")
}

/// `io` where it can be had here. Else the test is told as skipped, and runs on epoll, where a
/// failure would be one.
pub(crate) fn or_epoll(io: Io, timestamps: Timestamps) -> Io {
    match io {
        Io::Epoll => Io::Epoll,
        Io::Uring => match ws_load::probe_io_uring(timestamps) {
            Ok(()) => Io::Uring,
            Err(reason) => {
                test_servers::skipped(&format!("io_uring cannot be had here: {reason}"));
                Io::Epoll
            }
        },
    }
}
