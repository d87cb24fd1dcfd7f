//! The plan of a program that is told a number of connections and a port, and nothing else.

use crate::net::spread_over_loopback;
use run_record::{
    Arrivals, Connecting, Dialect, Limit, Measure, Plan, Timeouts, Timestamps, Workload,
};

/// Connections that one server on loopback is asked to take at once.
const AT_ONCE: u32 = 100;

/// One step of `connections` connections to the port of this machine's loopback, as fast as the
/// server takes them, held no longer than it takes to look at them.
pub fn plan_for_port(port: u16, connections: u32, seed: u64) -> Plan {
    let mut plan = Plan {
        url: format!("ws://127.0.0.1:{port}/"),
        workload: Workload::Connect,
        dialect: Dialect::Json,
        origin: None,
        local_addrs: Vec::new(),
        open_loop: None,
        connect: Some(Connecting {
            rate: None,
            arrivals: Arrivals::Constant,
            hold_ns: 1,
            ping_interval_ns: 3_600_000_000_000,
            ping_timeout_ns: 10_000_000_000,
        }),
        concurrent: 0,
        sample_size: 0,
        initial_clients: connections,
        step_size: 0,
        search: None,
        total_steps: Some(1),
        payload_padding: 0,
        limit: Limit {
            percentile: 95.0,
            rtt_ns: 3_600_000_000_000,
            measure: Measure::Completion,
        },
        timeouts: Timeouts {
            connect_ns: 30_000_000_000,
            sample_ns: 30_000_000_000,
        },
        timestamps: Timestamps::User,
        io: run_record::Io::Epoll,
        connect_concurrency: AT_ONCE,
        threads: 1,
        seed,
        verify_certificate: true,
        ca_file: None,
    };
    spread_over_loopback(&mut plan);
    plan
}
