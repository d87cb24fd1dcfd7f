//! No text of a record that a peer, a URL or a plan fills is written with a secret. A text that is no
//! `Told` must be put into one of the lists here.

use crate::support::{record, step};
use ::record::{
    Churn, Connections, Drops, End, Event, Json, Outcome, Pings, RunRecord, SiteUse, SlowReaders,
    StepRecord, Told, WarmUp, run_schema,
};
use plan::{Dialect, DialectFile, Plan, Tls};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SECRET: &str = "Kx82nvQ0";

/// Texts of a plan that can hold a secret, by type and member. `plan` plants one in each.
const OF_PLANS: [&str; 32] = [
    "Connection.cookies",
    "Connection.headers",
    "Connection.origin",
    "Connection.query",
    "Connection.subprotocols",
    "Heartbeat.send",
    "HttpPublication.body",
    "HttpPublication.headers",
    "HttpPublication.url",
    "HttpStep.body",
    "HttpStep.headers",
    "HttpStep.url",
    "OpeningExchange.returning",
    "OpeningExchange.send",
    "Plan.name",
    "Plan.reason",
    "Plan.via",
    "RequestKind.message",
    "Requests.broadcast",
    "Requests.echo",
    "Requests.publish",
    "Requests.subscribe",
    "Requests.unsubscribe",
    "Rule.example",
    "Rule.reason",
    "Rule.returning",
    "Rule.send",
    "Rule.text",
    "Rule.words",
    "Signature.key",
    "Target.proxy",
    "Target.url",
];
/// Texts that this program or this machine fills, names and places in messages, and paths. The command
/// is in the hands of the program that was given it. A plan with a password for MQTT that is no variable is
/// refused.
const OWN: [&str; 62] = [
    "Connection.data",
    "DialectFile.name",
    "DialectFile.separator",
    "DialectFile.subprotocol",
    "DialectFile.summary",
    "DialectFile.topic_prefix",
    "Environment.clock_source",
    "Environment.cpu_model",
    "Environment.distribution",
    "Environment.kernel",
    "Heartbeat.every",
    "HttpCapture.cookie",
    "HttpCapture.header",
    "HttpCapture.json",
    "HttpCapture.pattern",
    "HttpPublication.method",
    "HttpStep.method",
    "KindTimes.kind",
    "Latency.histogram",
    "Message.dialect",
    "Message.lines",
    "MqttTerms.client_id",
    "MqttTerms.password",
    "MqttTerms.username",
    "PayloadLines.file",
    "PayloadLines.sha1",
    "RequestKind.name",
    "Rule.at",
    "Rule.capture",
    "Rule.capture_in_string",
    "Rule.key",
    "Rule.kind",
    "Rule.line",
    "Rule.number",
    "Rule.part",
    "Rule.parts",
    "Rule.pattern",
    "Rule.payload",
    "Rule.prefix",
    "Rule.sent_at",
    "Rule.sequence",
    "Rule.stamp",
    "Rule.topic",
    "Rule.topic_in_string",
    "RunRecord.command",
    "RunRecord.ended",
    "RunRecord.server",
    "RunRecord.started",
    "Signature.of",
    "Target.ca_file",
    "Target.local_addrs",
    "Target.nodes",
    "Target.resolve",
    "Target.unix_socket",
    "Tls.client_cert",
    "Tls.client_key",
    "Tls.server_name",
    "TlsAgreed.cipher_suite",
    "TlsAgreed.version",
    "Tool.name",
    "Tool.version",
    "Turn.kind",
];

fn is_text(of: &Value) -> bool {
    let kinds = of.get("type");
    let is_string = kinds == Some(&json!("string")) || kinds == Some(&json!(["string", "null"]));
    let is_closed = ["enum", "const", "pattern"]
        .iter()
        .any(|key| of.get(key).is_some());
    is_string && !is_closed
}

fn collect(name: &str, schema: &Value, into: &mut BTreeSet<String>) {
    let members = schema.get("properties").and_then(Value::as_object);
    for (member, of) in members.into_iter().flatten() {
        let within = ["items", "additionalProperties"].map(|key| of.get(key));
        let all = within.into_iter().flatten().chain([of]);
        if all.into_iter().any(is_text) {
            into.insert(format!("{name}.{member}"));
        }
    }
}

#[test]
fn every_text_of_a_record_is_told_or_of_a_plan_or_known_as_own() {
    let schema = serde_json::to_value(run_schema()).unwrap();
    let mut found = BTreeSet::new();
    collect("RunRecord", &schema, &mut found);
    for (name, of) in schema["$defs"].as_object().unwrap() {
        if name == "Told" {
            continue;
        }
        collect(name, of, &mut found);
        let variants = of.get("oneOf").and_then(Value::as_array);
        for variant in variants.into_iter().flatten() {
            collect(name, variant, &mut found);
        }
    }
    let known: BTreeSet<String> = OF_PLANS
        .iter()
        .chain(&OWN)
        .map(|name| (*name).to_owned())
        .collect();
    assert_eq!(found, known);
}

/// Words with the secret in a URL's user, in its query and in JSON.
fn words() -> String {
    format!(
        "302 ws://u:{SECRET}@h/?token={SECRET}'{SECRET}&x=1, `{{\"token\": \"{SECRET}\\\"{SECRET}\"}}`"
    )
}

fn plan() -> Plan {
    let message = format!("{{\"type\":\"init\",\"apiKey\":\"{SECRET}\",\"text\":\"{{payload}}\"}}");
    let url = format!("http://u:{SECRET}@h/?token={SECRET}");
    let headers = json!({ "Authorization": format!("Bearer {SECRET}"), "Cookie": SECRET });
    let file = json!({
        "name": "own",
        "summary": "one",
        "heartbeat": { "every": "30s", "send": message },
        "open": {
            "http": [{ "url": url, "headers": headers, "body": message }],
            "send": message,
            "signatures": { "signature": { "key": SECRET, "of": "{id}" } },
            "receive": [{ "pattern": "{x}", "means": "send", "send": message }],
        },
        "send": {
            "http": {
                "url": url, "headers": headers, "body": message,
                "signatures": { "signature": { "key": SECRET, "of": "{body_md5}" } },
            },
            "echo": message,
            "broadcast": message,
            "publish": message,
            "subscribe": message,
            "unsubscribe": message,
            "kinds": [{ "name": "a", "message": message }],
        },
        "receive": [{
            "text": message, "means": "refused", "words": message, "reason": message,
            "example": message,
        }],
    });
    Plan::new(format!("ws:u:a'{SECRET}@h/?token=a'{SECRET}")).with(|plan| {
        plan.name = Some(words());
        plan.reason = Some(words());
        plan.target.proxy = Some(format!("http:u:{SECRET}@h:1"));
        let of = &mut plan.connection;
        of.origin = Some(format!("http://u:{SECRET}@h/?key={SECRET}"));
        of.headers = vec![
            format!("Authorization: Bearer {SECRET}"),
            format!("Authorization: {SECRET} {SECRET}"),
            format!("X-Session-Code: {SECRET}"),
            format!("Cookie: a={SECRET}"),
        ];
        of.cookies = vec![format!("a={SECRET}")];
        of.query = vec![format!("a={SECRET}")];
        of.subprotocols = vec![
            "access_token".to_owned(),
            SECRET.to_owned(),
            format!("base64url.bearer.authorization.k8s.io.{SECRET}"),
            "graphql-transport-ws".to_owned(),
        ];
        plan.message.dialect = Dialect::File;
        let file: DialectFile = serde_json::from_value(file).unwrap();
        plan.message.definition = Some(Box::new(file));
    })
}

fn told() -> StepRecord {
    let connections = Connections {
        unasked_messages: 1,
        planned: 1,
        opened: 0,
        first_failure: Some(words().into()),
        opened_per_second: 0.0,
        tcp: None,
        held_ns: 0,
        pings: Pings::default(),
        drops: Drops::default(),
        server: None,
        server_unknown: Some(words().into()),
        generator: None,
        kernel: None,
    };
    StepRecord {
        verdict_reasons: vec![words().into(), words().into()],
        connections: Some(Box::new(connections)),
        churn: Some(Box::new(Churn {
            first_failure: Some(words().into()),
            ..Churn::default()
        })),
        slow_readers: Some(SlowReaders {
            first_cut_off: Some(words().into()),
            ..SlowReaders::default()
        }),
        sites: vec![SiteUse {
            name: words().into(),
            ..SiteUse::default()
        }],
        ..step(10)
    }
}

#[test]
fn a_secret_in_any_text_that_is_told_is_in_no_record_and_no_event() {
    let warm_up = Box::new(WarmUp {
        cold: told(),
        ..WarmUp::default()
    });
    let outcome = Outcome {
        end: End::ServerLost,
        detail: words().into(),
        carried_clients: None,
        edge: None,
        unmeasured: Vec::new(),
    };
    let mut record = record(vec![told()]);
    record.plan = plan();
    record.unchecked = Some(words().into());
    record.warm_up = Some(warm_up.clone());
    record.outcome = outcome.clone();
    let written = serde_json::to_string_pretty(&record).unwrap();
    assert!(!written.contains(SECRET), "{written}");
    let again = RunRecord::from_json(&written).unwrap();
    let twice = serde_json::to_string_pretty(&again).unwrap();
    assert_eq!(twice, written, "a second time changes nothing");
    for event in [
        Event::WarmedUp { warm_up },
        Event::Step {
            step: 0,
            record: Box::new(told()),
        },
        Event::End { outcome },
    ] {
        let written = event.to_json().unwrap();
        assert!(!written.contains(SECRET), "{written}");
    }
}

#[test]
fn what_is_no_secret_stays_and_a_plan_without_its_secrets_is_refused() {
    let shown = plan().redacted();
    let names = &shown.connection.subprotocols;
    assert_eq!(names[0], "access_token");
    assert_eq!(names[3], "graphql-transport-ws");
    let file = shown.message.definition.clone().unwrap();
    assert_eq!(
        file.send.echo.as_deref(),
        Some("{\"type\":\"init\",\"apiKey\":\"REDACTED\",\"text\":\"{payload}\"}")
    );
    let of = Plan::new("ws://h/").with(|plan| plan.message = shown.message.clone());
    assert_eq!(of.validate().unwrap_err().field(), "message.definition");
    let of = Plan::new("ws://h/").with(|plan| plan.connection.subprotocols = names.clone());
    assert_eq!(
        of.validate().unwrap_err().field(),
        "connection.subprotocols"
    );
    for file in plan::built_in_dialects() {
        let plan = Plan::new("ws://h/").with(|plan| {
            plan.message.dialect = Dialect::File;
            plan.message.definition = Some(Box::new(file.clone()));
        });
        assert_eq!(plan.redacted(), plan, "{}", file.name);
    }
}

#[test]
fn a_told_text_has_no_secret_however_it_is_made() {
    let made = [
        Told::from(words()),
        Told::from(words().as_str()),
        serde_json::from_value(json!(words())).unwrap(),
        postcard::from_bytes(&postcard::to_stdvec(&words()).unwrap()).unwrap(),
    ];
    for told in made {
        for shown in [told.to_string(), format!("{told:?}"), String::from(told)] {
            assert!(!shown.contains(SECRET), "{shown}");
            assert!(shown.contains("REDACTED"), "{shown}");
        }
    }
}

/// Also one that nothing knows of as a place for secrets.
#[test]
fn every_text_of_a_plan_is_looked_at() {
    let plan = plan().redacted().with(|plan| {
        plan.target.ca_file = Some("ca.pem".into());
        plan.connection.data = Some("rows.csv".into());
        plan.connection.tls = Some(Tls {
            client_cert: Some("client.pem".into()),
            server_name: Some("other".into()),
            ..Tls::default()
        });
    });
    let mut written = serde_json::to_value(plan).unwrap();
    let mut texts = Vec::new();
    collect_texts(&written, String::new(), &mut texts);
    let mut planted = 0;
    for place in texts {
        let mut other = written.clone();
        *other.pointer_mut(&place).unwrap() = json!(format!("ws://h/?token={SECRET}"));
        // Words of an enumeration and times take no other text.
        if serde_json::from_value::<Plan>(other.clone()).is_ok() {
            (written, planted) = (other, planted + 1);
        }
    }
    assert!(planted > 20, "{planted}");
    let shown = serde_json::from_value::<Plan>(written).unwrap().redacted();
    let shown = serde_json::to_string(&shown).unwrap();
    assert!(!shown.contains(SECRET), "{shown}");
}

fn collect_texts(of: &Value, place: String, into: &mut Vec<String>) {
    match of {
        Value::String(_) => into.push(place),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect_texts(item, format!("{place}/{at}"), into);
            }
        }
        Value::Object(members) => {
            for (key, item) in members {
                collect_texts(item, format!("{place}/{key}"), into);
            }
        }
        _ => {}
    }
}
