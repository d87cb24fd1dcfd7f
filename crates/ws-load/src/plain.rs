//! The plan of a program whose arguments are a number of connections and a port.

use crate::net::spread_over_loopback;
use plan::{Audience, Clients, Connect, Load, Nanos, Plan};

/// Connections that one server on loopback is asked to take at once.
const AT_ONCE: u32 = 100;

/// One step of `connections` connections to the port of this machine's loopback, as fast as the
/// server takes them, held no longer than it takes to look at them.
pub fn plan_for_port(port: u16, connections: u32, seed: u64) -> Plan {
    let mut plan = Plan {
        load: Load::Connect(Connect {
            hold: Nanos(1),
            ping_interval: Nanos::secs(3600),
            ..Connect::default()
        }),
        audience: Audience::Sender,
        clients: Clients::steps(connections, 0, Some(1)),
        ..Plan::new(format!("ws://127.0.0.1:{port}/"))
    };
    plan.connection.at_once = AT_ONCE;
    plan.connection.timeout = Nanos::secs(30);
    plan.limits.time = Nanos::secs(3600);
    plan.generator.seed = seed;
    spread_over_loopback(&mut plan);
    plan
}
