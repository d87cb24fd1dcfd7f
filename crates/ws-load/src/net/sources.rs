//! Source addresses for more connections than one address has ports.
//!
//! Decides on the plan alone; who binds to the addresses are the workers.

use plan::Plan;
use record::FileLimit;
use std::net::{IpAddr, Ipv4Addr};
use url::{Host, Url};

/// Connections that one source address quickly gets to one destination. Of the 28,232 ports of Linux
/// (`net.ipv4.ip_local_port_range`) a connect looks through all of one parity before it tries the
/// other: beyond half of them each takes a millisecond of the loop's time.
const PER_ADDRESS: u64 = 12_000;

/// Gives a plan that names no source address as many of 127.0.0.0/8 as its connections need, where
/// its server is on loopback.
pub fn spread_over_loopback(plan: &mut Plan) {
    let target = &plan.target;
    let next = target.proxy.as_deref().unwrap_or(&target.url);
    // Names that `resolve` has an address for are not looked into.
    let has_way = target.unix_socket.is_some() || !target.resolve.is_empty();
    if !target.local_addrs.is_empty() || has_way || !is_on_loopback(next) {
        return;
    }
    // Without an end it goes on until no file is left.
    let most = match plan.steps() {
        Some(steps) => plan.clients_at(steps.saturating_sub(1)),
        None => FileLimit::current().hard,
    };
    let addresses = most.div_ceil(PER_ADDRESS).min(PER_ADDRESS);
    if addresses > 1 {
        let first = u32::from(Ipv4Addr::LOCALHOST);
        plan.target.local_addrs = (0..addresses as u32)
            .map(|n| IpAddr::V4(Ipv4Addr::from(first + n)))
            .collect();
    }
}

fn is_on_loopback(url: &str) -> bool {
    let url = Url::parse(url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => {
            // A WebSocket URL is not "special" to every parser: an address may come as a name.
            name == "localhost"
                || name
                    .parse()
                    .is_ok_and(|address: Ipv4Addr| address.is_loopback())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Clients;

    fn sources(url: &str, clients: u32) -> Vec<String> {
        let mut plan = crate::test_plan(url);
        plan.clients = Clients::steps(clients, 10, Some(1));
        spread_over_loopback(&mut plan);
        plan.target
            .local_addrs
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn more_than_one_address_is_taken_when_one_has_too_few_ports() {
        assert_eq!(sources("ws://127.0.0.1:1/", 12_000), [""; 0]);
        assert_eq!(
            sources("ws://127.0.0.1:1/", 12_001),
            ["127.0.0.1", "127.0.0.2"]
        );
        assert_eq!(sources("ws://localhost:1/", 100_000).len(), 9);
        assert_eq!(sources("ws://127.0.0.1:1/", 10_000_000).len(), 834);
    }

    #[test]
    fn addresses_that_were_named_and_servers_elsewhere_are_left_alone() {
        for url in ["ws://192.0.2.1:1/", "ws://[::1]:1/", "ws://example.net/"] {
            assert_eq!(sources(url, 100_000), [""; 0], "{url}");
        }
        let mut plan = crate::test_plan("ws://127.0.0.1:1/");
        plan.clients = Clients::steps(100_000, 10, Some(2));
        plan.target.local_addrs = vec!["127.0.0.9".parse().unwrap()];
        spread_over_loopback(&mut plan);
        assert_eq!(plan.target.local_addrs.len(), 1);
    }
}
