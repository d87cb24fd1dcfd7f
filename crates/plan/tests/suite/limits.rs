//! What a plan may say: every bound is met from both sides.

use plan::{Load, Plan, PlanError};
use serde_json::{Value, json};

/// A plan of each kind, as JSON.
fn plans() -> [Value; 5] {
    let url = json!({"url": "ws://127.0.0.1:1/"});
    let closed = json!({"name": "a", "reason": "b", "target": url, "connection": {"origin": null},
        "load": {"closed": {"in_flight": 4, "samples": 20}},
        "clients": {"steps": {"first": 10, "add": 10, "count": null}},
        "populations": [{"share": 1}, {"share": 2, "reads": "full"},
            {"reads": {"bytes_per_second": 1024}}]});
    let open = json!({"target": url, "clients": {"search": {"of": "clients", "tries": 3}},
        "load": {"open": {"rate": 100.0, "ramp": {"to": 200.0, "over": "5ns"}, "duration": "1s"}}});
    let rate = json!({"target": url, "clients": {"search": {"of": "rate"}},
        "populations": [{}, {"life": {"comes_and_goes": {"stays": "1s", "away": "1s"}},
            "reconnect": {"first": "500ms", "factor": 2.0, "most": "10s", "jitter": 0.5}}],
        "load": {"open": {"rate": 100.0}}});
    let connect = json!({"target": url, "audience": "sender", "load": {"connect": {"rate": 100.0,
        "arrivals": "constant", "hold": "0s", "ping_interval": "1us", "ping_timeout": "1us"}}});
    let moving = json!({"target": url, "audience": {"room": {"members": 5}},
        "populations": [{}, {"life": {"changes_room": {"stays": "1s", "away": "1s"}}}],
        "load": {"open": {"rate": 100.0}}});
    [closed, open, rate, connect, moving]
}

fn validated(plan: &Value) -> Result<(), PlanError> {
    let plan: Plan = serde_json::from_value(plan.clone()).unwrap();
    plan.validate()
}

#[test]
fn ordinary_plans_are_permitted() {
    for plan in plans() {
        assert_eq!(validated(&plan), Ok(()), "{plan}");
    }
}

#[test]
fn every_bound_is_met_from_both_sides() {
    let [closed, open, rate, connect, moving] = plans();
    let times = || {
        (
            json!(["1ns", "1day"]),
            json!(["0s", "1day 1ns", "500years"]),
        )
    };
    let or_none = || (json!(["0s", "1day"]), json!(["1day 1ns"]));
    let cases = [
        (
            &closed,
            "/generator/threads",
            json!([1, 1024]),
            json!([0, 1025, u32::MAX]),
        ),
        (
            &closed,
            "/connection/at_once",
            json!([1, 100_000]),
            json!([0, 100_001]),
        ),
        (
            &closed,
            "/load/closed/in_flight",
            json!([1, 1_000_000]),
            json!([0, 1_000_001]),
        ),
        (
            &closed,
            "/load/closed/samples",
            json!([1, 100_000_000]),
            json!([0, 100_000_001]),
        ),
        (
            &closed,
            "/clients/steps/first",
            json!([1, 10_000_000]),
            json!([0, 10_000_001]),
        ),
        (
            &closed,
            "/clients/steps/add",
            json!([0, 10_000_000]),
            json!([10_000_001]),
        ),
        (
            &closed,
            "/clients/steps/count",
            json!([null, 1, u32::MAX]),
            json!([0]),
        ),
        (
            &closed,
            "/message/padding",
            json!([0, 16_776_192]),
            json!([16_776_193, 16 << 20]),
        ),
        (
            &closed,
            "/limits/percentile",
            json!([0.001, 100.0]),
            json!([0.0, -1.0, 100.1]),
        ),
        (
            &closed,
            "/warm_up",
            json!(["0s", "1ns", "1day"]),
            json!(["1day 1ns"]),
        ),
        (
            &closed,
            "/limits/kept_bytes",
            json!([null, 1, 1_u64 << 40]),
            json!([0, (1_u64 << 40) + 1]),
        ),
        (
            &closed,
            "/target/url",
            json!(["ws://h/"]),
            json!(["", "ws://h/\nx", "\u{1b}[2J"]),
        ),
        (
            &closed,
            "/connection/origin",
            json!(["http://h/"]),
            json!(["", "a\r\nEvil: 1", "\u{e4}"]),
        ),
        (&closed, "/name", json!(["\u{e4}"]), json!(["", "a\nb"])),
        (&closed, "/reason", json!(["It is."]), json!(["", "a\nb"])),
        (
            &closed,
            "/populations/0/share",
            json!([1, 1_000_000]),
            json!([0, 1_000_001]),
        ),
        (
            &closed,
            "/populations/2/reads/bytes_per_second",
            json!([1, 1_000_000_000]),
            json!([0, 1_000_000_001]),
        ),
        (&closed, "/populations", json!([[{}]]), json!([[]])),
        (
            &rate,
            "/populations/1/life/comes_and_goes/stays",
            json!(["1ms", "1day"]),
            json!(["999us", "1day 1ns"]),
        ),
        (
            &rate,
            "/populations/1/life/comes_and_goes/away",
            json!(["0s", "1day"]),
            json!(["1day 1ns"]),
        ),
        (
            &moving,
            "/populations/1/life/changes_room/stays",
            json!(["1ms", "1day"]),
            json!(["999us", "1day 1ns"]),
        ),
        (
            &moving,
            "/populations/1/life/changes_room/away",
            json!(["0s", "1day"]),
            json!(["1day 1ns"]),
        ),
        (
            &rate,
            "/populations/1/reconnect/first",
            json!(["1ms", "10s"]),
            json!(["999us", "0s"]),
        ),
        (
            &rate,
            "/populations/1/reconnect/most",
            json!(["500ms", "1day"]),
            json!(["499ms", "1day 1ns"]),
        ),
        (
            &rate,
            "/populations/1/reconnect/factor",
            json!([1.0, 100.0]),
            json!([0.99, 100.1, -2.0]),
        ),
        (
            &rate,
            "/populations/1/reconnect/jitter",
            json!([0.0, 1.0]),
            json!([-0.1, 1.1]),
        ),
        (
            &open,
            "/clients/search/first",
            json!([1, 10_000_000]),
            json!([0, 10_000_001]),
        ),
        (
            &open,
            "/clients/search/tries",
            json!([1, 99]),
            json!([0, 100]),
        ),
        (
            &open,
            "/clients/search/precision",
            json!([0.001, 0.5]),
            json!([0.0, 0.6]),
        ),
        (
            &rate,
            "/load/open/rate",
            json!([0.001, 1e7]),
            json!([0.0, -1.0, 1.1e7, 1e300]),
        ),
        (
            &open,
            "/load/open/ramp/to",
            json!([0.001, 1e7]),
            json!([0.0, 1e8]),
        ),
        (
            &connect,
            "/load/connect/rate",
            json!([null, 0.001, 1e7]),
            json!([0.0, 2e7]),
        ),
        (
            &connect,
            "/load/connect/ping_timeout",
            json!(["1ns", "1us"]),
            json!(["0s", "1001ns"]),
        ),
    ];
    for (plan, place, permitted, forbidden) in cases {
        assert_bounds(plan, place, &permitted, &forbidden);
    }
    for (plan, place, (permitted, forbidden)) in [
        (&closed, "/connection/timeout", times()),
        (&connect, "/limits/time", times()),
        (&connect, "/limits/sample_timeout", times()),
        (&rate, "/load/open/duration", times()),
        (&rate, "/load/open/warm_up", or_none()),
        (&connect, "/load/connect/hold", or_none()),
    ] {
        assert_bounds(plan, place, &permitted, &forbidden);
    }
    let ramp = (json!(["1ns", "1s"]), json!(["0s", "1day 1ns"]));
    assert_bounds(&open, "/load/open/ramp/over", &ramp.0, &ramp.1);
    let interval = (json!(["1us", "1day"]), json!(["0s", "500years"]));
    assert_bounds(
        &connect,
        "/load/connect/ping_interval",
        &interval.0,
        &interval.1,
    );
}

#[track_caller]
fn assert_bounds(plan: &Value, place: &str, permitted: &Value, forbidden: &Value) {
    let with = |value: &Value| {
        let mut plan = plan.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        put(&mut plan, parent, key, value.clone());
        plan
    };
    for value in permitted.as_array().unwrap() {
        assert_eq!(validated(&with(value)), Ok(()), "{place} = {value}");
    }
    for value in forbidden.as_array().unwrap() {
        let error = validated(&with(value)).expect_err(place);
        let field = place
            .trim_start_matches('/')
            .replace(|index: char| index.is_ascii_digit(), "")
            .replace("//", "/")
            .replace('/', ".");
        let words = error.to_string();
        assert_eq!(error.field(), field, "{words}");
        assert!(words.starts_with(&format!("`{field}` is ")), "{words}");
        assert!(words.contains("permitted: "), "{words}");
        assert!(!words.chars().any(char::is_control), "{words:?}");
    }
}

/// Puts a value under a key of a part, which is made where it is missing.
fn put(plan: &mut Value, parent: &str, key: &str, value: Value) {
    let part = match plan.pointer_mut(parent) {
        Some(part) => part,
        None => {
            plan[parent.trim_start_matches('/')] = json!({});
            plan.pointer_mut(parent).unwrap()
        }
    };
    part[key] = value;
}

#[test]
fn what_is_no_number_is_in_no_range() {
    for rate in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let [_, _, open, connect, ..] = plans();
        let read = |plan| serde_json::from_value::<Plan>(plan).unwrap();
        let (mut open, mut connect) = (read(open), read(connect));
        if let (Load::Open(open), Load::Connect(connect)) = (&mut open.load, &mut connect.load) {
            open.rate = rate;
            connect.rate = Some(rate);
        }
        assert_eq!(open.validate().unwrap_err().field(), "load.open.rate");
        assert_eq!(connect.validate().unwrap_err().field(), "load.connect.rate");
    }
}

#[test]
fn parts_that_contradict_one_another_are_refused() {
    let [closed, open, rate, connect, _] = plans();
    let with = |plan: &Value, parts: Value| {
        let mut plan = plan.clone();
        for (key, part) in parts.as_object().unwrap() {
            plan[key] = part.clone();
        }
        plan
    };
    let search = json!({"clients": {"search": {}}});
    let of_rate = json!({"clients": {"search": {"of": "rate"}}});
    let slow = json!({"limits": {"time": "30s", "sample_timeout": "30s"}});
    let warm = json!({"warm_up": "1s"});
    let kept = json!({"limits": {"kept_bytes": 1}});
    let everyone = json!({"audience": "everyone"});
    let reads_slowly = json!({"reads": {"bytes_per_second": 1024}});
    let all_slow = json!({"populations": [reads_slowly, reads_slowly]});
    let some_slow = json!({"populations": [{}, reads_slowly]});
    let slow_echoes = json!({"populations": [{}, reads_slowly], "audience": "sender"});
    let cut = json!({"life": {"cut": {"at": "5s"}}});
    let some_leave = json!({"populations": [{}, cut]});
    let moves = json!({"life": {"changes_room": {"stays": "1s", "away": "0s"}}});
    let some_move = json!({"populations": [{}, moves]});
    let all_leave = json!({"populations": [cut, reads_slowly]});
    let two_cuts = json!({"populations": [{}, cut, cut]});
    let late_cut = json!({"populations": [{}, {"life": {"cut": {"at": "10s"}}}]});
    let slow_and_leave = json!({"populations": [{}, {"life": cut["life"], "reads": "stopped"}]});
    let short = json!({"load": {"open": {"rate": 1.0, "ramp": {"to": 2.0, "over": "11s"}}}});
    for (plan, parts, field, words) in [
        (&connect, &search, "clients.search", "needs requests"),
        (
            &closed,
            &of_rate,
            "clients.search.of",
            "begins with the rate",
        ),
        (
            &open,
            &of_rate,
            "clients.search.of",
            "leave out load.open.ramp",
        ),
        (&closed, &all_slow, "populations.reads", "one must read"),
        (
            &closed,
            &slow_echoes,
            "populations.reads",
            "only messages to others",
        ),
        (
            &connect,
            &some_slow,
            "populations.reads",
            "only messages to others",
        ),
        (
            &closed,
            &some_leave,
            "populations.life",
            "belongs to load.open",
        ),
        (
            &connect,
            &some_leave,
            "populations.life",
            "belongs to load.open",
        ),
        (
            &rate,
            &some_move,
            "populations.life.changes_room",
            "needs rooms",
        ),
        (&rate, &all_leave, "populations.life", "one must stay"),
        (&rate, &two_cuts, "populations.life.cut", "several"),
        (
            &rate,
            &late_cut,
            "populations.life.cut.at",
            "not before the end",
        ),
        (&rate, &some_leave, "clients.search", "other lengths"),
        (&rate, &slow_and_leave, "populations.life", "read slowly"),
        (&connect, &everyone, "audience", "the sender alone"),
        (
            &closed,
            &slow,
            "limits.time",
            "not below limits.sample_timeout",
        ),
        (
            &rate,
            &slow,
            "limits.time",
            "not below limits.sample_timeout",
        ),
        (&open, &kept, "limits.kept_bytes", "there are none"),
        (&connect, &warm, "warm_up", "this load has none"),
        (
            &open,
            &short,
            "load.open.duration",
            "shorter than load.open.ramp.over",
        ),
    ] {
        let error = validated(&with(plan, parts.clone())).expect_err(field);
        assert_eq!(error.field(), field);
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(validated(&with(&connect, slow)), Ok(()));
}

#[test]
fn a_limit_for_those_that_come_back_belongs_to_a_cut_and_ends_within_the_step() {
    let checked = |population: Value, back: Value| {
        validated(
            &json!({"target": {"url": "ws://127.0.0.1:1/"}, "limits": {"back": back},
            "populations": [{}, population],
            "load": {"open": {"rate": 100.0, "duration": "9s", "warm_up": "1s"}}}),
        )
    };
    let life = json!({"cut": {"at": "4s"}});
    let cut = || json!({"life": life});
    for back in [
        json!(null),
        json!({"time": "1ns"}),
        json!({"time": "6s", "percentile": 95.0}),
    ] {
        assert_eq!(checked(cut(), back.clone()), Ok(()), "{back}");
    }
    let never = || json!({"life": life, "reconnect": "never"});
    for (population, back, field, words) in [
        (
            cut(),
            json!({"time": "0s"}),
            "limits.back.time",
            "permitted: 1ns",
        ),
        (
            cut(),
            json!({"time": "6001ms"}),
            "limits.back.time",
            "raise load.open.duration",
        ),
        (
            cut(),
            json!({"time": "1s", "percentile": 0.0}),
            "limits.back.percentile",
            "above 0",
        ),
        (
            cut(),
            json!({"time": "1s", "percentile": 100.1}),
            "limits.back.percentile",
            "most 100",
        ),
        (
            never(),
            json!({"time": "1s"}),
            "limits.back",
            "there are none",
        ),
        (
            json!({}),
            json!({"time": "1s"}),
            "limits.back",
            "there are none",
        ),
    ] {
        let error = checked(population, back).expect_err(field);
        assert_eq!(error.field(), field);
        assert!(error.to_string().contains(words), "{error}");
    }
}
