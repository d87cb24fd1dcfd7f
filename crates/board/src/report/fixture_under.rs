//! Measurements under a plan, made up for tests: what a server of a known speed would show under a
//! workload, with the figures that only this workload has.

use super::fixture::{measured, recorder};
use super::fixture_watched::{Fails, watch};
use plan::{Audience, Clients, Life, Load, Plan, Reading, Workload};
use plan_file::PlanFile;
use record::{
    Churn, CompressionUse, Connections, CutRecord, Drops, End, Measurement, Memory, Pings,
    RoomChanges, RunRecord, ServerRow, ServerSeries, ServerStep, SlowReaders, StepRecord, Verdict,
};
use std::fs;
use std::path::Path;

/// The plans of workloads/, sorted by name.
pub(crate) fn plans() -> Vec<Plan> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
    let mut plans: Vec<Plan> = fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            PlanFile::read(&file.unwrap().path())
                .unwrap()
                .plan()
                .unwrap()
        })
        .collect();
    plans.sort_by(|a, b| a.name.cmp(&b.name));
    plans
}

const IDLE_BYTES: u64 = 9_000_000;

/// A server under a plan. Its limited latency is that of a distribution around `median_us`
/// microseconds; everything else that a workload measures grows with it.
pub(crate) fn under(plan: &Plan, name: &str, median_us: u64) -> Measurement {
    let mut measurement = measured(name, 1, median_us, End::StepsDone);
    measurement.workload = plan.workload();
    measurement.workload_name.clone_from(&plan.name);
    let is_fixed = matches!(plan.clients, Clients::Steps(steps) if steps.count == Some(1));
    let count = if is_fixed { 1 } else { 3 };
    let run = measurement.run.as_mut().unwrap();
    let base = run.steps[0].clone();
    run.steps = (0..count)
        .map(|number| step(plan, plan.clients_at(number), median_us, &base))
        .collect();
    run.outcome.carried_clients = RunRecord::carried(&run.steps);
    let target = std::mem::take(&mut run.plan.target);
    run.plan = plan.clone();
    run.plan.target = target;
    let memory = |clients: u64| Memory {
        resident_bytes: 10_000_000 + clients * (4_096 + median_us),
        proportional_bytes: Some(IDLE_BYTES + clients * (4_096 + median_us)),
        sockets_bytes: Some(clients * 1_536),
        processes: 1,
    };
    measurement.server_steps = run
        .steps
        .iter()
        .map(|step| ServerStep {
            clients: step.clients,
            cpu_ns: median_us * step.clients * 10,
            elapsed_ns: step.elapsed_ns,
            from_ns: None,
            user_ns: None,
            kernel_ns: None,
            switches: None,
            memory: memory(step.clients),
        })
        .collect();
    measurement.server_series = Some(ServerSeries {
        interval_ns: 250_000_000,
        rows: (0..200)
            .map(|number| ServerRow {
                cpu_ns: median_us * 10_000,
                resident_bytes: 10_000_000 + number * median_us * 100,
                proportional_bytes: Some(IDLE_BYTES + number * median_us * 100),
                sockets_bytes: Some(number * 10_000),
            })
            .collect(),
    });
    measurement
}

fn step(plan: &Plan, clients: u64, median_us: u64, base: &StepRecord) -> StepRecord {
    let completion = recorder(median_us, 1_000);
    let mut step = StepRecord {
        clients,
        completion: completion.latency(),
        ..base.clone()
    };
    if plan.workload() == Workload::Connect || plan.audience == Audience::Sender {
        (step.delivery, step.ack) = (None, None);
    }
    let limited = step.measured(plan.limited()).unwrap().recorder().unwrap();
    let limited = limited.percentile(plan.limits.percentile);
    step.limited_ns = Some(limited);
    step.over_limit = limited > plan.limits.time.ns();
    step.verdict = match step.over_limit {
        true => Verdict::Fail,
        false => Verdict::Pass,
    };
    step.churn = churn(plan, clients / 2, median_us).map(Box::new);
    let reads_slowly = plan.populations.iter().any(|p| p.reads != Reading::Full);
    step.slow_readers = reads_slowly.then(|| SlowReaders {
        clients: 2,
        messages: 100,
        cut_off: median_us % 2,
        first_cut_off: (median_us % 2 == 1).then(|| "reset by the server".into()),
        kept_bytes: Some(2_000_000),
        most_kept_bytes: Some(1_500_000),
    });
    step.compression = plan.connection.compression.map(|_| CompressionUse {
        received: 1_000,
        received_bytes: 40_000 + median_us,
        received_inflated_bytes: 4_100_000,
        sent: 10,
        sent_bytes: 400,
        sent_inflated_bytes: 41_000,
    });
    match plan.load {
        Load::Connect(_) => {
            step.connections = Some(Box::new(connections(clients, median_us)));
        }
        Load::Watch(_) => watch(plan, Fails::Silently, median_us, &mut step),
        Load::Open(_) | Load::Closed(_) => {}
    }
    step
}

fn churn(plan: &Plan, leavers: u64, median_us: u64) -> Option<Churn> {
    let life = plan.populations.iter().find(|one| one.leaves())?.life;
    let mut churn = Churn {
        clients: leavers,
        attempts: leavers + 3,
        visits: leavers,
        messages: leavers * 100,
        reconnected: leavers,
        ..Churn::default()
    };
    churn.failures.refused = 3;
    match life {
        Life::Cut(cut) => {
            let came = recorder(median_us * 100, leavers);
            let at = |percentile| Some(came.percentile(percentile));
            churn.cut = Some(CutRecord {
                at_ns: cut.at.ns(),
                clients: leavers,
                back: leavers,
                back_50_ns: at(50.0),
                back_95_ns: at(95.0),
                back_100_ns: at(100.0),
                back_time: came.latency(),
                before: recorder(median_us, 100).latency(),
                during: recorder(median_us * 7, 100).latency(),
                after: recorder(median_us, 100).latency(),
                ..CutRecord::default()
            });
        }
        Life::ChangesRoom(_) => {
            (churn.attempts, churn.reconnected, churn.failures.refused) = (0, 0, 0);
            churn.rooms = Some(RoomChanges {
                clients: leavers,
                left: leavers * 3,
                asked: leavers * 3,
                joined: leavers * 3,
                unanswered: 0,
                join: recorder(median_us, leavers * 3).latency(),
            });
        }
        Life::ComesAndGoes(_) | Life::Stays => {
            churn.left = leavers;
            churn.reconnect = recorder(median_us * 3, leavers).latency();
        }
    }
    Some(churn)
}

fn connections(clients: u64, median_us: u64) -> Connections {
    Connections {
        planned: clients,
        opened: clients,
        first_failure: None,
        opened_per_second: 500.0,
        tcp: recorder(median_us / 2, 100).latency(),
        held_ns: 30_000_000_000,
        pings: Pings {
            sent: clients,
            answered: clients,
            round_trip: recorder(median_us / 3, 100).latency(),
            ..Pings::default()
        },
        drops: Drops::default(),
        unasked_messages: 0,
        server: None,
        server_unknown: None,
        generator: None,
        kernel: None,
    }
}
