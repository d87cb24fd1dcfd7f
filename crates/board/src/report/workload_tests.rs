//! Every workload of the project has a ranking in its own words, whatever files there are.

use super::fixture::{repeated, unmeasured};
use super::fixture_under::{plans, under};
use super::*;
use plan::{Load, Nanos, Plan, Reading};
use record::{Status, WarmUp};

fn quick_and_slow(plan: &Plan) -> Vec<Measurement> {
    vec![under(plan, "slow", 9_000), under(plan, "quick", 6_001)]
}

/// The plan of the folder that fits, under its own name.
fn plan_that(fits: impl Fn(&Plan) -> bool) -> Plan {
    let mut plans = plans().into_iter();
    plans
        .find(|plan| fits(plan))
        .expect("no workload of this kind")
}

fn head(measurements: &[Measurement]) -> String {
    text::table(measurements).lines().next().unwrap().to_owned()
}

#[test]
fn every_workload_is_ranked_under_its_name_with_its_reason_and_its_rule() {
    for plan in plans() {
        let name = plan.name.clone().unwrap();
        let measurements = quick_and_slow(&plan);
        let text = text::table(&measurements);
        let lines: Vec<&str> = text.lines().collect();
        let start = format!("{name} over JSON: ");
        assert!(lines[0].starts_with(&start), "{name}: {text}");
        assert!(lines[0].ends_with("(2 of 2 rows ok)"), "{name}: {text}");
        assert!(lines[2].starts_with("1  quick"), "{name}: {text}");
        assert!(lines[3].starts_with("2  slow"), "{name}: {text}");
        let markdown = markdown::table(&measurements);
        let reason = markdown::escaped(plan.reason.as_deref().unwrap());
        assert!(markdown.contains(&reason), "{name}: {markdown}");
        assert!(markdown.contains("\nRanked by "), "{name}: {markdown}");
    }
}

#[test]
fn a_fixed_number_of_clients_is_ranked_by_the_limited_latency() {
    let plan = plan_that(|plan| {
        plan.open_loop().is_some()
            && plan.steps() == Some(1)
            && plan.limits.of == plan::Measure::Delivery
            && plan.limits.percentile == 99.0
            && plan.workload() == plan::Workload::Broadcast
            && plan.populations.len() == 1
    });
    let measurements = quick_and_slow(&plan);
    let head = head(&measurements);
    assert!(
        head.contains("p99 of deliveries at their listener, "),
        "{head}"
    );
    let step = &measurements[1].run.as_ref().unwrap().steps[0];
    let markdown = markdown::table(&measurements);
    let first = format!(
        "quick is first by p99 of deliveries at their listener: {}; slow follows with",
        figures::time(step.limited_ns.unwrap() as f64)
    );
    assert!(markdown.contains(&first), "{markdown}");
    assert!(markdown.contains("| delivery p99 |"), "{markdown}");
    let alone = markdown::table(&measurements[1..]);
    let only = first.replace("first by", "the only row;");
    let only = only.replace("; slow follows with", ".");
    assert!(alone.contains(&only), "{alone}");

    let mut slower = measurements;
    let step = &mut slower[1].run.as_mut().unwrap().steps[0];
    step.limited_ns = Some(plan.limits.time.ns() * 2);
    step.over_limit = true;
    step.verdict = record::Verdict::Fail;
    let outcome = &mut slower[1].run.as_mut().unwrap().outcome;
    (outcome.end, outcome.carried_clients) = (record::End::OverLimit, None);
    let text = text::table(&slower);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[3].starts_with("2  quick") && lines[3].contains(" < "),
        "{text}"
    );
    assert!(lines[3].contains(" ms "), "its figures are shown: {text}");
}

#[test]
fn a_server_without_time_to_spare_has_no_place_by_its_cost() {
    let busy = |score| {
        let plan = plan_that(|plan| ranking::Score::new(plan) == score);
        let mut measurements = quick_and_slow(&plan);
        for step in &mut measurements[1].server_steps {
            step.cpu_ns = step.elapsed_ns / 10 * 9;
        }
        markdown::table(&measurements)
    };
    let by_cost = busy(ranking::Score::Cost);
    assert!(by_cost.contains("\n| – | quick |"), "{by_cost}");
    assert!(
        by_cost.contains("quick has no place: it used 90 % of its cores"),
        "{by_cost}"
    );
    let by_latency = busy(ranking::Score::Latency);
    assert!(by_latency.contains("\n| 1 | quick |"), "{by_latency}");
    assert!(!by_latency.contains("has no place"), "{by_latency}");
}

#[test]
fn a_storm_is_ranked_by_the_return_of_all_and_who_never_came_back_is_last() {
    let plan = plan_that(|plan| ranking::Score::new(plan) == ranking::Score::Return);
    let mut measurements = quick_and_slow(&plan);
    let head = head(&measurements);
    assert!(
        head.contains("until all clients that were cut off are back"),
        "{head}"
    );
    let run = measurements[1].run.as_mut().unwrap();
    let churn = run.steps[0].churn.as_mut().unwrap();
    let cut = churn.cut.as_mut().unwrap();
    (cut.back, cut.back_100_ns) = (cut.back - 1, None);
    let text = text::table(&measurements);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[2].starts_with("1  slow"), "{text}");
    assert!(
        lines[3].starts_with("2  quick") && lines[3].contains(" never "),
        "{text}"
    );
}

#[test]
fn of_storms_that_not_all_came_back_from_the_one_with_more_of_them_is_before_the_other() {
    let plan = plan_that(|plan| ranking::Score::new(plan) == ranking::Score::Return);
    let mut measurements = quick_and_slow(&plan);
    for (measurement, missing) in measurements.iter_mut().zip([1, 3]) {
        let run = measurement.run.as_mut().unwrap();
        let churn = run.steps[0].churn.as_mut().unwrap();
        let cut = churn.cut.as_mut().unwrap();
        (cut.back, cut.back_100_ns) = (cut.back - missing, None);
    }
    let rows = ranking::rank(&measurements);
    let places: Vec<_> = rows.iter().map(|row| row.place.unwrap().best).collect();
    assert_eq!(places, [1, 2]);
    assert_eq!(rows[0].server().name, "slow");
    for row in &rows {
        let figure = row.figure(ranking::Score::Return, None);
        assert_eq!(figure, Some(f64::INFINITY), "it is told as never");
    }
}

/// Three repetitions: what is shown of the returns is what ranks, and of the middle one.
#[test]
fn the_returns_of_a_storm_are_those_of_the_middle_repetition() {
    let plan = plan_that(|plan| ranking::Score::new(plan) == ranking::Score::Return);
    let mut repetitions: Vec<Measurement> = [4_000, 6_000, 5_000]
        .into_iter()
        .zip(1..)
        .map(|(us, number)| super::fixture::repeated(under(&plan, "a", us), number))
        .collect();
    let cut = |of: &Measurement| {
        let step = &of.run.as_ref().unwrap().steps[0];
        step.churn.as_ref().unwrap().cut.clone().unwrap()
    };
    let middle = cut(&repetitions[2]);
    let rows = ranking::rank(&repetitions);
    let ns = |of: Option<u64>| of.map(|ns| ns as f64);
    assert_eq!(
        rows[0].returned(|cut| cut.back_50_ns),
        ns(middle.back_50_ns)
    );
    assert_eq!(
        rows[0].returned(|cut| cut.back_100_ns),
        ns(middle.back_100_ns)
    );
    let figure = rows[0].figure(ranking::Score::Return, None);
    assert_eq!(figure, ns(middle.back_100_ns));
    let step = rows[0].shown_step().unwrap();
    assert_eq!(step.extra.leaving.as_ref().unwrap().failures, 9);
    // One that never comes back is the slowest, and two of three are the middle.
    for (lost, shown) in [
        (0, ns(cut(&repetitions[1]).back_100_ns)),
        (1, Some(f64::INFINITY)),
    ] {
        let step = &mut repetitions[lost].run.as_mut().unwrap().steps[0];
        let cut = step.churn.as_mut().unwrap().cut.as_mut().unwrap();
        (cut.back, cut.back_100_ns) = (cut.back - 1, None);
        let rows = ranking::rank(&repetitions);
        assert_eq!(rows[0].returned(|cut| cut.back_100_ns), shown);
    }
    assert!(text::table(&repetitions).contains(" never "));
}

/// The mean of a time and of never is never, and before it is never alone.
#[test]
fn a_storm_from_which_half_never_came_back_is_told_as_never() {
    let plan = plan_that(|plan| ranking::Score::new(plan) == ranking::Score::Return);
    let with = |name: &str, lost: [bool; 2]| -> Vec<Measurement> {
        let both = lost.into_iter().zip(1..).map(|(is_lost, number)| {
            let mut one = repeated(under(&plan, name, 5_000), number);
            let step = &mut one.run.as_mut().unwrap().steps[0];
            let cut = step.churn.as_mut().unwrap().cut.as_mut().unwrap();
            if is_lost {
                (cut.back, cut.back_100_ns) = (cut.back - 1, None);
            }
            one
        });
        both.collect()
    };
    let all = [
        with("never", [true, true]),
        with("half", [false, true]),
        with("back", [false, false]),
    ];
    let all = all.concat();
    let rows = ranking::rank(&all);
    let names: Vec<&str> = rows.iter().map(|row| row.server().name.as_str()).collect();
    assert_eq!(names, ["back", "half", "never"]);
    for (row, is_finite) in rows.iter().zip([true, false, false]) {
        let figure = row.figure(ranking::Score::Return, None).unwrap();
        let returned = row.returned(|cut| cut.back_100_ns).unwrap();
        assert_eq!(
            (figure.is_finite(), returned.is_finite()),
            (is_finite, is_finite)
        );
    }
}

#[test]
fn held_connections_are_ranked_by_their_memory() {
    let plan = plan_that(|plan| matches!(plan.load, Load::Connect(_)));
    let mut measurements = quick_and_slow(&plan);
    for step in &mut measurements[1].server_steps {
        step.memory.sockets_bytes = Some(step.clients * 1_000_000);
    }
    let text = text::table(&measurements);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].contains("memory of the server for one connection"),
        "{text}"
    );
    assert!(
        lines[1].contains("opened/s") && lines[1].contains("ping p99"),
        "{text}"
    );
    assert!(!lines[1].contains("cpu/msg"), "{text}");
    assert!(lines[2].starts_with("1  slow"), "{text}");
}

/// Four repetitions with 4,196, 4,296, 4,396 and 4,496 bytes a connection: ranking and
/// column have the mean of the two in the middle.
#[test]
fn the_memory_that_is_ranked_is_that_of_the_column() {
    let plan = plan_that(|plan| matches!(plan.load, Load::Connect(_)));
    let measurements: Vec<Measurement> = (1..)
        .zip([100, 200, 300, 400])
        .map(|(number, median_us)| repeated(under(&plan, "alpha", median_us), number))
        .collect();
    let row = ranking::rank(&measurements).remove(0);
    let step = row.shown_step().unwrap();
    let columns = (step.memory.map(|memory| memory.bytes), step.sockets);
    assert_eq!(columns, (Some(4_346.0), Some(1_536.0)));
    let ranked = row.figure(ranking::Score::Memory, None);
    assert_eq!(ranked, Some(4_346.0 + 1_536.0));
}

/// What one repetition does not know the others do not say for it.
#[test]
fn a_row_of_which_a_repetition_knows_no_memory_is_last() {
    let plan = plan_that(|plan| matches!(plan.load, Load::Connect(_)));
    let small: Vec<Measurement> = (1..=2)
        .map(|number| repeated(under(&plan, "small", 100), number))
        .collect();
    let large = under(&plan, "large", 9_000);
    let first = |small: &[Measurement]| {
        let all = [small, std::slice::from_ref(&large)].concat();
        ranking::rank(&all)[0].server().name.clone()
    };
    assert_eq!(first(&small), "small");
    let mut half = small;
    half[1].server_steps.clear();
    assert_eq!(first(&half), "large");
    assert_eq!(
        ranking::rank(&half)[0].figure(ranking::Score::Memory, None),
        None
    );
}

#[test]
fn slow_readers_and_compression_have_columns_of_their_own() {
    let slow = plan_that(|p| p.populations.iter().any(|one| one.reads != Reading::Full));
    let text = text::table(&quick_and_slow(&slow));
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        ["cut off", "kept", "in sockets"]
            .iter()
            .all(|title| lines[1].contains(title)),
        "{text}"
    );
    assert!(
        lines[2].contains(" 1 of 2 ") && lines[3].contains(" 0 of 2 "),
        "{text}"
    );
    let kept = figures::bytes(1_500_000.0);
    assert!(lines[2].contains(&kept), "{kept} in {text}");
    assert!(!lines[1].contains("mem/conn"), "{text}");
    let note = "quick: 1 of 2 clients that read slowly were cut off, the first with: reset by";
    assert!(text.contains(note), "{text}");
    let compressed = plan_that(|plan| plan.connection.compression.is_some());
    let text = text::table(&quick_and_slow(&compressed));
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[1].contains("ratio") && lines[1].contains("wire/msg"),
        "{text}"
    );
    let used = under(&compressed, "a", 6_001).run.unwrap().steps[0]
        .compression
        .unwrap();
    let ratio = used.received_inflated_bytes as f64 / used.received_bytes as f64;
    assert!(lines[2].contains(&format!(" {ratio:.1} ")), "{text}");
}

#[test]
fn rows_that_a_workload_does_not_apply_to_are_named_below_and_counted_nowhere() {
    let plan = plan_that(|plan| plan.connection.compression.is_some());
    let mut measurements = quick_and_slow(&plan);
    for name in ["plain", "simple"] {
        let mut plain = unmeasured(name, Status::NotApplicable, "its manifest declares none");
        plain.workload_name.clone_from(&plan.name);
        measurements.push(plain);
    }
    let text = text::table(&measurements);
    assert!(text.contains("(2 of 2 rows ok)"), "{text}");
    let named = "Not applicable, its manifest declares none: plain, simple";
    assert!(text.contains(&format!("\n{named}\n")), "{text}");
    assert!(!text.contains("\n–  plain"), "{text}");
    let markdown = markdown::table(&measurements);
    assert!(
        markdown.contains(named) && !markdown.contains("has no result"),
        "{markdown}"
    );
    let alone = text::table(&measurements[2..]);
    assert!(
        alone.contains(named) && alone.contains("(0 of 0 rows ok)"),
        "{alone}"
    );
    let alone = markdown::table(&measurements[2..]);
    assert!(
        !alone.contains('|') && alone.contains("no server has a result"),
        "{alone}"
    );
}

#[test]
fn the_example_of_the_documentation_is_a_plan_with_the_ranking_that_it_promises() {
    let page = include_str!("../../../../docs/adding-a-workload.md");
    let text = page.split("```toml\n").nth(1).unwrap();
    let text = text.split("```").next().unwrap().to_owned();
    let plan = plan_file::PlanFile::parse("the example", text, "").unwrap();
    let plan = plan.plan().unwrap();
    plan.clone()
        .with(|plan| plan.target.url = "ws://h/".into())
        .validate()
        .unwrap();
    let shown = page.split("```\n").nth(2).unwrap();
    assert_eq!(shown.trim_end(), head(&quick_and_slow(&plan)));
}

#[test]
fn the_cold_figure_stands_beside_the_warm_one() {
    let plan = plan_that(|plan| matches!(plan.load, Load::Closed(_)));
    let plan = plan.with(|plan| plan.warm_up = Nanos::secs(10));
    let mut measurements = quick_and_slow(&plan);
    let cold = measurements[0].run.as_ref().unwrap().steps[0].clone();
    let p95 = figures::time(cold.completion.as_ref().unwrap().p95_ns as f64);
    measurements[1].run.as_mut().unwrap().warm_up = Some(Box::new(WarmUp {
        steps: 3,
        cold,
        ..WarmUp::default()
    }));
    let text = text::table(&measurements);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].contains("cold p95"), "{text}");
    assert!(lines[2].contains(&format!(" {p95} ")), "{p95} in {text}");
}
