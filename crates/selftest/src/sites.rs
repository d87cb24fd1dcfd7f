//! (h) A run over several processes reports the same as one process.

use super::bench::{Bench, DIALECTS, Draws, SEED, io_flag, started, timestamps_flag};
use super::bounds::brief;
use super::faults::{TIMEOUT, judge_mixture, mixture};
use super::ledger::{Ledger, Sends, own_clock};
use super::{Chapter, Findings, child};
use crate::Part;
use crate::error::Unmade;
use record::{Check, StepRecord};
use std::net::SocketAddr;
use std::time::Duration;
use test_servers::fault::MixedServer;
use test_servers::{Delay, DelayOptions, DelayServer};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::H,
    id: "h",
    name: "sites",
    proves: "Two processes together time and count what one would, also where a request leaves one \
             and its answers reach the other.",
    takes: (Duration::from_secs(10), Duration::from_secs(4)),
    measure,
};

const PROCESSES: u32 = 2;
/// So that no reported percentile lies between two clients.
const CLIENTS: u32 = 67;
const RATE: f64 = 40.0;
const ECHO_RATE: f64 = 200.0;
/// Time-out for a server without faults.
const UNHURRIED: Duration = Duration::from_secs(10);
/// Rate of the run with mixed faults, per second.
const FAULTY_RATE: f64 = 200.0;

fn measure(bench: &Bench<'_>) -> Result<Findings, Unmade> {
    let mut found = Findings::default();
    let lasting = bench.time(Duration::from_secs(2), Duration::from_millis(500));
    let timed = [("broadcast", RATE), ("echo", ECHO_RATE)];
    let timed = if bench.short { &timed[..1] } else { &timed };
    for (workload, rate) in timed {
        let server = started(DelayServer::start(DelayOptions {
            delay: Delay::Constant(Duration::from_millis(60)),
            spread: Duration::from_millis(40),
            result: Duration::from_millis(30),
            ..DelayOptions::default()
        }))?;
        let step = run(bench, workload, server.addr(), *rate, lasting, UNHURRIED)?;
        let ledger = Ledger::new(&server.truth(), &step, SEED, Sends::AtSites(*rate));
        let name = format!("{workload} over {PROCESSES} processes");
        let planned = (rate * lasting.as_secs_f64()) as u64;
        let mut checks = ledger.hold(&name, &step, planned);
        checks.extend(ledger.hold_open(&name, &step, lasting));
        checks.extend(rows(&name, &step));
        let checks = ledger.unless_given_up(checks, &step, planned, lasting);
        found
            .checks
            .extend(own_clock(bench.timestamps, brief(&name, &["p95"], checks)));
    }
    let mut draws = Draws::new(bench.seed, "sites");
    let broadcasts = if bench.short { 60 } else { 120 };
    let misdeeds = mixture(DIALECTS[0], broadcasts, 1, &mut draws);
    let server = started(MixedServer::start(misdeeds, DIALECTS[0].framework))?;
    let lasting = Duration::from_secs_f64(broadcasts as f64 / FAULTY_RATE);
    let step = run(
        bench,
        "broadcast",
        server.addr(),
        FAULTY_RATE,
        lasting,
        TIMEOUT,
    )?;
    let name = format!("faults over {PROCESSES} processes");
    found
        .checks
        .extend(judge_mixture(&name, misdeeds, &step, &server.done()));
    Ok(found)
}

fn run(
    bench: &Bench<'_>,
    workload: &str,
    server: SocketAddr,
    rate: f64,
    lasting: Duration,
    timeout: Duration,
) -> Result<StepRecord, Unmade> {
    let arguments = format!(
        "{workload} ws://{server}/ --processes {PROCESSES} --rate {rate} --arrivals constant \
         --duration {}ms --initial-clients {CLIENTS} --threads 1 --seed {SEED} --payload-padding 64 --limit-rtt 1s \
         --sample-timeout {}ms --timestamps {} --io {}",
        lasting.as_millis(),
        timeout.as_millis(),
        timestamps_flag(bench.timestamps),
        io_flag(bench.io)
    );
    let measured = child::measure(&arguments, false, bench.interrupted)?;
    Ok(measured.step)
}

/// The rows of the sites add up to the whole.
fn rows(name: &str, step: &StepRecord) -> Vec<Check> {
    let sum = |of: fn(&record::SiteUse) -> u64| step.sites.iter().map(of).sum::<u64>();
    let exactly =
        |what: &str, known, measured| Check::exactly(&format!("{name}: {what}"), known, measured);
    vec![
        exactly("sites", PROCESSES.into(), step.sites.len() as u64),
        exactly(
            "clients of all sites",
            step.clients,
            sum(|site| site.clients),
        ),
        exactly(
            "messages of all sites",
            step.generator.messages,
            sum(|site| site.messages),
        ),
        exactly(
            "sent by all sites",
            step.sent.unwrap_or_default(),
            sum(|site| site.sent.unwrap_or_default()),
        ),
    ]
}
