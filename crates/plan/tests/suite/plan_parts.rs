//! What a plan says of itself, and parts of it that cannot stand beside others.

use plan::{
    Clients, Compression, Connect, Dialect, Load, Plan, Search, SearchOf, Size, Sizes, Uniform,
};
use serde_json::{Value, json};
use std::path::Path;

fn read(parts: &Value) -> Plan {
    let mut plan = json!({"target": {"url": "wss://localhost/"}});
    for (key, part) in parts.as_object().unwrap() {
        plan[key] = part.clone();
    }
    serde_json::from_value(plan).unwrap()
}

/// A dialect whose clients carry out a script of one request, each `at` its time.
fn script() -> Value {
    json!({
        "name": "typist",
        "summary": "A user types.",
        "send": {
            "kinds": [{"name": "typing", "message": "t", "answered": false}],
            "script": [{"at": "1s", "kind": "typing"}],
        },
        "receive": [{"means": "ignored", "pattern": "{any}"}],
    })
}

/// A plan that carries that script out, by recorded times.
fn scripted() -> Value {
    json!({
        "audience": "sender",
        "message": {"dialect": "file", "definition": script()},
        "load": {"open": {"rate": 10.0, "arrivals": "recorded"}},
    })
}

#[test]
fn a_load_says_how_much_of_it_there_is() {
    let mut plan = Plan::new("ws://h/");
    (plan.load, plan.clients) = (Load::closed(7, 90), Clients::steps(30, 5, Some(3)));
    assert_eq!((plan.in_flight(), plan.samples()), (7, 90));
    assert_eq!((plan.clients.first(), plan.steps()), (30, Some(3)));
    assert_eq!((plan.connect(), plan.search()), (None, None));
    assert_eq!(plan.load.name(), "closed");
    let search = Search {
        first: 44,
        ..Search::default()
    };
    plan.clients = Clients::Search(search);
    assert_eq!((plan.clients.first(), plan.steps()), (44, None));
    assert_eq!(plan.search(), Some(search));
    let connect = Connect {
        rate: Some(3.0),
        ..Connect::default()
    };
    plan.load = Load::Connect(connect);
    assert_eq!((plan.in_flight(), plan.samples()), (0, 0));
    assert_eq!(plan.connect(), Some(connect));
    assert_eq!(plan.load.name(), "connect");
    plan.load = read(&json!({"load": {"open": {"rate": 10.0}}})).load;
    assert_eq!((plan.in_flight(), plan.samples()), (0, 0));
    assert_eq!(plan.load.name(), "open");
}

#[test]
fn a_url_is_secure_by_its_scheme_in_any_case() {
    for (url, secure) in [
        ("wss://h/", true),
        ("WSS://h/", true),
        ("ws://h/", false),
        ("ws", false),
    ] {
        assert_eq!(Plan::new(url).target.is_secure(), secure, "{url}");
    }
}

#[test]
fn every_dialect_is_read_by_the_name_that_it_is_written_with() {
    for (name, dialect) in [
        ("text", Dialect::Text),
        ("binary", Dialect::Binary),
        ("phoenix", Dialect::Phoenix),
        ("actioncable", Dialect::ActionCable),
        ("socketio", Dialect::SocketIo),
        ("mqtt", Dialect::Mqtt),
        ("mqtt5", Dialect::Mqtt5),
    ] {
        let plan = read(&json!({"message": {"dialect": name}}));
        assert_eq!((plan.message.dialect, dialect.name()), (dialect, name));
        assert_eq!(plan.message.definition, None, "{name}");
    }
    let plan = read(&json!({"message": {"dialect": "file", "definition": script()}}));
    assert_eq!(plan.message.dialect, Dialect::File);
    let stomp = read(&json!({"message": {"dialect": "stomp"}})).message;
    assert_eq!(stomp.dialect.name(), "file");
    assert_eq!(stomp.definition.unwrap().name, "stomp");
    let unknown = json!({"target": {"url": "ws://h/"}, "message": {"dialect": "smoke"}});
    let words = serde_json::from_value::<Plan>(unknown)
        .unwrap_err()
        .to_string();
    for name in ["text", "mqtt5", "stomp", "file"] {
        assert!(words.contains(&format!("`{name}`")), "{words}");
    }
    assert_eq!(words.matches("`text`").count(), 1, "{words}");
}

#[test]
fn paddings_are_told_with_their_sizes() {
    let mut message = Plan::new("ws://h/").message;
    message.padding = 200;
    assert_eq!(message.paddings(), [(200, 1)]);
    assert_eq!(message.longest_padding(), 200);
    assert_eq!(message.padding_in_words(), "200");
    let weighted = [(30, 5), (900, 1), (100, 2)];
    message.sizes = Some(Sizes::Weighted(
        weighted
            .map(|(bytes, weight)| Size { bytes, weight })
            .into(),
    ));
    assert_eq!(message.paddings(), weighted);
    assert_eq!(message.longest_padding(), 900);
    assert_eq!(message.padding_in_words(), "30 to 900 in 3 sizes");
    message.sizes = Some(Sizes::Uniform(Uniform { from: 10, to: 12 }));
    assert_eq!(message.paddings(), [(10, 1), (11, 1), (12, 1)]);
    message.lines = Some("folder/words.txt".into());
    assert_eq!(message.padding_in_words(), "lines of words.txt");
}

#[test]
fn a_script_is_that_of_clients_who_ask_for_themselves() {
    let mut plan = read(&scripted());
    assert_eq!(plan.validate(), Ok(()));
    assert_eq!(plan.script().map(|file| &*file.name), Some("typist"));
    assert!(plan.unchecked().unwrap().contains("of a script"));
    plan.audience = plan::Audience::Everyone;
    assert_eq!((plan.script(), plan.unchecked()), (None, None));
    let mut plan = read(&json!({"audience": "sender", "message": {"dialect": "stomp"}}));
    assert_eq!((plan.script(), plan.unchecked()), (None, None));
    plan.message.definition = None;
    assert_eq!(plan.script(), None);
}

#[test]
fn files_and_references_of_a_plan_begin_in_a_folder() {
    let mut plan = Plan::new("wss://h/");
    let tls = plan.connection.tls.insert(Default::default());
    (tls.client_cert, tls.client_key) = (Some("a".into()), Some("b".into()));
    plan.target.ca_file = Some("c".into());
    plan.target.unix_socket = Some("d".into());
    plan.connection.data = Some("e".into());
    plan.message.lines = Some("f".into());
    let mut files: Vec<String> = plan
        .files_mut()
        .map(|path| path.display().to_string())
        .collect();
    files.sort();
    assert_eq!(files, ["a", "b", "c", "d", "e", "f"]);
    plan.connection.headers = vec!["X: file:secret".into(), "Y: file:plain".into()];
    plan.connection.cookies = vec!["k=env:NAME".into(), "l=file:secret".into()];
    plan.start_references_from(Path::new("/of"));
    assert_eq!(plan.connection.cookies[0], "k=env:NAME");
    assert_eq!(plan.connection.headers[0], "X: file:/of/secret");
    assert_eq!(plan.connection.cookies[1], "l=file:/of/secret");
}

#[track_caller]
fn assert_refused(plan: &Plan, field: &str, words: &str) {
    let error = plan.validate().expect_err(words);
    assert_eq!(error.field(), field, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn tls_that_cannot_be_spoken_is_refused() {
    let with = |tls: Value| read(&json!({"connection": {"tls": tls}}));
    let equal = with(json!({"min": "1.3", "max": "1.3"}));
    assert_eq!(equal.validate(), Ok(()));
    assert_eq!(with(json!({"min": 1.2, "max": 1.3})).validate(), Ok(()));
    let both = json!({"client_cert": "c", "client_key": "k"});
    assert_eq!(with(both).validate(), Ok(()));
    for (tls, field, words) in [
        (
            json!({"min": "1.3", "max": "1.2"}),
            "connection.tls.min",
            "above",
        ),
        (
            json!({"client_cert": "c"}),
            "connection.tls.client_cert",
            "have its key",
        ),
        (
            json!({"client_key": "k"}),
            "connection.tls.client_key",
            "belongs to a certificate",
        ),
        (
            json!({"server_name": ""}),
            "connection.tls.server_name",
            "1 to 253",
        ),
    ] {
        assert_refused(&with(tls), field, words);
    }
    let mut plain = with(json!({}));
    plain.target.url = "ws://localhost/".into();
    assert_refused(&plain, "connection.tls", "for wss:// alone");
    let no_version = json!({"target": {"url": "wss://h/"}, "connection": {"tls": {"min": true}}});
    let words = serde_json::from_value::<Plan>(no_version).unwrap_err();
    assert!(words.to_string().contains("a version of TLS"), "{words}");
}

#[test]
fn messages_have_one_size_or_several_or_lines() {
    let sizes = json!({"uniform": {"from": 1, "to": 2}});
    let with = |message: Value| read(&json!({"message": message}));
    for message in [
        json!({"sizes": sizes}),
        json!({"lines": "words.txt"}),
        json!({"padding": 1}),
    ] {
        assert_eq!(with(message).validate(), Ok(()));
    }
    let both = with(json!({"sizes": sizes, "padding": 1}));
    assert_refused(&both, "message.padding", "leave one out");
    for other in [json!({"padding": 1}), json!({"sizes": sizes})] {
        let mut message = other;
        message["lines"] = json!("words.txt");
        assert_refused(&with(message), "message.lines", "in the place of");
    }
    let backwards = json!({"sizes": {"uniform": {"from": 3, "to": 2}}});
    assert_refused(&with(backwards), "message.sizes.uniform.to", "3 to ");
    let none = json!({"sizes": {"weighted": []}});
    assert_refused(&with(none), "message.sizes.weighted", "1 to 64");
}

#[test]
fn windows_and_levels_of_compression_are_those_of_zlib() {
    let with = |change: fn(&mut Compression)| {
        let mut plan = Plan::new("ws://h/");
        change(plan.connection.compression.insert(Compression::default()));
        plan
    };
    let edges = with(|of| {
        (of.server_max_window_bits, of.client_max_window_bits) = (Some(8), Some(15));
        of.level = 9;
    });
    assert_eq!(edges.validate(), Ok(()));
    let field = "connection.compression.server_max_window_bits";
    assert_refused(&with(|of| of.server_max_window_bits = Some(7)), field, "8");
    let field = "connection.compression.client_max_window_bits";
    assert_refused(&with(|of| of.client_max_window_bits = Some(16)), field, "8");
    let field = "connection.compression.level";
    assert_refused(&with(|of| of.level = 0), field, "1 to 9");
}

#[test]
fn a_script_stands_beside_no_other_load() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut plan = scripted();
        change(&mut plan);
        read(&plan)
    };
    assert_eq!(with(&|_| ()).validate(), Ok(()));
    let by_rate = with(&|plan| plan["load"] = json!({"open": {"rate": 10.0}}));
    assert_eq!(by_rate.validate(), Ok(()));
    let few = json!({"search": {"of": "clients"}});
    assert_eq!(
        with(&|plan| plan["clients"] = few.clone()).validate(),
        Ok(())
    );
    let open = |more: Value| {
        let mut load = json!({"rate": 10.0, "arrivals": "recorded"});
        for (key, value) in more.as_object().unwrap() {
            load[key] = value.clone();
        }
        json!({"open": load})
    };
    let slow = json!([{}, {"reads": {"bytes_per_second": 1024}}]);
    let leaves = json!([{}, {"life": {"comes_and_goes": {"stays": "1s", "away": "1s"}}}]);
    let ramp = open(json!({"ramp": {"to": 20.0, "over": "1s"}}));
    let warm = open(json!({"warm_up": "1s"}));
    let rate = json!({"search": {"of": "rate"}});
    for (key, value, field, words) in [
        ("message", json!({}), "load.open.arrivals", "no recording"),
        (
            "load",
            json!({"closed": {}}),
            "message.definition",
            "by the clock",
        ),
        ("populations", leaves, "populations", "leave or read slowly"),
        ("load", ramp, "load.open.arrivals", "no ramp and no warm-up"),
        ("load", warm, "load.open.arrivals", "no ramp and no warm-up"),
        ("clients", rate, "clients.search.of", "its own times"),
    ] {
        let plan = with(&|plan| plan[key] = value.clone());
        assert_refused(&plan, field, words);
    }
    let everyone = with(&|plan| plan["audience"] = json!("everyone"));
    assert_refused(&everyone, "audience", "the sender alone");
    // Among senders alone there is nothing that is read slowly.
    let slow = with(&|plan| plan["populations"] = slow.clone());
    assert_refused(&slow, "populations.reads", "only messages to others");
    let mut by_rate = by_rate;
    by_rate.clients = Clients::Search(Search {
        of: SearchOf::Rate,
        ..Search::default()
    });
    assert_eq!(by_rate.validate(), Ok(()));
}
