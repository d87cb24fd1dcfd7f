//! The rules of the ranking.

use super::super::fixture::{measured, recorder, repeated, unmeasured, variant};
use super::*;
use plan::{Clients, Measure};
use record::{End, Verdict};
use std::collections::BTreeSet;

fn names<'a>(rows: &'a [Row<'_>]) -> Vec<(Option<usize>, &'a str)> {
    rows.iter()
        .map(|row| (sole(row), row.server().name.as_str()))
        .collect()
}

/// The place of a row that shares it with no other.
fn sole(row: &Row<'_>) -> Option<usize> {
    let place = row.place?;
    assert_eq!(place.best, place.worst);
    Some(place.best)
}

fn places(measurements: &[Measurement]) -> Vec<String> {
    rank(measurements)
        .iter()
        .map(|row| format!("{} {}", row.place.unwrap(), row.server().name))
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
    assert_eq!(places(&measurements), ["1–2 a", "1–2 b", "3 c"]);
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
        .map(|row| (sole(row), row.workload(), row.dialect()))
        .collect();
    assert_eq!(
        kinds,
        [
            (Some(1), Workload::Broadcast, Dialect::Text),
            (Some(1), Workload::Broadcast, Dialect::Binary),
            (Some(1), Workload::Echo, Dialect::Text),
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
    assert_eq!((sole(row), row.status), (Some(1), Status::Ok));
    assert_eq!(row.carried.unwrap().smallest, 4_000);
}

#[test]
fn percentiles_come_from_merged_histograms() {
    let mut quick = measured("a", 1, 1_000, End::StepsDone);
    let mut slow = repeated(measured("a", 1, 1_000, End::StepsDone), 2);
    let mut all = record::Recorder::default();
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
fn the_warm_up_of_a_step_takes_processor_time_and_has_messages() {
    let cpu = |warm_up: u64| {
        let mut measurement = measured("a", 2, 9_000, End::StepsDone);
        let step = &mut measurement.run.as_mut().unwrap().steps[1];
        step.throughput = Some(record::Throughput {
            sent: step.samples_planned + warm_up,
            ..Default::default()
        });
        let planned = step.samples_planned;
        let measurements = [measurement];
        let rows = rank(&measurements);
        (
            planned,
            rows[0].at_carried().unwrap().cpu_per_message_ns.unwrap(),
        )
    };
    let (planned, without) = cpu(0);
    assert_eq!(cpu(planned).1, without / 2.0);
    assert_eq!(cpu(planned / 4).1, without / 1.25);
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

/// Repetitions of a row that ends below the server's limit, each around so many microseconds.
fn noisy(name: &str, us: impl IntoIterator<Item = u64>) -> Vec<Measurement> {
    (1..)
        .zip(us)
        .map(|(number, us)| repeated(measured(name, 3, us, End::StepsDone), number))
        .collect()
}

/// Makes the steps of a repetition ones that say nothing of the server.
fn void(mut measurement: Measurement, verdict: Verdict) -> Measurement {
    for step in &mut measurement.run.as_mut().unwrap().steps {
        step.verdict = verdict;
    }
    measurement
}

#[test]
fn latencies_that_are_not_the_servers_are_in_no_interval_and_no_figure() {
    let sound = noisy("a", [9_000, 9_100, 9_200, 9_300, 9_050]);
    let median = |all: &[Measurement]| {
        let row = rank(all).remove(0);
        let interval = row.completion_interval(50.0);
        let figure = row.at_carried().and_then(|step| step.limited_ns);
        (interval.map(|i| (i.low, i.high)), figure)
    };
    let alone = median(&sound);
    assert!(alone.0.is_some());
    for verdict in [Verdict::Noisy, Verdict::GeneratorLimited] {
        let mut with_one = sound.clone();
        let slow = repeated(measured("a", 3, 90_000, End::StepsDone), 6);
        with_one.push(void(slow, verdict));
        assert_eq!(median(&with_one), alone);
        // Too few are left for an interval, and a figure that is all there is stands.
        let void_but_one = sound.iter().skip(1).cloned().map(|m| void(m, verdict));
        let mut few: Vec<Measurement> = void_but_one.collect();
        few.push(sound[0].clone());
        assert_eq!(median(&few).0, None);
        let none: Vec<Measurement> = sound.iter().cloned().map(|m| void(m, verdict)).collect();
        assert_eq!(median(&none), (None, alone.1));
    }
}

#[test]
fn rows_share_places_where_their_repetitions_do_not_tell_them_apart() {
    let mut measurements = noisy("slow", [20_000, 20_100, 20_200, 20_300, 20_400]);
    measurements.extend(noisy("b", [9_100, 9_400, 9_300, 9_200, 9_600]));
    measurements.extend(noisy("a", [9_000, 9_500, 9_150, 9_250, 9_350]));
    measurements.extend(noisy("quick", [5_000, 5_100, 5_200, 5_300, 5_400]));
    assert_eq!(
        places(&measurements),
        ["1 quick", "2–3 a", "2–3 b", "4 slow"]
    );
    let first = |name: &str| {
        let mut first = measurements.clone();
        first.retain(|one| one.repetition == 1 && one.server.name != name);
        first
    };
    assert_eq!(places(&first("")), ["1 quick", "2 a", "3 b", "4 slow"]);
}

/// One start of eight was slow, and has more than one in twenty of all samples.
#[test]
fn order_interval_and_test_are_of_the_same_figures() {
    let mut measurements = noisy("once-slow", (0..7).map(|n| 8_900 + 30 * n).chain([30_000]));
    measurements.extend(noisy("even", (0..8).map(|n| 9_500 + 10 * n)));
    assert_eq!(places(&measurements), ["1 once-slow", "2 even"]);
    let rows = rank(&measurements);
    let common = common_clients(&rows);
    for row in &rows {
        let figure = row.figure(Score::Latency, common).unwrap();
        let interval = row.figure_interval(Score::Latency, common).unwrap();
        assert!(interval.holds(figure), "{interval:?} {figure}");
        let p95 = row.latency(Measure::Completion, 95.0).unwrap();
        let interval = row.completion_interval(95.0).unwrap();
        assert!(interval.holds(p95), "{interval:?} {p95}");
    }
}

/// The middle of one is lower, and most of its figures are above most of the other's.
#[test]
fn a_test_that_speaks_for_the_row_below_tells_nothing_apart() {
    let of = |name: &str, low: (u64, u64), high: (u64, u64)| {
        let figures = [low, high].map(|(count, us)| (0..count).map(move |n| us + 20 * n));
        noisy(name, figures.into_iter().flatten())
    };
    let above = of("above", (10, 10_000), (9, 50_000));
    let below = of("below", (9, 2_000), (10, 11_000));
    let [one, other] = [&above, &below].map(|all| {
        let row = rank(all).remove(0);
        let common = common_clients([&row]);
        (
            row.figures(Score::Latency, common),
            row.figure(Score::Latency, common),
        )
    });
    assert!(one.1 < other.1);
    let test = crate::stats::rank_test(&one.0, &other.0);
    assert!(test.p < 0.05 && test.u < 19.0 * 19.0 / 2.0, "{test:?}");
    assert_eq!(places(&[above, below].concat()), ["1–2 above", "1–2 below"]);
}

#[test]
fn a_repetition_that_ended_early_is_among_the_figures_of_its_row() {
    let of = |name: &str, steps: &[u64]| -> Vec<Measurement> {
        (1..)
            .zip(steps)
            .map(|(number, steps)| repeated(measured(name, *steps, 9_000, End::OverLimit), number))
            .collect()
    };
    let measurements = [of("a", &[4, 4, 4, 2, 2]), of("b", &[4; 5])].concat();
    let rows = rank(&measurements);
    let common = common_clients(&rows);
    assert_eq!(common, Some(2_000));
    for row in &rows {
        assert_eq!(row.carried.unwrap().median, 3_000);
        assert_eq!(row.figures(Score::Latency, common).len(), 5);
    }
    // At 3,000 clients, which it carried, two of five took longer than any time.
    let row = rows.iter().find(|row| row.server().name == "a").unwrap();
    assert!(row.latency(Measure::Completion, 95.0).unwrap().is_finite());
    assert_eq!(row.completion_interval(95.0).unwrap().high, f64::INFINITY);
    // The generator, and not the server, ended one before: it says nothing.
    let mut other = of("a", &[4; 4]);
    other.push(repeated(limited("a", 2), 5));
    let row = &rank(&other)[0];
    assert_eq!(row.carried.unwrap().median, 3_000);
    assert!(row.completion_interval(95.0).unwrap().high.is_finite());
}

/// The highest rates of two rows, by repetition: two at which one carried nothing are not left out.
#[test]
fn a_search_in_which_nothing_passed_is_a_figure_of_its_row() {
    let of = |name: &str, rates: [Option<f64>; 5]| -> Vec<Measurement> {
        let repetitions = rates.into_iter().zip(1..).map(|(passed, number)| {
            let mut one = repeated(measured(name, 1, 9_000, End::EdgeFound), number);
            let run = one.run.as_mut().unwrap();
            run.plan.clients = Clients::Search(plan::Search {
                of: plan::SearchOf::Rate,
                first: 1_000,
                tries: 3,
                precision: 0.02,
            });
            run.outcome.carried_clients = passed.map(|_| 1_000);
            run.outcome.edge = Some(record::Edge {
                of: plan::SearchOf::Rate,
                passed,
                failed: Some(1_000.0),
            });
            one
        });
        repetitions.collect()
    };
    let mut measurements = of("even", [Some(800.0); 5]);
    measurements.extend(of(
        "uneven",
        [None, None, Some(900.0), Some(900.0), Some(900.0)],
    ));
    assert_eq!(places(&measurements), ["1–2 uneven", "1–2 even"]);
    let row = &rank(&measurements)[0];
    let figures = row.figures(Score::Rate, None);
    assert_eq!(figures, [0.0, 0.0, 900.0, 900.0, 900.0]);
    assert_eq!(row.figure_interval(Score::Rate, None).unwrap().low, 0.0);
}

/// A repetition that ended at the limit of the generator, behind steps that were carried.
fn limited(name: &str, steps: u64) -> Measurement {
    let mut measurement = measured(name, steps, 9_000, End::GeneratorLimited);
    measurement.status = Status::GeneratorLimited;
    measurement.reason = Some("the generator was the limit".to_owned());
    measurement
}

#[test]
fn a_row_that_the_generator_ended_stands_at_what_it_carried_and_may_be_before_all() {
    let measurements = [
        measured("few", 4, 9_000, End::OverLimit),
        limited("unknown", 5),
        measured("most", 7, 9_000, End::OverLimit),
    ];
    assert_eq!(places(&measurements), ["1–2 most", "1–2 unknown", "3 few"]);
    assert!(rank(&measurements)[1].is_lower_bound());
    // Its last step took 250 ms at least, of 500 that are permitted: it carried twice as many at most.
    let mut bounded = limited("unknown", 5);
    let last = bounded.run.as_mut().unwrap().steps.last_mut().unwrap();
    last.over_limit = true;
    last.limited_at_least_ns = Some(250_000_000);
    let of = |most: u64| {
        let most = measured("most", most, 9_000, End::OverLimit);
        places(&[bounded.clone(), most])
    };
    assert_eq!(of(12), ["1 most", "2 unknown"]);
    assert_eq!(of(11), ["1–2 most", "1–2 unknown"]);
    // The other carried as many: the least of the one is the most of the other.
    let equal = [
        limited("unknown", 5),
        measured("as-many", 6, 9_000, End::OverLimit),
    ];
    let shared: BTreeSet<String> = places(&equal).into_iter().collect();
    assert_eq!(
        shared,
        BTreeSet::from(["1–2 as-many".to_owned(), "1–2 unknown".to_owned()])
    );
}

#[test]
fn a_bound_is_none_where_most_repetitions_found_the_limit_and_no_place_where_nothing_was_carried() {
    let mut repetitions: Vec<Measurement> = (1..=3)
        .map(|number| repeated(measured("a", 5, 9_000, End::OverLimit), number))
        .collect();
    repetitions.push(repeated(limited("a", 4), 4));
    let row = &rank(&repetitions)[0];
    assert_eq!(row.status, Status::GeneratorLimited);
    assert!(!row.is_lower_bound());
    assert_eq!(sole(row), Some(1));
    // A fault weighs more than the generator.
    repetitions[0].status = Status::Faulty;
    assert_eq!(rank(&repetitions)[0].place, None);
    repetitions[0].status = Status::Ok;
    repetitions[1].status = Status::Faulty;
    repetitions[0] = repeated(limited("a", 4), 1);
    assert_eq!(rank(&repetitions)[0].place, None);
    // Nothing was carried, or the clients do not go up.
    let mut nothing = limited("a", 1);
    nothing.run.as_mut().unwrap().outcome.carried_clients = None;
    assert_eq!(rank(&[nothing])[0].place, None);
    let mut fixed = limited("a", 1);
    match &mut fixed.run.as_mut().unwrap().plan.clients {
        Clients::Steps(steps) => steps.count = Some(1),
        Clients::Search(_) => unreachable!("the fixture goes up by steps"),
    }
    assert_eq!(rank(&[fixed])[0].place, None);
}

#[test]
fn sharing_need_not_be_mutual_all_along_a_row_of_neighbours() {
    let mut measurements = noisy("a", [9_000, 9_100, 9_200, 9_300, 9_400]);
    measurements.extend(noisy("b", [9_150, 9_250, 9_350, 9_450, 9_550]));
    measurements.extend(noisy("c", [9_420, 9_440, 9_460, 9_480, 9_500]));
    assert_eq!(places(&measurements), ["1–2 a", "1–3 b", "2–3 c"]);
}

#[test]
fn clients_that_the_repetitions_do_not_tell_apart_share_places() {
    let of = |name: &str, steps: [u64; 5]| -> Vec<Measurement> {
        (1..)
            .zip(steps)
            .map(|(number, steps)| repeated(measured(name, steps, 9_000, End::OverLimit), number))
            .collect()
    };
    let mut measurements = of("a", [5, 6, 5, 6, 6]);
    measurements.extend(of("b", [5, 5, 6, 5, 5]));
    measurements.extend(of("c", [3, 3, 4, 3, 3]));
    assert_eq!(places(&measurements), ["1–2 a", "1–2 b", "3 c"]);
    let rows = rank(&measurements);
    let interval = rows[0].clients_interval().unwrap();
    assert_eq!((interval.low, interval.high), (4_000.0, 5_000.0));
    let few = &rank(&measurements[..3])[0];
    assert!(few.clients_interval().is_some() && !few.is_tested());
    assert!(rank(&measurements[..1])[0].clients_interval().is_none());
}

#[test]
fn workloads_of_one_request_are_ranked_apart_by_their_names() {
    let mut ticker = measured("a", 3, 20, End::OverLimit);
    ticker.workload_name = Some("ticker".into());
    let mut named = measured("a", 2, 20, End::OverLimit);
    named.workload_name = Some("broadcast".into());
    let all = [ticker, measured("b", 4, 20, End::OverLimit), named];
    let ranked = rank(&all);
    let rows: Vec<(&str, &str, usize)> = ranked
        .iter()
        .map(|row| {
            let place = row.place.unwrap();
            (row.server().name.as_str(), row.workload_name(), place.best)
        })
        .collect();
    let expected = [
        ("b", "broadcast", 1),
        ("a", "broadcast", 2),
        ("a", "ticker", 1),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn rows_over_different_networks_are_never_ranked_together() {
    let over = |name: &str, delay_ms: u64| {
        let asked = record::Network {
            name: None,
            delay_ns: delay_ms * 1_000_000,
            jitter_ns: 0,
            loss: 0.01,
            rate: None,
        };
        let network = record::NetworkUse {
            asked,
            congestion_control: None,
            probe: None,
            to_server: None,
            to_clients: None,
        };
        Measurement {
            network: Some(network),
            ..measured(name, 3, 9_000, End::OverLimit)
        }
    };
    let measurements = [
        over("a", 20),
        measured("a", 6, 9_000, End::OverLimit),
        over("b", 1),
        over("c", 20),
    ];
    let rows = rank(&measurements);
    let categories = rows.chunk_by(crate::report::same_category);
    let words = categories.map(|rows| {
        let names: Vec<&str> = rows.iter().map(|row| row.server().name.as_str()).collect();
        assert_eq!(rows[0].place.unwrap().best, 1);
        (names, crate::report::words::network(&rows[0]))
    });
    assert_eq!(
        words.collect::<Vec<_>>(),
        [
            (vec!["a"], String::new()),
            (
                vec!["b"],
                " (network: 1 ms round trip, 1 % loss each way)".to_owned()
            ),
            (
                vec!["a", "c"],
                " (network: 20 ms round trip, 1 % loss each way)".to_owned()
            ),
        ]
    );
}
