//! Which rows a run has.

use super::*;
use plan::{
    Audience, Compression, Connect, Fault, FaultDeed, FaultPart, Load, Nanos, Rooms as InRooms,
};
use project::ProxyFolder;
use project::manifest::{Proxy, Scope, Service};
use std::path::Path;
use std::time::Duration;

/// The rows without a proxy.
fn plan(entries: &[ServerFolder], options: &RunOptions) -> Result<Rows, Refusal> {
    super::plan(entries, &Ways::default(), options)
}

fn entry(name: &str, variants: &[&str]) -> ServerFolder {
    let variants: String = variants
        .iter()
        .map(|variant| format!("[[variant]]\nname = \"{variant}\"\n"))
        .collect();
    let text = format!(
        "manifest = 1\nname = \"{name}\"\nlanguage = \"L\"\nlibrary = \"l\"\n\
         homepage = \"h\"\nclass = \"idiomatic\"\nsummary = \"s\"\njson = \"tree\"\n\
         [run]\ncommand = [\"x\"]\npath = \"/\"\n\
         [version]\ncommand = [\"x\"]\nmatches = '(.)'\n\
         [supports]\ndialects = [\"text\"]\nworkloads = [\"broadcast\"]\n{variants}"
    );
    ServerFolder {
        name: name.into(),
        dir: "/x".into(),
        manifest: Manifest::parse(&text, Path::new("server.toml"), name),
    }
}

fn names(rows: &Rows) -> Vec<String> {
    rows.rows.iter().map(Row::file_name).collect()
}

#[test]
fn the_order_of_each_round_is_drawn_and_a_number_draws_it_again() {
    let entries = [
        entry("a", &["x", "y", "z"]),
        entry("b", &["x", "y", "z"]),
        entry("c", &["x", "y", "z"]),
    ];
    let other = NamedPlan {
        name: "other".into(),
        ..NamedPlan::default()
    };
    let drawn = |order| {
        let options = RunOptions {
            repeat: 2,
            workloads: vec![NamedPlan::default(), other.clone()],
            order,
            ..RunOptions::default()
        };
        names(&plan(&entries, &options).unwrap())
    };
    let (listed, one) = (drawn(RowOrder::Listed), drawn(RowOrder::Drawn(1)));
    assert_eq!(one, drawn(RowOrder::Drawn(1)));
    assert_ne!(one, drawn(RowOrder::Drawn(2)));
    // Each round has all rows of one workload, then all of the other, in another order than the round
    // before.
    let is_next = |part: usize| (part * 9..part * 9 + 9).collect::<Vec<_>>();
    for part in 0..4 {
        let of = |all: &[String]| -> Vec<String> {
            is_next(part)
                .into_iter()
                .map(|at| all[at].clone())
                .collect()
        };
        let (mut was, mut now) = (of(&listed), of(&one));
        assert_ne!(was, now);
        was.sort();
        now.sort();
        assert_eq!(was, now);
    }
    let without_round = |at: usize| one[at].rsplit_once('.').unwrap().0;
    assert!((0..18).any(|at| without_round(at) != without_round(at + 18)));
}

fn unfit(rows: &Rows) -> Vec<String> {
    let unfit = rows.unfit.iter();
    unfit
        .map(|(row, reason)| format!("{}: {reason}", row.file_name()))
        .collect()
}

#[test]
fn repetitions_are_interleaved() {
    let options = RunOptions {
        repeat: 2,
        ..RunOptions::default()
    };
    let entries = [entry("go-example", &["a", "b"]), entry("js-example", &[])];
    assert_eq!(
        names(&plan(&entries, &options).unwrap()),
        [
            "go-example.a.broadcast.text.1",
            "go-example.b.broadcast.text.1",
            "js-example.default.broadcast.text.1",
            "go-example.a.broadcast.text.2",
            "go-example.b.broadcast.text.2",
            "js-example.default.broadcast.text.2",
        ]
    );
}

#[test]
fn a_server_that_is_measured_twice_has_a_second_row_under_another_name() {
    let options = RunOptions {
        repeat: 2,
        twice: vec!["go-example".into()],
        ..RunOptions::default()
    };
    let entries = [entry("go-example", &["a"]), entry("js-example", &[])];
    let rows = plan(&entries, &options).unwrap();
    assert_eq!(
        names(&rows)[..3],
        [
            "go-example.a.broadcast.text.1",
            "js-example.default.broadcast.text.1",
            "go-example~again.a.broadcast.text.1",
        ]
    );
    assert_eq!(names(&rows).len(), 6);
    assert_eq!(rows.rows[2].identity().name, "go-example~again");
    assert_eq!(rows.rows[2].label(), "go-example~again (a) broadcast text");
    assert_eq!(rows.rows[2].entry.name, "go-example");
    assert_eq!(
        project::folder_of(&rows.rows[2].identity().name),
        "go-example"
    );
    assert_eq!(project::folder_of("js-example"), "js-example");
    let options = RunOptions {
        twice: vec!["go-exampel".into()],
        ..options
    };
    let refused = plan(&entries, &options).unwrap_err().to_string();
    assert!(
        refused.contains("did you mean") && refused.contains("go-example"),
        "{refused}"
    );
}

#[test]
fn what_is_left_out_is_named() {
    let options = RunOptions {
        dialects: vec![Dialect::Text, Dialect::Binary],
        variants: VariantChoice::First,
        ..RunOptions::default()
    };
    let planned = plan(&[entry("go-example", &["a", "b"])], &options).unwrap();
    assert_eq!(names(&planned), ["go-example.a.broadcast.text.1"]);
    assert_eq!(planned.other_variants, ["go-example (b)"]);
    assert_eq!(
        unfit(&planned),
        ["go-example.a.broadcast.binary.1: its manifest declares no binary dialect"]
    );
}

#[test]
fn who_speaks_no_text_is_measured_in_what_it_speaks() {
    let mut odd = entry("ruby-example", &["a"]);
    if let Ok(manifest) = &mut odd.manifest {
        manifest.variants[0].dialects = vec![Dialect::ActionCable];
    }
    let entries = [entry("go-example", &["a"]), odd];
    let plan = |dialects| {
        let options = RunOptions {
            dialects,
            ..RunOptions::default()
        };
        plan(&entries, &options).unwrap()
    };
    assert_eq!(
        names(&plan(Vec::new())),
        [
            "go-example.a.broadcast.text.1",
            "ruby-example.a.broadcast.actioncable.1"
        ]
    );
    let text = plan(vec![Dialect::Text]);
    assert_eq!(names(&text), ["go-example.a.broadcast.text.1"]);
    assert_eq!(
        unfit(&text),
        ["ruby-example.a.broadcast.text.1: its manifest declares no text dialect"]
    );
}

#[test]
fn a_workload_lists_dialects_of_which_each_variant_has_those_it_speaks() {
    let speaks = |name: &str, dialects: &[Dialect]| {
        let mut entry = entry(name, &["a"]);
        entry.manifest.as_mut().unwrap().variants[0].dialects = dialects.to_vec();
        entry
    };
    let entries = [
        speaks("both", &[Dialect::Text, Dialect::Binary]),
        speaks("neither", &[Dialect::ActionCable]),
        speaks("text", &[Dialect::Text]),
    ];
    let mut options = RunOptions::default();
    options.workloads[0].plan.dialects = vec![plan::Dialect::Binary, plan::Dialect::Text];
    let planned = plan(&entries, &options).unwrap();
    assert_eq!(
        names(&planned),
        [
            "both.a.broadcast.binary.1",
            "both.a.broadcast.text.1",
            "neither.a.broadcast.actioncable.1",
            "text.a.broadcast.text.1"
        ]
    );
    assert_eq!(unfit(&planned), [""; 0]);

    options.dialects = vec![Dialect::Text];
    let planned = plan(&entries, &options).unwrap();
    assert_eq!(names(&planned).len(), 2);
    options.dialects.clear();
    options.workloads[0].plan.message.dialect = plan::Dialect::Text;
    options.workloads[0].fixed.insert("message.dialect".into());
    assert_eq!(names(&plan(&entries, &options).unwrap()).len(), 2);
}

#[test]
fn a_workload_over_tls_has_the_variants_with_tls_and_no_other_has() {
    let mut secure = entry("go-example", &["a", "tls"]);
    if let Ok(manifest) = &mut secure.manifest {
        manifest.variants[1].tls = true;
    }
    let mut options = RunOptions::default();
    let entries = [secure, entry("js-example", &["b"])];
    let plain = plan(&entries, &options).unwrap();
    assert_eq!(
        names(&plain),
        [
            "go-example.a.broadcast.text.1",
            "js-example.b.broadcast.text.1"
        ]
    );
    let asks_for_none = "it has TLS, and this workload asks for none";
    assert_eq!(
        unfit(&plain),
        [format!("go-example.tls.broadcast.text.1: {asks_for_none}")]
    );
    options.workloads[0].plan.connection.tls = Some(plan::Tls::default());
    let over_tls = plan(&entries, &options).unwrap();
    assert_eq!(names(&over_tls), ["go-example.tls.broadcast.text.1"]);
    assert_eq!(
        unfit(&over_tls),
        [
            "go-example.a.broadcast.text.1: its manifest declares no TLS",
            "js-example.b.broadcast.text.1: its manifest declares no TLS"
        ]
    );
    options.variants = VariantChoice::First;
    let first = plan(&entries[..1], &options).unwrap();
    assert_eq!(names(&first), ["go-example.tls.broadcast.text.1"]);
    let is_for =
        |entry: &ServerFolder| options.workloads[0].is_for(entry.manifest.as_ref().unwrap());
    assert_eq!(entries.each_ref().map(is_for), [true, false]);
    let error = plan(&entries[1..], &options).unwrap_err().to_string();
    assert!(error.contains("declares no TLS"), "{error}");
}

#[test]
fn a_broken_manifest_is_a_row() {
    let broken = ServerFolder {
        manifest: Manifest::parse("manifest = 1", Path::new("server.toml"), "go-broken"),
        ..entry("go-broken", &[])
    };
    let planned = plan(&[broken], &RunOptions::default()).unwrap();
    assert!(planned.rows[0].subject.is_err());
    assert_eq!(planned.rows[0].identity().language, "unknown");
}

#[test]
fn unknown_variants_and_empty_plans_are_refused() {
    let entries = [entry("go-example", &["clustered"])];
    let named = |name: &str| RunOptions {
        variants: VariantChoice::Named(vec![name.into()]),
        ..RunOptions::default()
    };
    let error = plan(&entries, &named("cluster")).unwrap_err().to_string();
    assert!(error.contains("did you mean \"clustered\"?"), "{error}");
    let mut echo = RunOptions::default();
    echo.workloads[0].plan.audience = Audience::Sender;
    assert_eq!(
        plan(&entries, &echo).unwrap_err().to_string(),
        "nothing to measure: no selected variant fits (broadcast: its manifest declares no \
         echo); see `shootout list`"
    );
}

#[test]
fn each_workload_is_measured_over_all_rows_before_the_next() {
    let mut options = RunOptions {
        repeat: 2,
        ..RunOptions::default()
    };
    options.workloads.insert(0, options.workloads[0].clone());
    options.workloads[0].name = "first".into();
    let entries = [entry("go-example", &[]), entry("js-example", &[])];
    let of = |workload: &str, repetition: u32| {
        ["go", "js"].map(|name| format!("{name}-example.default.{workload}.text.{repetition}"))
    };
    let expected = [
        of("first", 1),
        of("broadcast", 1),
        of("first", 2),
        of("broadcast", 2),
    ];
    assert_eq!(names(&plan(&entries, &options).unwrap()), expected.concat());
}

#[test]
fn variants_that_compress_are_measured_where_compression_is_offered_and_nowhere_else() {
    let mut server = entry("go-example", &["plain", "deflate"]);
    if let Ok(manifest) = &mut server.manifest {
        manifest.variants[1].compression = true;
    }
    let mut options = RunOptions::default();
    options.workloads.push(options.workloads[0].clone());
    options.workloads[1].name = "compressed".into();
    options.workloads[1].plan.connection.compression = Some(Compression::default());
    let planned = plan(&[server.clone()], &options).unwrap();
    let rows = [
        "go-example.plain.broadcast.text.1",
        "go-example.deflate.compressed.text.1",
    ];
    assert_eq!(names(&planned), rows);
    assert_eq!(
        unfit(&planned),
        [
            "go-example.deflate.broadcast.text.1: it compresses, and this workload offers no \
             compression",
            "go-example.plain.compressed.text.1: its manifest declares no compression",
        ]
    );
    options.variants = VariantChoice::First;
    let first = plan(&[server], &options).unwrap();
    assert_eq!(names(&first), rows);
    assert!(first.unfit.is_empty());
}

#[test]
fn rooms_are_for_variants_that_declare_them_and_for_dialects_with_topics() {
    let with_rooms = || {
        let mut server = entry("go-example", &["a"]);
        if let Ok(manifest) = &mut server.manifest {
            manifest.variants[0].dialects.push(Dialect::Binary);
            manifest.variants[0].workloads.push(Workload::Rooms);
        }
        server
    };
    let mut options = RunOptions {
        dialects: vec![Dialect::Text, Dialect::Binary],
        ..RunOptions::default()
    };
    options.workloads[0].name = "rooms".into();
    options.workloads[0].plan.audience = Audience::Room(InRooms::Members(10));
    let planned = plan(&[with_rooms(), entry("js-example", &[])], &options).unwrap();
    assert_eq!(names(&planned), ["go-example.a.rooms.text.1"]);
    assert_eq!(
        unfit(&planned),
        [
            "go-example.a.rooms.binary.1: the binary dialect has no topics",
            "js-example.default.rooms.text.1: its manifest declares no rooms",
            "js-example.default.rooms.binary.1: its manifest declares no binary dialect",
        ]
    );
}

#[test]
fn a_workload_gives_its_rows_name_and_dialect_and_decides_who_can() {
    let entries = [entry("go-example", &["a"])];
    let mut options = RunOptions::default();
    options.workloads[0].name = "a/b c".into();
    options.workloads[0].plan.load = Load::Connect(Connect::default());
    options.workloads[0].plan.audience = Audience::Sender;
    let planned = plan(&entries, &options).unwrap();
    assert_eq!(names(&planned), ["go-example.a.a-b-c.text.1"]);
    assert_eq!(planned.rows[0].label(), "go-example (a) a/b c text");

    options.workloads[0].plan.message.dialect = plan::Dialect::Binary;
    options.workloads[0].fixed.insert("message.dialect".into());
    let error = plan(&entries, &options).unwrap_err().to_string();
    assert!(
        error.contains("(a/b c: its manifest declares no binary dialect)"),
        "{error}"
    );
    options.dialects = vec![Dialect::Text];
    assert_eq!(plan(&entries, &options).unwrap().rows.len(), 1);
}

/// A workload in which parts of a server fail.
fn failing(what: &[FaultPart]) -> NamedPlan {
    let mut workload = NamedPlan {
        name: "failing".into(),
        ..NamedPlan::default()
    };
    workload.plan.faults = what
        .iter()
        .map(|what| Fault {
            at: Nanos::secs(1),
            jitter: Nanos(0),
            deed: FaultDeed::Kill,
            what: *what,
        })
        .collect();
    workload
}

#[test]
fn a_workload_of_failing_nodes_has_the_variants_with_nodes_and_no_other_has() {
    let mut of_nodes = entry("go-example", &["a", "nodes", "brokered"]);
    if let Ok(manifest) = &mut of_nodes.manifest {
        manifest.variants[1].nodes = Some(2);
        manifest.variants[2].nodes = Some(3);
        manifest.variants[2].services = vec![Service {
            name: "hub".into(),
            variants: Scope::default(),
            command: vec!["hub".into()],
            ready_timeout: Duration::from_secs(1),
            receipt: None,
            broker: true,
        }];
    }
    let entries = [of_nodes];
    let of = |workload: NamedPlan| {
        let options = RunOptions {
            workloads: vec![workload],
            ..RunOptions::default()
        };
        let planned = plan(&entries, &options).unwrap();
        let reasons = planned.unfit.iter();
        let reasons: Vec<String> = reasons
            .map(|(row, reason)| format!("{}: {reason}", row.variant()))
            .collect();
        (names(&planned).join(" "), reasons)
    };
    let of_one = "it has several nodes, and this workload is for one";
    assert_eq!(
        of(NamedPlan::default()),
        (
            "go-example.a.broadcast.text.1".into(),
            vec![format!("nodes: {of_one}"), format!("brokered: {of_one}")]
        )
    );
    let none = "a: its manifest declares no nodes".to_owned();
    let both = "go-example.nodes.failing.text.1 go-example.brokered.failing.text.1";
    assert_eq!(
        of(failing(&[FaultPart::Node(2)])),
        (both.into(), vec![none.clone()])
    );
    for what in [FaultPart::Broker, FaultPart::Link(2)] {
        let no_broker = format!(
            "nodes: its manifest declares no broker, and a fault of this workload is of {what}"
        );
        assert_eq!(
            of(failing(&[FaultPart::Node(1), what])),
            (
                "go-example.brokered.failing.text.1".into(),
                vec![none.clone(), no_broker]
            )
        );
    }
    let third = "nodes: it has 2 nodes, and a fault of this workload is of node:3".to_owned();
    assert_eq!(of(failing(&[FaultPart::Node(3)])).1, [none, third]);
}

#[test]
fn each_variant_is_a_row_for_each_way_that_fits_it() {
    let text = include_str!("../../../../proxies/haproxy/proxy.toml");
    let proxy = Proxy::parse(text, Path::new("proxy.toml"), "haproxy").unwrap();
    let ways = |tls_config: Option<&str>, options: &RunOptions| {
        let folder = ProxyFolder {
            dir: "/".into(),
            proxy: Proxy {
                tls_config: tls_config.map(str::to_owned),
                ..proxy.clone()
            },
        };
        Ways::new(options, |_| Ok(folder.clone())).unwrap()
    };
    let mut entries = [
        entry("go-example", &["a", "secure"]),
        entry("js-example", &[]),
    ];
    entries[0].manifest.as_mut().unwrap().variants[1].tls = true;
    let names = |planned: &Rows| -> Vec<String> {
        let rows = planned.rows.iter();
        rows.map(|row| format!("{}.{}", row.entry.name, row.named_variant()))
            .collect()
    };
    let mut options = RunOptions {
        via: vec!["none".into(), "haproxy".into()],
        ..RunOptions::default()
    };
    let planned = super::plan(&entries, &ways(None, &options), &options).unwrap();
    assert_eq!(
        names(&planned),
        [
            "go-example.a",
            "go-example.a-via-haproxy",
            "js-example.default",
            "js-example.via-haproxy"
        ]
    );
    assert_eq!(planned.rows[1].variant(), "a");
    assert_eq!(planned.rows[3].identity().variant, "via-haproxy");
    let file = "js-example.via-haproxy.broadcast.text.1";
    assert_eq!(planned.rows[3].file_name(), file);
    assert!(
        planned
            .unfit
            .iter()
            .any(|(row, why)| row.variant() == "secure"
                && row.proxy.is_some()
                && why.contains("a proxy speaks to a server without"))
    );

    // The proxy ends the TLS of the clients, before variants that have none.
    options.workloads[0].plan.connection.tls = Some(plan::Tls::default());
    let with_tls = ways(Some("tls.cfg"), &options);
    let planned = super::plan(&entries, &with_tls, &options).unwrap();
    assert_eq!(
        names(&planned),
        [
            "go-example.a-via-haproxy",
            "go-example.secure",
            "js-example.via-haproxy"
        ]
    );
    let refused = super::plan(&entries[1..], &ways(None, &options), &options).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("haproxy is set up without TLS"),
        "{refused}"
    );
}
