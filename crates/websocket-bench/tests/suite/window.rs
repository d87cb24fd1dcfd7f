//! What an echo costs the generator does not grow with the number that is in flight.

use crate::support::{honest, record, run, url};
use std::net::SocketAddr;

/// CPU of the generator per echo, in nanoseconds, with so many in flight.
fn cost(server: SocketAddr, window: u32) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    run(&format!(
        "echo {} --threads 1 -c {window} -s 40000 --step-size 100 --total-steps 1 --limit-rtt 60s \
         --sample-timeout 120s --json {}",
        url(server),
        path.display()
    ))
    .exits(0);
    let generator = &record(&path).steps[0].generator;
    generator.cpu_ns as f64 / generator.messages as f64
}

/// A ledger that is searched for every echo would take twenty times as much or more.
#[test]
fn an_echo_costs_about_the_same_with_many_in_flight() {
    let server = honest();
    let ratios = [(); 3].map(|()| cost(server.addr(), 40_000) / cost(server.addr(), 50));
    let least = ratios.into_iter().fold(f64::INFINITY, f64::min);
    assert!(least < 4.0, "{ratios:?}");
}
