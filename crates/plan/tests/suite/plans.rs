//! A plan is the same value in a record, on the wire between workers.

use plan::{
    Arrivals, Audience, Clients, Connect, Dialect, Io, Load, Measure, Nanos, OpenLoop, Plan, Ramp,
    Search, SearchOf, Timestamps, Tls, TlsVersion, Workload,
};
use serde_json::json;

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
    [
        (Load::closed(1, 2), Clients::steps(1, 0, Some(3))),
        (Load::Open(open), Clients::Search(search)),
        (Load::Connect(connect), Clients::default()),
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
