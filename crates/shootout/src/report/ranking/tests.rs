//! The rules of the ranking.

use super::super::fixture::{measured, recorder, repeated, unmeasured, variant};
use super::*;
use run_record::End;

fn names<'a>(rows: &'a [Row<'_>]) -> Vec<(Option<usize>, &'a str)> {
    rows.iter()
        .map(|row| (row.place, row.server().name.as_str()))
        .collect()
}

#[test]
fn more_clients_come_first_and_rows_without_a_result_last() {
    let measurements = [
        unmeasured("absent", Status::MissingToolchain, "no compiler"),
        measured("few", 3, 9_000, End::OverLimit),
        measured("many", 6, 20_000, End::OverLimit),
    ];
    let rows = rank(&measurements);
    assert_eq!(
        names(&rows),
        [(Some(1), "many"), (Some(2), "few"), (None, "absent")]
    );
    assert_eq!(rows[0].carried.unwrap().median, 5_000);
    assert_eq!(rows[2].status, Status::MissingToolchain);
    assert_eq!(rows[2].reason, Some("no compiler"));
    assert_eq!(rows[2].carried, None);
}

#[test]
fn equal_rows_are_ranked_by_the_latency_at_the_most_clients_that_all_have() {
    let mut slow_late = measured("slow-late", 4, 9_000, End::MachineLimit);
    let mut quick_late = measured("quick-late", 4, 12_000, End::MachineLimit);
    let at = |measurement: &mut Measurement, clients: u64, us: u64| {
        let steps = &mut measurement.run.as_mut().unwrap().steps;
        let step = steps
            .iter_mut()
            .find(|step| step.clients == clients)
            .unwrap();
        step.completion = recorder(us, 100).latency();
        step.limited_ns = Some(recorder(us, 100).percentile(95.0));
    };
    at(&mut slow_late, 4_000, 200_000);
    at(&mut quick_late, 4_000, 100_000);
    assert_eq!(
        names(&rank(&[slow_late, quick_late])),
        [(Some(1), "quick-late"), (Some(2), "slow-late")]
    );
}

#[test]
fn rows_that_are_equal_in_all_share_a_place() {
    let measurements = [
        measured("b", 3, 9_000, End::StepsDone),
        measured("a", 3, 9_000, End::StepsDone),
        measured("c", 2, 9_000, End::StepsDone),
    ];
    assert_eq!(
        names(&rank(&measurements)),
        [(Some(1), "a"), (Some(1), "b"), (Some(3), "c")]
    );
}

#[test]
fn workloads_and_dialects_are_ranked_apart() {
    let echo = super::super::fixture::echo(measured("a", 3, 9_000, End::OverLimit));
    let mut binary = measured("a", 3, 9_000, End::OverLimit);
    binary.dialect = Dialect::Binary;
    let measurements = [echo, binary, measured("a", 3, 9_000, End::OverLimit)];
    let rows = rank(&measurements);
    let kinds: Vec<_> = rows
        .iter()
        .map(|row| (row.place, row.workload(), row.dialect()))
        .collect();
    assert_eq!(
        kinds,
        [
            (Some(1), Workload::Broadcast, Dialect::Json),
            (Some(1), Workload::Broadcast, Dialect::Binary),
            (Some(1), Workload::Echo, Dialect::Json),
        ]
    );
}

#[test]
fn variants_are_rows_of_their_own_and_repetitions_are_not() {
    let measurements = [
        measured("a", 3, 9_000, End::OverLimit),
        repeated(measured("a", 5, 9_000, End::OverLimit), 2),
        variant(measured("a", 3, 9_000, End::OverLimit), "clustered"),
    ];
    assert_eq!(rank(&measurements).len(), 2);
}

#[test]
fn the_median_of_the_repetitions_is_one_that_was_measured() {
    let of = |ends: &[(u64, End)]| {
        let measurements: Vec<Measurement> = (1..)
            .zip(ends)
            .map(|(number, (steps, end))| repeated(measured("a", *steps, 9_000, *end), number))
            .collect();
        let carried = rank(&measurements)[0].carried.unwrap();
        (
            carried.median,
            carried.at_least,
            carried.smallest,
            carried.largest,
        )
    };
    use End::{MachineLimit, OverLimit, StepsDone};
    assert_eq!(
        of(&[(6, OverLimit), (3, OverLimit), (5, OverLimit)]),
        (4_000, false, 2_000, 5_000)
    );
    assert_eq!(
        of(&[(5, OverLimit), (3, OverLimit)]),
        (2_000, false, 2_000, 4_000)
    );
    assert_eq!(of(&[(5, StepsDone)]), (5_000, true, 5_000, 5_000));
    assert_eq!(
        of(&[(5, MachineLimit), (5, OverLimit), (5, OverLimit)]),
        (4_000, false, 4_000, 5_000)
    );
    assert_eq!(
        of(&[(2, MachineLimit), (5, OverLimit), (6, OverLimit)]),
        (4_000, true, 2_000, 5_000)
    );
}

#[test]
fn a_row_that_broke_at_its_first_step_is_last_of_those_with_a_result() {
    let measurements = [
        measured("none", 1, 9_000, End::OverLimit),
        measured("some", 2, 9_000, End::OverLimit),
    ];
    let rows = rank(&measurements);
    assert_eq!(names(&rows), [(Some(1), "some"), (Some(2), "none")]);
    let carried = rows[1].carried.unwrap();
    assert_eq!((carried.clients(), carried.first_step), (None, 1_000));
    assert!(rows[1].at_carried().is_none());
}

#[test]
fn a_bad_repetition_takes_the_place_but_not_the_figures() {
    let mut crashed = repeated(measured("a", 3, 9_000, End::OverLimit), 2);
    crashed.status = Status::Crashed;
    crashed.reason = Some("signal 11".into());
    let measurements = [measured("a", 4, 9_000, End::OverLimit), crashed];
    let rows = rank(&measurements);
    assert_eq!((rows[0].place, rows[0].status), (None, Status::Crashed));
    assert_eq!(rows[0].reason, Some("signal 11"));
    assert_eq!(rows[0].carried.unwrap().largest, 3_000);
}

#[test]
fn an_interrupted_repetition_does_not_count_beside_a_complete_one() {
    let mut interrupted = repeated(measured("a", 2, 9_000, End::Interrupted), 2);
    interrupted.status = Status::Interrupted;
    let measurements = [measured("a", 5, 9_000, End::OverLimit), interrupted];
    let row = &rank(&measurements)[0];
    assert_eq!((row.place, row.status), (Some(1), Status::Ok));
    assert_eq!(row.carried.unwrap().smallest, 4_000);
}

#[test]
fn percentiles_come_from_merged_histograms() {
    let mut quick = measured("a", 1, 1_000, End::StepsDone);
    let mut slow = repeated(measured("a", 1, 1_000, End::StepsDone), 2);
    let mut all = run_record::Recorder::default();
    for (measurement, us, count) in [(&mut quick, 1_000, 900), (&mut slow, 100_000, 100)] {
        let part = recorder(us, count);
        all.merge(&part);
        measurement.run.as_mut().unwrap().steps[0].completion = part.latency();
    }
    let measurements = [quick, slow];
    let rows = rank(&measurements);
    let step = rows[0].at_carried().unwrap();
    assert_eq!(step.completion, all.latency());
    assert_eq!(step.limited_ns, Some(all.percentile(95.0)));
    assert_eq!((step.repetitions, step.passed), (2, 2));
}

#[test]
fn usage_is_above_idle_and_per_connection_or_message() {
    let measurements = [measured("a", 2, 9_000, End::StepsDone)];
    let rows = rank(&measurements);
    let step = rows[0].at_carried().unwrap();
    let server = &measurements[0].server_steps[1];
    let memory = step.memory.unwrap();
    assert_eq!(memory.kind, MemoryKind::Proportional);
    assert_eq!(
        memory.bytes,
        (server.memory.proportional_bytes.unwrap() - 9_000_000) as f64 / 2_000.0
    );
    assert_eq!(step.sockets, Some(1_536.0));
    assert_eq!(
        step.cpu_per_message_ns,
        Some(server.cpu_ns as f64 / 1_000.0)
    );
}

#[test]
fn resident_memory_stands_in_where_proportional_is_not_known() {
    let mut measurement = measured("a", 2, 9_000, End::StepsDone);
    measurement.server_steps[1].memory.proportional_bytes = None;
    let server = measurement.server_steps[1].clone();
    let measurements = [measurement];
    let rows = rank(&measurements);
    let memory = rows[0].at_carried().unwrap().memory.unwrap();
    assert_eq!(memory.kind, MemoryKind::Resident);
    assert_eq!(
        memory.bytes,
        (server.memory.resident_bytes - 10_000_000) as f64 / 2_000.0
    );
}
