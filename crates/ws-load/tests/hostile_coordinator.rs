//! Any plan and any commands, as a shared worker gets them from a network: a site obeys or refuses
//! them. It never panics, and never takes more memory than the plan is entitled to.

use plan::{Nanos, Plan};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::alloc::{GlobalAlloc, Layout, System};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use test_servers::{NullOptions, NullServer};
use ws_load::cluster::{Command, NodeError, Share, serve};

/// Counts what is held, so that a size which a peer has chosen shows.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// The plans below are entitled to 100,000 samples, 4 threads and 64 KiB of padding.
const BOUND: usize = 64 << 20;

// SAFETY: every call is the system allocator's, with what was given.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: `place` is the system's, and the layout is that of its making.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn server() -> SocketAddr {
    static SERVER: OnceLock<NullServer> = OnceLock::new();
    let start = || NullServer::start(NullOptions::default()).unwrap();
    SERVER.get_or_init(start).addr()
}

/// A plan with other values at these places.
fn plan(workload: &str, with: &[(&str, Value)]) -> Plan {
    let audience = if workload == "broadcast" {
        "everyone"
    } else {
        "sender"
    };
    let load = match workload {
        "connect" => json!({"connect": {}}),
        _ => json!({"closed": {"in_flight": 4, "samples": 20}}),
    };
    let mut plan = json!({
        "target": {"url": format!("ws://{}/ws", server())}, "audience": audience, "load": load,
        "clients": {"steps": {"first": 10, "add": 10}}, "message": {"padding": 0},
        "connection": {"timeout": "1s"}, "generator": {"threads": 1},
        "limits": {"time": "500ms", "sample_timeout": "1s"},
    });
    for (place, value) in with {
        let (parent, key) = place.rsplit_once('/').unwrap();
        plan.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    serde_json::from_value(plan).unwrap()
}

/// A time as plans have it.
fn time(ns: u64) -> Value {
    json!(Nanos(ns))
}

/// Serves what there is to serve. One at a time: what is held is counted for all.
fn served(plan: &Plan, share: Share, commands: Vec<Command>) -> Result<(), NodeError> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let note = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        note(info);
    }));
    MOST.store(HELD.load(Ordering::Relaxed), Ordering::Relaxed);
    let before = HELD.load(Ordering::Relaxed);
    let panics = PANICS.load(Ordering::Relaxed);
    let result = serve(plan, share, commands, Box::new(|_| ()));
    let _ = std::panic::take_hook();
    assert_eq!(
        PANICS.load(Ordering::Relaxed),
        panics,
        "a thread of the site panicked"
    );
    let taken = MOST.load(Ordering::Relaxed).saturating_sub(before);
    assert!(taken < BOUND, "{taken} bytes were taken");
    result
}

fn commands(commands: Value) -> Vec<Command> {
    serde_json::from_value(commands).unwrap()
}

const ALONE: Share = Share { number: 0, of: 1 };
const FIRST_OF_TWO: Share = Share { number: 0, of: 2 };

#[test]
fn a_plan_that_nothing_can_be_measured_with_is_refused_with_its_field() {
    for (place, value) in [
        ("/generator/threads", json!(0)),
        ("/generator/threads", json!(u32::MAX)),
        ("/load/closed/samples", json!(u32::MAX)),
        ("/message/padding", json!(u32::MAX)),
        ("/load/closed/in_flight", json!(0)),
        ("/connection/origin", json!("x\r\nEvil: 1")),
    ] {
        let error = served(&plan("echo", &[(place, value)]), ALONE, Vec::new()).unwrap_err();
        let field = place[1..].replace('/', ".");
        assert!(
            error.to_string().contains(&format!("`{field}` is ")),
            "{error}"
        );
    }
    let connect = json!({"connect": {"ping_interval": "0s", "ping_timeout": "0s"}});
    let error = served(&plan("connect", &[("/load", connect)]), ALONE, Vec::new()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`load.connect.ping_interval` is 0s"),
        "{error}"
    );
}

#[test]
fn a_raw_echo_is_begun_by_no_command() {
    let raw = json!([{"Open": {"clients": 4}},
        {"Raw": {"payload_bytes": 20, "frames": 10, "until_ns": 1, "seed": 1}}]);
    let error = served(&plan("echo", &[]), ALONE, commands(raw)).unwrap_err();
    let words = "a raw echo is measured by one process alone";
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn a_command_that_the_plan_cannot_lead_to_ends_the_site_with_its_reason() {
    let begin = |samples: u64, warm_up: u64, clients: u64| {
        json!({"Begin": {"first_sample": 0, "samples": samples, "warm_up": warm_up,
            "by_clock": false, "clients": clients}})
    };
    let open = json!({"Open": {"clients": 4}});
    let (ok, most) = (begin(20, 0, 4), u64::from(u32::MAX));
    let closed = [
        (
            json!([open, begin(most, 0, 4)]),
            "`samples` is 4294967295; permitted: 1 to 20",
        ),
        (json!([open, begin(0, 0, 4)]), "`samples` is 0"),
        (
            json!([open, begin(20, 20, 4)]),
            "`warm_up` is 20; permitted: 0 to 19",
        ),
        (
            json!([open, begin(20, 0, 5)]),
            "its clients are not those that were opened",
        ),
        (json!([ok]), "its clients are not those that were opened"),
        (json!([open, ok, ok]), "a step is under way"),
        (json!([{"Send": [0]}]), "no step has begun"),
        (
            json!([open, ok, {"Send": [20]}]),
            "`index` is 20; permitted: 0 to 19",
        ),
        (
            json!([open, ok, {"Send": (0..20).collect::<Vec<_>>()}]),
            "at another site",
        ),
        (
            json!([open, ok, {"Sent": [{"index": 99, "sender": 1, "due_ns": 1, "at_ns": 1}]}]),
            "`index` is 99",
        ),
        (
            json!([open, ok, {"Sent": [{"index": 9, "sender": 4, "due_ns": 1, "at_ns": 1}]}]),
            "`sender` is 4",
        ),
        (
            json!([open, ok, {"Sent": [{"index": 9, "sender": 2, "due_ns": 1, "at_ns": 1}]}]),
            "a client of this site",
        ),
        (
            json!([open, ok, {"Complete": [{"index": 20, "last_ns": 1}]}]),
            "`index` is 20",
        ),
        (
            json!([{"Complete": [{"index": 0, "last_ns": 1}]}]),
            "no step has begun",
        ),
        (
            json!([{"Open": {"clients": u64::MAX}}]),
            "`clients` is 18446744073709551615",
        ),
        (json!(["Finish"]), "no step is under way"),
        (json!([{"Hold": {"until_ns": 1}}]), "another workload"),
    ];
    for (told, words) in closed {
        let error = served(&plan("broadcast", &[]), FIRST_OF_TWO, commands(told)).unwrap_err();
        assert!(error.to_string().contains(words), "{error} lacks {words}");
    }
    let connect = json!({"connect": {"rate": 100.0, "hold": "1ns", "ping_interval": "9ns",
        "ping_timeout": "9ns"}});
    let opening = |have: u64, wanted: u64, rate: f64| {
        json!([{"OpenAndHold": {"have": have, "wanted": wanted, "by_clock": {"rate": rate,
            "arrivals": "poisson", "seed": 1, "start_ns": 1}}}])
    };
    for (told, words) in [
        (opening(0, u64::MAX, 100.0), "`wanted` is "),
        (opening(5, 4, 100.0), "`have` is 5; permitted: 0 to 4"),
        (opening(0, 4, 0.0), "its rate is not the plan's"),
        (json!([{"Hold": {"until_ns": u64::MAX}}]), "`until_ns` is "),
    ] {
        let plan = plan("connect", &[("/load", connect.clone())]);
        let error = served(&plan, ALONE, commands(told)).unwrap_err();
        assert!(error.to_string().contains(words), "{error} lacks {words}");
    }
}

/// Numbers at the edges of what is permitted, and far beyond.
fn number() -> impl Strategy<Value = u64> {
    select(vec![
        0,
        1,
        2,
        3,
        4,
        19,
        20,
        21,
        1000,
        1 << 31,
        u64::from(u32::MAX),
    ])
}

fn large() -> impl Strategy<Value = u64> {
    prop_oneof![number(), select(vec![1 << 40, u64::MAX / 2, u64::MAX])]
}

/// A number that a valid plan may hold without costing a test its time, or that none may hold.
fn few() -> impl Strategy<Value = u64> {
    select(vec![0, 1, 4, 7, 1 << 30, u64::MAX])
}

fn started() -> impl Strategy<Value = Value> {
    (number(), number(), large(), large()).prop_map(
        |(index, sender, due, at)| json!({"index": index, "sender": sender, "due_ns": due, "at_ns": at}),
    )
}

fn rate() -> impl Strategy<Value = f64> {
    select(vec![0.0, -1.0, 0.001, 100.0, 1e5, 1e7, 1e300])
}

fn load() -> impl Strategy<Value = Value> {
    (rate(), rate(), large(), any::<bool>()).prop_map(|(rate, to, ns, ramp)| {
        let ramp = ramp.then(|| json!({"to": to, "over": time(ns)}));
        json!({"rate": rate, "ramp": ramp, "arrivals": "poisson", "duration": time(ns)})
    })
}

fn command() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => few().prop_map(|clients| json!({"Open": {"clients": clients}})),
        3 => (large(), number(), number(), any::<bool>(), few()).prop_map(
            |(first, samples, warm_up, by_clock, clients)| json!({"Begin": {"first_sample": first,
                "samples": samples, "warm_up": warm_up, "by_clock": by_clock, "clients": clients}})),
        3 => prop::collection::vec(number(), 0..9).prop_map(|indices| json!({"Send": indices})),
        3 => prop::collection::vec(started(), 0..9).prop_map(|sent| json!({"Sent": sent})),
        2 => (number(), large()).prop_map(
            |(index, at)| json!({"Complete": [{"index": index, "last_ns": at}]})),
        2 => (load(), large()).prop_map(|(load, at)| json!({"Start": {"load": load, "start_ns": at}})),
        2 => (few(), few(), rate(), large()).prop_map(|(have, wanted, rate, at)| json!({"OpenAndHold": {
            "have": have, "wanted": wanted, "by_clock": {"rate": rate, "arrivals": "poisson",
            "seed": 1, "start_ns": at}}})),
        1 => large().prop_map(|at| json!({"Hold": {"until_ns": at}})),
        1 => any::<bool>().prop_map(|count| json!({"GiveUp": {"count": count}})),
        2 => Just(json!("Finish")),
        1 => Just(json!("Renew")),
    ]
}

/// Commands as a coordinator gives them, so that those after them find a step under way.
fn beginning() -> impl Strategy<Value = Vec<Value>> {
    select(vec![
        vec![],
        vec![
            json!({"Open": {"clients": 4}}),
            json!({"Begin": {"first_sample": 0, "samples": 20, "warm_up": 0, "by_clock": false,
                "clients": 4}}),
        ],
        vec![
            json!({"Open": {"clients": 4}}),
            json!({"Begin": {"first_sample": 0, "samples": 20, "warm_up": 3, "by_clock": true,
                "clients": 4}}),
        ],
    ])
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let workload = select(vec!["echo", "broadcast", "connect"]);
    let threads = select(vec![0, 1, 4, u32::MAX]);
    let numbers = select(vec![0, 1, 4, 20, 100_000, u32::MAX]);
    let connect = (rate(), few(), few()).prop_map(|(rate, interval, timeout)| {
        json!({"connect": {"rate": rate, "hold": "0s", "ping_interval": time(interval),
            "ping_timeout": time(timeout)}})
    });
    let open = prop_oneof![Just(None), load().prop_map(Some)];
    let padding = select(vec![0, 200, 1 << 16, u32::MAX]);
    (workload, threads, numbers, connect, open, padding, number()).prop_map(
        |(workload, threads, samples, connect, open, padding, in_flight)| {
            let load = match open {
                _ if workload == "connect" => connect,
                Some(open) => json!({"open": open}),
                None => json!({"closed": {"in_flight": in_flight, "samples": samples}}),
            };
            plan(
                workload,
                &[
                    ("/generator/threads", json!(threads)),
                    ("/message/padding", json!(padding)),
                    ("/load", load),
                ],
            )
        },
    )
}

/// A plan that is carried out, so that its commands are looked at.
fn valid_plan() -> impl Strategy<Value = Plan> {
    (
        select(vec!["echo", "broadcast", "connect"]),
        1u32..4,
        any::<bool>(),
    )
        .prop_map(|(workload, threads, by_clock)| {
            let mut with = vec![("/generator/threads", json!(threads))];
            let second = time(1_000_000_000);
            if workload == "connect" {
                let rate = by_clock.then_some(100.0);
                with.push((
                    "/load",
                    json!({"connect": {"rate": rate, "hold": "0s", "ping_interval": second,
                        "ping_timeout": second}}),
                ));
            } else if by_clock {
                let open = json!({"open": {"rate": 100.0, "duration": "100ms"}});
                with.push(("/load", open));
            }
            plan(workload, &with)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_plan_and_no_command_breaks_a_site(
        plan in prop_oneof![any_plan(), valid_plan()],
        begun in beginning(),
        told in prop::collection::vec(command(), 0..12),
        of in 1u32..4,
    ) {
        let told = commands(json!([begun, told].concat()));
        // Either outcome will do.
        let _ = served(&plan, Share { number: 0, of }, told);
    }
}
