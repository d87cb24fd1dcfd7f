use super::*;
use plan::{Audience, Connect, Load, Nanos};

const LIMIT_NS: u64 = 10_000_000;

fn plan(workload: Workload) -> Plan {
    let mut plan = crate::test_plan("ws://127.0.0.1:1/");
    if workload != Workload::Broadcast {
        plan.audience = Audience::Sender;
    }
    if workload == Workload::Connect {
        plan.load = Load::Connect(Connect::default());
    }
    plan.limits.time = Nanos(LIMIT_NS);
    plan.limits.percentile = 50.0;
    plan
}

fn recorder(ns: u64, count: u64) -> Recorder {
    let mut recorder = Recorder::default();
    recorder.record_n(ns, count);
    recorder
}

/// A part in which every figure is another multiple of `times`.
fn part(times: u64) -> StepPart {
    StepPart {
        latencies: Latencies {
            completion: recorder(times * 1_000_000, times),
            delivery: recorder(times * 2_000_000, times),
            ack: recorder(times * 3_000_000, times),
            send_lag: recorder(times * 40_000, times),
            receive_lag: recorder(times * 50_000, times),
            ..Latencies::default()
        },
        messages: 10 * times,
        reads: 20 * times,
        unstamped: 30 * times,
        clock_steps: 40 * times,
        busiest_cpu_ns: 50 * times,
        largest_lag_ns: 60 * times,
        process_cpu_ns: 70 * times,
        resident_bytes: 80 * times,
        segments: SegmentsPart {
            received: 90 * times,
            is_unknown: false,
        },
        counts: Counts {
            sent: 100 * times,
            received: 200 * times,
            sent_bytes: 300 * times,
            received_bytes: 400 * times,
            faults: 0,
        },
        ..StepPart::default()
    }
}

/// A step of 1,000 ns in one process.
fn merged(plan: &Plan, parts: Vec<(u32, StepPart)>) -> Merged<'_> {
    Merged {
        plan,
        clients: 3,
        rate: Some(7.0),
        planned: 20,
        samples: 19,
        sent: Some(18),
        backpressure: Some(Backpressure { late: 2, unsent: 1 }),
        flight: None,
        elapsed_ns: 1_000,
        warm_up_ns: 200,
        cpu_ns: 900,
        timed_out: false,
        kept: Kept::default(),
        rows: Vec::new(),
        parts,
    }
}

fn record(merged: Merged<'_>) -> StepRecord {
    merged.into_record().0
}

#[test]
fn figures_of_the_parts_are_added_and_maxima_are_the_largest() {
    let plan = plan(Workload::Broadcast);
    let record = record(merged(&plan, vec![(0, part(1)), (1, part(4))]));
    let generator = &record.generator;
    let sums = [
        generator.messages,
        generator.reads,
        generator.unstamped_reads,
        generator.clock_steps,
    ];
    assert_eq!(sums, [50, 100, 150, 200]);
    assert_eq!(generator.largest_lag_ns, 240);
    assert_eq!(generator.busiest_thread, 0.2);
    // The parts of threads have none of their own: here it is that of the process and of theirs.
    assert_eq!(generator.cpu_ns, 900 + 350);
    assert_eq!(
        (record.samples_planned, record.samples, record.sent),
        (20, 19, Some(18))
    );
    assert_eq!((record.clients, record.rate), (3, Some(7.0)));
    assert_eq!(
        record.backpressure.map(|of| (of.late, of.unsent)),
        Some((2, 1))
    );
    let whole = |times: [u64; 2], unit: u64| {
        let mut all = recorder(times[0] * unit, times[0]);
        all.merge(&recorder(times[1] * unit, times[1]));
        all.latency()
    };
    assert_eq!(record.completion, whole([1, 4], 1_000_000));
    assert_eq!(record.delivery, whole([1, 4], 2_000_000));
    assert_eq!(record.ack, whole([1, 4], 3_000_000));
    assert_eq!(record.send_lag, whole([1, 4], 40_000));
    assert_eq!(generator.receive_lag, whole([1, 4], 50_000));
}

#[test]
fn throughput_is_of_all_parts_over_the_length_of_the_step() {
    let plan = plan(Workload::Echo);
    let throughput = record(merged(&plan, vec![(0, part(1)), (1, part(2))])).throughput;
    let throughput = throughput.unwrap();
    let counts = [
        throughput.sent,
        throughput.received,
        throughput.sent_bytes,
        throughput.received_bytes,
    ];
    assert_eq!(counts, [300, 600, 900, 1200]);
    // 300 in a microsecond.
    assert_eq!(throughput.sent_per_second, 300e6);
}

#[test]
fn segments_are_those_of_all_parts_or_not_known() {
    let plan = plan(Workload::Echo);
    let all = |last: StepPart| record(merged(&plan, vec![(0, part(1)), (1, last)]));
    assert_eq!(all(part(2)).received_segments, Some(270));
    let mut threads = part(2);
    threads.merge(part(3));
    assert_eq!(all(threads).received_segments, Some(540));
    let mut unknown = part(2);
    unknown.segments.is_unknown = true;
    let mut threads = part(3);
    threads.merge(unknown);
    assert_eq!(all(threads).received_segments, None);
}

#[test]
fn a_thread_uses_no_more_than_a_core() {
    let plan = plan(Workload::Echo);
    let busy = StepPart {
        busiest_cpu_ns: 1_100,
        ..part(1)
    };
    let record = record(merged(&plan, vec![(0, busy)]));
    assert_eq!(record.generator.busiest_thread, 1.0);
}

#[test]
fn memory_is_that_of_this_process_where_there_are_no_sites() {
    let plan = plan(Workload::Echo);
    let nothing = StepPart::default();
    let bytes = record(merged(&plan, vec![(0, nothing)]))
        .generator
        .resident_bytes;
    assert!((1 << 20..1 << 34).contains(&bytes), "{bytes}");
    assert_eq!(bytes % 4096, 0);
}

#[test]
fn cpu_and_memory_of_sites_are_theirs_and_stand_in_their_rows() {
    let plan = plan(Workload::Broadcast);
    let site = |name: &str| SiteUse {
        name: name.into(),
        ..SiteUse::default()
    };
    let silent = StepPart {
        latencies: Latencies::default(),
        ..part(2)
    };
    let mut over_sites = merged(&plan, vec![(1, part(5)), (0, silent)]);
    over_sites.rows = vec![site("a"), site("b")];
    let record = record(over_sites);
    assert_eq!(record.generator.cpu_ns, 490);
    assert_eq!(record.generator.resident_bytes, 560);
    let figures = |row: &SiteUse| {
        (
            row.messages,
            row.cpu_ns,
            row.busiest_thread,
            row.largest_lag_ns,
            row.resident_bytes,
        )
    };
    let [a, b] = &record.sites[..] else {
        panic!("{:?}", record.sites);
    };
    assert_eq!(figures(a), (20, 140, 0.1, 120, 160));
    assert_eq!(figures(b), (50, 350, 0.25, 300, 400));
    assert_eq!(a.send_lag_p99_ns, None);
    let lag_ns = b.send_lag_p99_ns.unwrap();
    assert!(lag_ns.abs_diff(200_000) <= 1_000, "{lag_ns}");
}

#[test]
fn first_words_are_those_of_the_first_part_that_has_any() {
    let plan = plan(Workload::Echo);
    let says = |malformed: Option<&str>, disconnect: Option<&str>| StepPart {
        first: FirstFaults {
            malformed: malformed.map(str::to_owned),
            disconnect: disconnect.map(str::to_owned),
            ..FirstFaults::default()
        },
        ..StepPart::default()
    };
    let parts = vec![
        (0, says(None, Some("gone"))),
        (1, says(Some("bad"), Some("later"))),
        (2, says(Some("worse"), None)),
    ];
    let first = merged(&plan, parts).into_record().1.first;
    assert_eq!(first.malformed.as_deref(), Some("bad"));
    assert_eq!(first.disconnect.as_deref(), Some("gone"));
}

#[test]
fn the_limit_is_broken_above_it() {
    let mut plan = plan(Workload::Broadcast);
    let over = |plan: &Plan| record(merged(plan, vec![(0, part(5))])).over_limit;
    // Completion 5 ms, delivery 10 ms, ack 15 ms.
    let ten = recorder(10_000_000, 1).percentile(50.0);
    plan.limits.time = Nanos(ten);
    for (measure, breaks) in [
        (Measure::Completion, false),
        (Measure::Delivery, false),
        (Measure::Ack, true),
    ] {
        plan.limits.of = measure;
        assert_eq!(over(&plan), breaks, "{measure:?}");
    }
    plan.limits.of = Measure::Delivery;
    plan.limits.time = Nanos(ten - 1);
    assert!(over(&plan));
    let nothing = record(merged(&plan, Vec::new()));
    assert_eq!((nothing.over_limit, nothing.limited_ns), (false, None));
}

#[test]
fn an_echo_has_one_latency_and_a_connection_no_messages() {
    let echo = plan(Workload::Echo);
    let of_echo = record(merged(&echo, vec![(0, part(5))]));
    assert_eq!((of_echo.delivery, of_echo.ack), (None, None));
    assert!(of_echo.completion.is_some() && of_echo.throughput.is_some());
    let connect = plan(Workload::Connect);
    let of_connect = record(merged(&connect, vec![(0, part(5))]));
    assert_eq!((of_connect.throughput, of_connect.series), (None, None));
}

#[test]
fn the_limited_figure_is_told_at_its_earliest_where_stamps_were_shared() {
    let plan = plan(Workload::Echo);
    let mut shared = part(10);
    assert_eq!(
        record(merged(&plan, vec![(0, shared.clone())])).limited_at_least_ns,
        None
    );
    // Six of the ten of 10 ms may have come 4 ms earlier.
    let of = &mut shared.latencies.shared;
    of.at_most = recorder(10_000_000, 6);
    of.at_least = recorder(6_000_000, 6);
    of.error = recorder(4_000_000, 6);
    let record = record(merged(&plan, vec![(0, shared)]));
    let close = |ns: Option<u64>, to: u64| assert!(ns.unwrap().abs_diff(to) < to / 100, "{ns:?}");
    close(record.limited_ns, 10_000_000);
    close(record.limited_at_least_ns, 6_000_000);
    assert_eq!(record.limited_at_least.unwrap().count, 10);
    assert_eq!(record.generator.shared_stamps.unwrap().count, 6);
}

#[test]
fn littles_law_is_of_the_time_that_was_timed_and_of_real_sends() {
    let plan = plan(Workload::Echo);
    let with = |part: StepPart| Merged {
        flight: Some(Flight {
            area_ns: 1_600,
            known_after_ns: 4_000,
            unread_ns: 2_000,
        }),
        ..merged(&plan, vec![(0, part)])
    };
    // 4 in the 800 ns after the warm-up, of 4 ms each, known 1,000 ns later.
    let law = record(with(part(4))).in_flight.unwrap();
    let mean_ns = recorder(4_000_000, 4).latency().unwrap().mean_ns;
    assert_eq!(law.seen, 2.0);
    assert_eq!((law.known_after_ns, law.unread_ns), (1_000.0, 500.0));
    assert_eq!(law.expected, 4.0 / 800.0 * (mean_ns + 1_000.0));
    let mut late = part(4);
    late.latencies.uncorrected = recorder(1_000_000, 2);
    let law = record(with(late)).in_flight.unwrap();
    let mean_ns = recorder(1_000_000, 2).latency().unwrap().mean_ns;
    assert_eq!(law.expected, 2.0 / 800.0 * (mean_ns + 2_000.0));
    let mut faulty = part(4);
    faulty.faults.lost = 1;
    let faulty = record(with(faulty));
    assert_eq!((faulty.in_flight, faulty.faults.lost), (None, 1));
}
