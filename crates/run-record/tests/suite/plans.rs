//! A plan is the same value in a record, on the wire between workers, and in a record of version 1.

use run_record::{
    Arrivals, Audience, Clients, Connect, Dialect, Io, Load, Measure, Nanos, OpenLoop, Plan, Ramp,
    Raw, RunRecord, Search, SearchOf, Timestamps, Tls, TlsVersion, VERSION, Workload,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A plan of each kind, no part of it at its default.
fn plans() -> Vec<Plan> {
    let mut base = Plan::new("wss://localhost/");
    (base.name, base.reason) = (Some("one".into()), Some("Because.".into()));
    base.target.local_addrs = vec![[127, 0, 0, 2].into(), "::1".parse().unwrap()];
    base.target.verify_certificate = false;
    base.target.ca_file = Some("ca.pem".into());
    base.connection.origin = Some("http://localhost/".into());
    base.connection.tls = Some(Tls {
        min: TlsVersion::V1_3,
        max: TlsVersion::V1_2,
        resumption: false,
        client_cert: Some("client.pem".into()),
        client_key: Some("client.key".into()),
        server_name: Some("other".into()),
    });
    base.connection.headers = vec!["X: {t}".into()];
    base.connection.cookies = vec!["a=b".into()];
    base.connection.query = vec!["c=d".into()];
    base.connection.subprotocols = vec!["v1".into()];
    base.connection.data = Some("rows.csv".into());
    base.target.unix_socket = Some("socket".into());
    base.target.proxy = Some("http://h:1".into());
    base.target.resolve = vec!["h:80:127.0.0.1".into()];
    base.audience = Audience::Sender;
    (base.message.dialect, base.message.padding) = (Dialect::ActionCable, 200);
    (base.limits.of, base.limits.time) = (Measure::Ack, Nanos(1_000_001));
    (base.generator.io, base.generator.timestamps) = (Io::Uring, Timestamps::Kernel);
    base.generator.seed = u64::MAX;
    let search = Search {
        of: SearchOf::Rate,
        ..Search::default()
    };
    let open = OpenLoop {
        rate: 0.1,
        ramp: Some(Ramp {
            to: 1e7,
            over: Nanos(1),
        }),
        arrivals: Arrivals::Constant,
        duration: Nanos::secs(61),
        warm_up: Nanos(5),
    };
    let connect = Connect {
        rate: Some(3.0),
        ..Connect::default()
    };
    let raw = Raw {
        payload: 1 << 33,
        pack: 3,
        duration: Nanos::secs(1),
    };
    [
        (Load::closed(1, 2), Clients::steps(1, 0, Some(3))),
        (Load::Open(open), Clients::Search(search)),
        (Load::Connect(connect), Clients::default()),
        (Load::Raw(raw), Clients::default()),
    ]
    .map(|(load, clients)| Plan {
        load,
        clients,
        ..base.clone()
    })
    .to_vec()
}

#[test]
fn every_plan_travels_as_bytes_and_as_text() {
    for plan in plans() {
        let bytes = postcard::to_stdvec(&plan).unwrap();
        assert_eq!(postcard::from_bytes::<Plan>(&bytes).unwrap(), plan);
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        assert!(text.contains("\"time\":\"1ms 1ns\""), "{text}");
    }
}

#[test]
fn the_workload_follows_from_load_and_audience() {
    let of = |load, audience| {
        let plan = Plan {
            load,
            audience,
            ..Plan::new("ws://h/")
        };
        plan.workload()
    };
    let closed = Load::default;
    let connect = Load::Connect(Connect::default());
    assert_eq!(of(closed(), Audience::Sender), Workload::Echo);
    assert_eq!(of(closed(), Audience::Everyone), Workload::Broadcast);
    assert_eq!(of(connect, Audience::Sender), Workload::Connect);
}

#[test]
fn a_file_may_leave_out_what_has_a_default_and_say_nothing_unknown() {
    let read = serde_json::from_value::<Plan>;
    let plan = read(json!({"target": {"url": "ws://h/"}})).unwrap();
    assert_eq!(plan, Plan::new("ws://h/"));
    assert_eq!(plan.validate(), Ok(()));
    for unknown in [
        json!({"dialekt": "text"}),
        json!({"target": {"ulr": ""}}),
        json!({"load": {"closed": {"inflight": 1}}}),
        json!({"load": {"open": {"rate": 1.0, "rat": 1.0}}}),
        json!({"load": {"open": {}}}),
        json!({"clients": {"steps": {"size": 1}}}),
        json!({"clients": {"search": {"size": 1}}}),
        json!({"populations": [{"shares": 1}]}),
        json!({"limits": {"rtt": "1s"}}),
        json!({"generator": {"cores": 1}}),
    ] {
        assert!(read(unknown.clone()).is_err(), "{unknown}");
    }
}

/// A record as the program wrote it when the plan had no parts, and its schema of then.
fn of_version_1(name: &str) -> (Value, RunRecord) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(here.join("tests/fixtures").join(name)).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["version"], 1);
    let read: RunRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(read.version, VERSION);
    assert_eq!(read.steps.len(), written["steps"].as_array().unwrap().len());
    // What is written again is of this version, and the same plan.
    let again = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<RunRecord>(&again).unwrap(), read);
    (written, read)
}

#[test]
fn a_broadcast_of_version_1_is_read() {
    let (_, read) = of_version_1("plain-v2.json");
    let mut plan = Plan::new("ws://127.0.0.1:3391/ws");
    plan.load = Load::closed(4, 1000);
    plan.clients = Clients::steps(20, 5000, Some(1));
    (plan.generator.io, plan.generator.timestamps) = (Io::Uring, Timestamps::Kernel);
    plan.generator.seed = 2_903_668_095_753_047;
    assert_eq!(read.plan, plan);
}

#[test]
fn an_open_loop_of_version_1_is_read() {
    let (written, read) = of_version_1("v1-echo-open.json");
    let schema = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/run.v1.schema.json"),
    );
    let schema: Value = serde_json::from_str(&schema.unwrap()).unwrap();
    jsonschema::validate(&schema, &written).unwrap();
    let mut plan = Plan::new("ws://127.0.0.1:34711/ws");
    plan.target.local_addrs = vec![[127, 0, 0, 2].into()];
    plan.connection.origin = Some("http://localhost/".into());
    plan.audience = Audience::Sender;
    plan.clients = Clients::steps(3, 7, Some(1));
    plan.load = Load::Open(OpenLoop {
        rate: 50.0,
        ramp: Some(Ramp {
            to: 100.0,
            over: Nanos::millis(200),
        }),
        arrivals: Arrivals::Constant,
        duration: Nanos::millis(300),
        warm_up: Nanos::millis(100),
    });
    plan.limits.time = Nanos::millis(400);
    (plan.generator.io, plan.generator.timestamps) = (Io::Uring, Timestamps::Kernel);
    plan.generator.seed = 5;
    assert_eq!(read.plan, plan);
}

#[test]
fn connections_of_version_1_are_read() {
    let (_, read) = of_version_1("v1-connect.json");
    let mut plan = Plan::new("ws://127.0.0.1:34711/ws");
    plan.audience = Audience::Sender;
    plan.clients = Clients::steps(5, 5000, Some(1));
    plan.load = Load::Connect(Connect {
        rate: Some(100.0),
        arrivals: Arrivals::Poisson,
        hold: Nanos::millis(200),
        ping_interval: Nanos::millis(100),
        ping_timeout: Nanos::millis(90),
    });
    (plan.generator.io, plan.generator.timestamps) = (Io::Uring, Timestamps::Kernel);
    plan.generator.seed = 7;
    assert_eq!(read.plan, plan);
}

#[test]
fn a_search_of_version_1_is_read() {
    let (mut written, _) = of_version_1("v1-echo-open.json");
    written["plan"]["search"] = json!({"of": "rate", "tries": 1, "precision": 0.5});
    written["plan"]["open_loop"]["ramp"] = Value::Null;
    let read: RunRecord = serde_json::from_value(written).unwrap();
    let search = Search {
        of: SearchOf::Rate,
        first: 3,
        tries: 1,
        precision: 0.5,
    };
    assert_eq!(read.plan.clients, Clients::Search(search));
    assert_eq!(read.plan.validate(), Ok(()));
}

#[test]
fn what_a_plan_of_version_1_may_also_have_is_read() {
    let (mut written, before) = of_version_1("v1-echo-open.json");
    written["plan"]["connect_concurrency"] = json!(17);
    written["plan"]["timeouts"] = json!({"connect_ns": 3_000_000, "sample_ns": 4_000_000});
    written["plan"]["verify_certificate"] = json!(false);
    written["plan"]["ca_file"] = json!("ca.pem");
    written["plan"]["dialect"] = json!("binary");
    written["plan"]["payload_padding"] = json!(321);
    let read: RunRecord = serde_json::from_value(written).unwrap();
    let mut plan = before.plan;
    (plan.connection.at_once, plan.connection.timeout) = (17, Nanos::millis(3));
    plan.limits.sample_timeout = Nanos::millis(4);
    plan.target.verify_certificate = false;
    plan.target.ca_file = Some("ca.pem".into());
    (plan.message.dialect, plan.message.padding) = (Dialect::Binary, 321);
    assert_eq!(read.plan, plan);
}
