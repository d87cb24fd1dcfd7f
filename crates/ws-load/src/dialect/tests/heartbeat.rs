//! What clients send by the clock: what a file may say of it, and what the built-in dialects do.

use super::super::{Beat, Every, Heartbeat, check_dialect, read_dialect};
use super::*;
use crate::dialect::NoBeat;
use plan::built_in_dialects;

const TICKER: &str = r#"
name = "ticker"
summary = "A server that closes clients which are silent."

[open]
send = '{"hello":1}'

[[open.receive]]
means = "ready"
when = { "/hello" = { is = ["object"] } }
capture = { interval = "/hello/interval" }

[heartbeat]
every = "30s"
jitter = 0.1
send = '{"beat":"{token}"}'
within = "5s"

[send]
echo = '{"echo":{payload}}'

[[receive]]
means = "echo"
when = { "/echo" = { is = ["object"] } }
payload = "/echo"
example = '{"echo":{payload}}'

[[receive]]
means = "heartbeat"
when = { "/beaten" = true }
"#;

fn refusal(from: &str, to: &str) -> String {
    assert!(TICKER.contains(from), "{from}");
    let file = read_dialect(&TICKER.replacen(from, to, 1)).unwrap();
    check_dialect(&file).unwrap_err().to_string()
}

fn beat(text: &str) -> std::sync::Arc<dyn Codec> {
    let file = read_dialect(text).unwrap();
    check_dialect(&file).unwrap();
    codec_of_all(&crate::test_plan("ws://h/").with(|plan| {
        plan.message.dialect = Dialect::File;
        plan.message.definition = Some(Box::new(file));
    }))
}

#[test]
fn a_file_says_what_is_sent_how_often_and_what_answers_it() {
    let codec = beat(TICKER);
    let due = Heartbeat {
        every: Every::Fixed(30_000_000_000),
        jitter: 0.1,
        message: Beat::Text(r#"{"beat":"{token}"}"#.to_owned()),
        is_answered: true,
        within_ns: Some(5_000_000_000),
    };
    assert_eq!(codec.heartbeat(), Some(due.clone()));
    assert_eq!(codec.parse(br#"{"beaten":true}"#), Ok(Incoming::Heartbeat));

    let told = beat(&TICKER.replace("\"30s\"", "\"{interval}ms\""));
    let every = told.heartbeat().unwrap().every;
    let of = |text: &str| every.of_client(|_| Some(text.to_owned()));
    assert_eq!(of("41250"), Ok(41_250_000_000));
    assert_eq!(of("10"), Ok(10_000_000));
    assert_eq!(of("12.5"), Ok(12_500_000));
    for text in ["9", "0", "-1", "86400001", "soon", "NaN", "inf", ""] {
        let words = of(text).unwrap_err().to_string();
        assert!(words.starts_with("it said "), "{words}");
        assert!(words.ends_with("from 10ms to 1day"), "{words}");
    }
    assert_eq!(
        every.of_client(|_| None),
        Err(NoBeat::NotTold("interval".to_owned()))
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_the_key_and_a_remedy() {
    for (from, to, words) in [
        (
            "\"30s\"",
            "\"0s\"",
            "`heartbeat.every` is 0s; write a time from 10ms to 1day",
        ),
        (
            "\"30s\"",
            "\"25h\"",
            "`heartbeat.every` is 1day 1h; write a time from 10ms to 1day",
        ),
        (
            "\"30s\"",
            "\"{interval}\"",
            "`heartbeat.every` is `{interval}`: a value of the server needs its unit, `ms` or `s`; write \
             a time like `30s`, or `{name}ms` or `{name}s` for what [open] captures",
        ),
        (
            "\"30s\"",
            "\"{pause}ms\"",
            "`heartbeat.every` is `{pause}ms`, and no rule of [open] captures `pause`; write a time like \
             `30s`, or `{name}ms` or `{name}s` for what [open] captures",
        ),
        (
            "jitter = 0.1",
            "jitter = 1.5",
            "`heartbeat.jitter` is 1.5; write a share of `every`, from 0 to 1",
        ),
        (
            "{token}",
            "{stamp}",
            "`heartbeat.send` has the placeholder {stamp}; no placeholder is known here; write `{{` for a \
             brace",
        ),
        (
            "\"5s\"",
            "\"31s\"",
            "`heartbeat.within` is 31s; write a time of at most 30s, `every`, or leave it out",
        ),
        (
            "\"heartbeat\"\nwhen",
            "\"ignored\"\nwhen",
            "`heartbeat.within` is given, and no rule says what the answer to a heartbeat is; write \
             [[receive]] with `means = \"heartbeat\"`, or leave it out",
        ),
        (
            "[heartbeat]\nevery = \"30s\"\njitter = 0.1\nsend = '{\"beat\":\"{token}\"}'\nwithin = \"5s\"\n",
            "",
            "`receive[2].means` is `heartbeat`, and the file has none to be answered; write [heartbeat], or \
             let the rule mean `ignored`",
        ),
    ] {
        assert_eq!(refusal(from, to), words);
    }
    let often = refusal("\"30s\"", "\"often\"");
    assert!(
        often.starts_with("`heartbeat.every` is `often`: "),
        "{often}"
    );
    let early = refusal("means = \"ready\"", "means = \"heartbeat\"");
    assert!(
        early.starts_with("`open.receive[1].means` is `heartbeat`"),
        "{early}"
    );
}

#[test]
fn a_dialect_beats_where_its_servers_close_clients_that_are_silent() {
    let beating: Vec<&str> = built_in_dialects()
        .filter(|file| file.heartbeat.is_some())
        .map(|file| file.name.as_str())
        .collect();
    assert_eq!(
        beating,
        ["graphql-ws", "phoenix", "phoenix-2", "pusher", "stomp"]
    );
    for url in PHOENIX {
        let codec = of(Dialect::Phoenix, url, 0);
        let terms = codec.heartbeat().unwrap();
        assert_eq!(terms.every, Every::Fixed(30_000_000_000));
        let Beat::Text(text) = &terms.message else {
            panic!("{terms:?}");
        };
        let sent: Value = serde_json::from_str(text).unwrap();
        let reply = json!({"status": "ok", "response": {}});
        let reply = match &sent {
            Value::Array(parts) => json!([parts[0], parts[1], parts[2], "phx_reply", reply]),
            of => {
                json!({"topic": of["topic"], "event": "phx_reply", "payload": reply, "ref": of["ref"]})
            }
        };
        assert_eq!(parse(&*codec, &reply), Ok(Incoming::Heartbeat), "{url}");
    }
}

#[test]
fn mqtt_asks_within_the_keep_alive_and_a_broker_of_mqtt_5_may_give_another() {
    let codec = |dialect| of(dialect, "ws://h/", 0);
    for dialect in [Dialect::Mqtt, Dialect::Mqtt5] {
        let terms = codec(dialect).heartbeat().unwrap();
        assert_eq!(terms.message, Beat::AsIs(vec![0xC0, 0]));
        assert_eq!(terms.every.of_client(|_| None), Ok(60_000_000_000));
        assert_eq!(codec(dialect).parse(&[0xD0, 0]), Ok(Incoming::Heartbeat));
    }
    // Session expiry, a name that was given, a reason, a user property, then Server Keep Alive.
    let properties: &[&[u8]] = &[
        &[0x11, 0, 0, 0, 9],
        &[0x12, 0, 2, b'a', b'b'],
        &[0x1F, 0, 0],
        &[0x26, 0, 1, b'k', 0, 1, b'v'],
        &[0x24, 1],
        &[0x22, 0, 5],
    ];
    let ack = |last: &[u8]| {
        let properties = [properties.concat(), last.to_vec()].concat();
        let body = [&[0, 0, properties.len() as u8][..], &properties].concat();
        [&[0x20, body.len() as u8][..], &body].concat()
    };
    let five = codec(Dialect::Mqtt5);
    let told = five.captured(&ack(&[0x13, 1, 44]));
    assert_eq!(told.len(), 1);
    let every = five.heartbeat().unwrap().every;
    let of = |name: &str| {
        let value = String::from_utf8(told[0].1.clone()).ok();
        value.filter(|_| name == told[0].0)
    };
    assert_eq!(every.of_client(of), Ok(300_000_000_000));
    for none in [&[0x13, 0, 0][..], &[], &[0x13, 1], &[0x99, 0x13, 0, 9]] {
        assert_eq!(five.captured(&ack(none)), [], "{none:?}");
    }
    assert_eq!(codec(Dialect::Mqtt).captured(&ack(&[0x13, 0, 9])), []);
    for cut in 0..ack(&[0x13, 0, 9]).len() {
        drop(five.captured(&ack(&[0x13, 0, 9])[..cut]));
    }
}
