//! Captures that are sound, however they are written.

use super::{CHAT, START, Talk, chat, entry, fixture, har, made, of, of_socket_io, shaken};
use crate::support::{bench, finish};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

#[track_caller]
fn assert_script(capture: &Value, expected: &[&str]) {
    let made = made(capture.to_string().as_bytes(), &[]);
    assert_eq!(made.script(), expected, "{:#?}", made.ran);
}

/// Each message of a conversation, changed.
fn changed(talk: Talk, change: impl Fn(&mut Value)) -> Talk {
    let mut messages = talk.0;
    messages.iter_mut().for_each(change);
    Talk(messages)
}

#[test]
fn the_captures_of_the_trade_are_read() {
    for (name, expected) in [
        ("11-time-iso-in-another-entry.har", &CHAT[..]),
        ("16-data-null.har", &CHAT),
        ("19-bom.har", &CHAT),
        ("24-fragments-opcode-0.har", &CHAT),
        ("27-two-a-counter.har", &["start", "3", "3"]),
        (
            "61-socketio-attachment.har",
            &["40", r#"42["changeSymbol",{"asset":"X"}]"#],
        ),
    ] {
        let made = made(&fixture(name), &[]);
        assert_eq!(made.script(), expected, "{name}: {:#?}", made.ran);
    }
}

#[test]
fn a_file_may_be_compressed() {
    let text = of(chat()).to_string();
    let gzip = |text: &[u8]| {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    };
    let marked = [b"\xEF\xBB\xBF", text.as_bytes()].concat();
    let (one, other) = text.as_bytes().split_at(text.len() / 2);
    for bytes in [
        gzip(text.as_bytes()),
        gzip(&marked),
        [gzip(one), gzip(other)].concat(),
        marked,
        [b"\r\n\t ", text.as_bytes()].concat(),
    ] {
        assert_eq!(made(&bytes, &[]).script(), CHAT);
    }
}

#[test]
fn an_entry_may_lack_a_field_or_have_another_type_in_it() {
    let whole = entry("ws://127.0.0.1:4500/chat", chat());
    let without = |path: &[&str]| {
        let mut entry = whole.clone();
        let (last, path) = path.split_last().unwrap();
        let of = path.iter().fold(&mut entry, |of, name| &mut of[*name]);
        of.as_object_mut().unwrap().remove(*last);
        entry
    };
    let with = |name: &str, value: Value| {
        let mut entry = whole.clone();
        entry[name] = value;
        entry
    };
    for entry in [
        without(&["response"]),
        without(&["response", "headers"]),
        without(&["request", "headers"]),
        without(&["request", "cookies"]),
        without(&["_resourceType"]),
        without(&["startedDateTime"]),
        with("response", Value::Null),
        with("response", json!("none")),
        with("_resourceType", json!(7)),
        with("comment", json!({"deep": [[[{}]]]})),
    ] {
        assert_script(&har(&[entry]), &CHAT);
    }
    let mut entry = whole;
    entry["request"]["headers"] =
        json!([null, 1, {}, {"name": "Origin"}, {"name": 1, "value": {}}]);
    entry["request"]["cookies"] = json!("none");
    assert_script(&har(&[entry]), &CHAT);
}

#[test]
fn what_another_entry_has_is_no_reason_to_refuse_one() {
    let whole = entry("ws://127.0.0.1:4500/chat", chat());
    let of_times = changed(chat(), |message| {
        message["time"] = json!("2026-11-26T00:00:00.000Z")
    });
    for other in [
        json!({}),
        json!(null),
        json!([1]),
        json!({"request": null, "_webSocketMessages": null}),
        json!({"request": {"url": 7}, "_resourceType": "websocket", "_webSocketMessages": {}}),
        entry("ws://127.0.0.1:4500/other", of_times),
        entry(
            "ws://127.0.0.1:4500/chat",
            Talk::default().raw("send", 2, "AAEC"),
        ),
        entry(
            "ws://127.0.0.1:4500/chat",
            Talk::default().sent(&"x".repeat(5000)),
        ),
        entry(
            "no URL",
            Talk::default().entry(json!({"type": 1, "data": {}, "opcode": []})),
        ),
    ] {
        let first = made(
            har(&[whole.clone(), other.clone()]).to_string().as_bytes(),
            &[],
        );
        assert_eq!(first.script(), CHAT, "{other}");
    }
}

#[test]
fn times_are_read_in_each_unit_and_style() {
    let date = |seconds: f64| {
        let since = std::time::Duration::from_secs_f64(seconds);
        humantime(since)
    };
    let as_date = |message: &mut Value| {
        message["time"] = json!(date(message["time"].as_f64().unwrap()));
    };
    let scaled = |by: f64| {
        changed(chat(), |message| {
            message["time"] = json!((message["time"].as_f64().unwrap() * by).round());
        })
    };
    let from_zero = changed(chat(), |message| {
        message["time"] = json!(message["time"].as_f64().unwrap() - START);
    });
    for talk in [
        chat(),
        changed(chat(), as_date),
        scaled(1e3),
        scaled(1e6),
        from_zero,
        changed(chat(), |message| {
            message["time"] = json!(message["time"].to_string())
        }),
    ] {
        let made = made(of(talk.clone()).to_string().as_bytes(), &[]);
        let script = made.plan().message.definition.unwrap().send.script;
        let at: Vec<String> = script.iter().map(|turn| turn.at.to_string()).collect();
        assert_eq!(at, ["0s", "250ms"], "{:?}", talk.0);
    }
    let untimed = changed(chat(), |message| {
        message.as_object_mut().unwrap().remove("time");
    });
    let made = made(of(untimed).to_string().as_bytes(), &[]);
    assert_eq!(made.script(), CHAT);
    assert!(
        made.ran.stderr.contains("4 messages without a time"),
        "{:#?}",
        made.ran
    );
}

/// A date of 2026-11-26 as RFC 3339 writes it.
fn humantime(since: std::time::Duration) -> String {
    // 1,795,651,200 s since 1970 are the beginning of that day; 86,400 s before it another begins.
    let of_day = since.as_millis() as u64 - 1_795_564_800_000;
    let (hours, rest) = (of_day / 3_600_000, of_day % 3_600_000);
    let (minutes, rest) = (rest / 60_000, rest % 60_000);
    format!(
        "2026-11-25T{hours:02}:{minutes:02}:{:02}.{:03}Z",
        rest / 1000,
        rest % 1000
    )
}

#[test]
fn what_is_no_message_is_left_out_and_counted() {
    let null = json!({"type": "receive", "time": START, "opcode": 8, "data": null});
    for talk in [
        chat().entry(null),
        chat().raw("send", 9, "").raw("receive", 10, ""),
        chat().entry(json!({"type": "error", "time": START, "data": "broken"})),
        chat().entry(json!(null)).entry(json!([])),
        chat().entry(json!({"opcode": 1, "data": "whose?"})),
        Talk(
            [
                Talk::default().raw("receive", 0, "the rest of nothing").0,
                chat().0,
            ]
            .concat(),
        ),
    ] {
        let made = made(of(talk).to_string().as_bytes(), &[]);
        assert_eq!(made.script(), CHAT);
        assert!(
            made.ran.stderr.contains("that are no messages"),
            "{:#?}",
            made.ran
        );
    }
    let talk = chat().raw("receive", 2, "AAEC").raw("receive", 0, "AAEC");
    let made = made(of(talk).to_string().as_bytes(), &[]);
    assert_eq!(made.script(), CHAT);
    assert!(
        made.ran.stderr.contains("1 binary messages of the server"),
        "{:#?}",
        made.ran
    );
}

#[test]
fn a_message_in_several_frames_is_one() {
    let talk = Talk::default()
        .raw("send", 1, r#"{"op":"say","#)
        .raw("receive", 1, "be")
        .raw("send", 9, "")
        .raw("send", 0, r#""text":"#)
        .raw("receive", 0, "gun")
        .raw("send", 0, r#""one"}"#)
        .told(r#"{"op":"said","text":"one"}"#)
        .sent(CHAT[1]);
    assert_script(&of(talk), &CHAT);
    assert_script(
        &of(Talk::default().raw("send", 1, "").raw("send", 0, "a")),
        &["a"],
    );
}

#[test]
fn opcodes_and_directions_are_read_as_they_are_written() {
    for opcode in [json!(1.0), json!("1"), json!("text"), json!(null)] {
        let talk = changed(chat(), |message| message["opcode"] = opcode.clone());
        assert_script(&of(talk), &CHAT);
    }
    let talk = changed(chat(), |message| {
        message.as_object_mut().unwrap().remove("opcode");
    });
    assert_script(&of(talk), &CHAT);
    let talk = changed(chat(), |message| {
        message["type"] = json!(message["type"].as_str().unwrap().to_uppercase());
    });
    assert_script(&of(talk), &CHAT);
}

#[test]
fn a_two_is_a_heartbeat_of_engine_io_alone() {
    let talk = |first: &str| {
        Talk::default()
            .told(first)
            .sent("40")
            .told("40{\"sid\":\"a\"}")
            .told("2")
            .sent("3")
            .sent("42[\"bye\"]")
    };
    let open = r#"0{"sid":"a","pingInterval":25000}"#;
    assert_script(&of(talk(open)), &["40", "42[\"bye\"]"]);
    assert_script(&of_socket_io(talk("0{}")), &["40", "42[\"bye\"]"]);
    assert_script(&of(talk("1")), &["40", "3", "42[\"bye\"]"]);
}

#[test]
fn texts_of_every_kind_are_replayed_as_they_are() {
    for text in [
        "",
        " ",
        "{",
        "{name}",
        "{{name}}",
        "\u{0}\u{1}\u{7f}",
        "\u{1f980} crab",
        "line\r\nline\n",
        "\"quoted\" 'quoted' '''more''' \"\"\"more\"\"\"",
        "\\ and \\n",
        "[1,2,3]",
        "17",
        "null",
        "{\"a\":{\"b\":[true,null,1e3,-0.5]}}",
        "{\"id\":\"550e8400-e29b-41d4-a716-446655440000\"}",
    ] {
        let made = made(
            of(Talk::default().sent(text).told("x"))
                .to_string()
                .as_bytes(),
            &[],
        );
        assert_eq!(made.script(), [text], "{:#?}", made.ran);
    }
}

#[test]
fn header_lines_of_the_handshake_itself_are_not_copied() {
    let own = [
        ("Host", "h.example"),
        ("Upgrade", "websocket"),
        ("Connection", "Upgrade"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Extensions", "permessage-deflate"),
        (":authority", "h.example"),
    ];
    let made = made(
        shaken("ws://127.0.0.1:4500/chat", &own)
            .to_string()
            .as_bytes(),
        &[],
    );
    assert_eq!(made.plan().connection.headers, [""; 0]);
    assert!(!made.ran.stderr.contains("handshake"), "{:#?}", made.ran);
}

#[test]
fn what_is_no_secret_is_copied() {
    let code = "fn main() {\n    let token_count = 7;\n}\n";
    for message in [
        json!({"type": "message", "text": "hello, see https://h.example/a?page=2 at 5:30", "ts": 1_795_600_000_123_u64}),
        json!({"text": "I forgot the key: it's on the table; pass me the salt. A token effort."}),
        json!({"op": "subscribe", "args": ["trade.BTCUSDT", "orderBookL2_25:XBTUSD"]}),
        json!({"id": "550e8400-e29b-41d4-a716-446655440000", "type": "subscribe", "payload": {"query": "subscription M($r: ID!) { m(room: $r) { id author } }"}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": ["newHeads"]}),
        json!({"since": "2026-11-26T00:00:00.000Z", "ua": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"}),
        json!({"type": "session.update", "session": {"voice": "alloy", "max_output_tokens": 4096}}),
        json!({"event": "click", "target": "login-button"}),
        json!({"event": "keydown", "keyCode": 38, "key": "ArrowUp"}),
        json!({"author": "ann", "design": "y", "signal": "z", "passenger": "q", "sidebar": "open"}),
        json!({"sortKey": "name", "publicKey": "x", "cacheKey": "v1", "authType": "api"}),
        json!({"text": code, "uri": "file:///a/b.rs", "mime": "application/vnd.api+json"}),
        json!(["3", "4", "room:lobby", "new_msg", {"body": "hi"}]),
    ] {
        let text = message.to_string();
        let made = made(
            of(Talk::default().sent(&text).told("x"))
                .to_string()
                .as_bytes(),
            &[],
        );
        assert_eq!(made.script(), [text], "{:#?}", made.ran);
    }
}

#[test]
fn a_capture_takes_no_multiple_of_its_length_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.har");
    let text = of(Talk::default().sent("go").entry(json!("HERE"))).to_string();
    let (before, after) = text.split_once("\"HERE\"").unwrap();
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(before.as_bytes()).unwrap();
    let many = "{},".repeat(1000);
    for _ in 0..4000 {
        file.write_all(many.as_bytes()).unwrap();
    }
    file.write_all(b"{}").unwrap();
    file.write_all(after.as_bytes()).unwrap();
    drop(file);
    // 12 MB of the shortest entries there are, with 96 MiB for all data of the process.
    let bench = bench();
    let ran = finish(
        Command::new("sh")
            .args(["-c", "ulimit -d 98304 && exec \"$0\" import \"$1\""])
            .arg(bench.get_program())
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
    );
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(
        ran.stderr.contains("4000001 entries that are no messages"),
        "{ran:#?}"
    );
}

#[test]
fn answers_are_awaited_by_what_does_not_differ() {
    let open = r#"0{"sid":"a","pingInterval":25000}"#;
    let answered = |talk: Talk| {
        let made = made(of(talk).to_string().as_bytes(), &[]);
        let file = made.plan().message.definition.unwrap();
        let rule = file.receive.into_iter().find(|rule| rule.in_order);
        let rule = rule.unwrap_or_else(|| panic!("{:#?}", made.ran));
        (rule.prefix, rule.text.or(rule.pattern))
    };
    let admin = Talk::default()
        .told(open)
        .sent("40/admin,")
        .told(r#"40/admin,{"sid":"Xy7"}"#);
    assert_eq!(answered(admin), (Some("40/admin,".to_owned()), None));
    let hello = Talk::default()
        .sent("hello")
        .told("welcome 9f86d081884c7d659a2feaa0c55ad015");
    assert_eq!(answered(hello), (None, Some("welcome {any}".to_owned())));
    let same = Talk::default()
        .sent("ping")
        .told("pong")
        .sent("ping")
        .told("pong");
    assert_eq!(answered(same), (None, Some("pong".to_owned())));
}

#[test]
fn hundreds_of_acknowledgements_are_awaited() {
    let open = Talk::default().told(r#"0{"sid":"a","pingInterval":25000}"#);
    let talk = (0..300).fold(open, |talk, n| {
        talk.sent(&format!("42{n}[\"say\",{n}]"))
            .told(&format!("43{n}[\"ok\"]"))
    });
    let made = made(of(talk).to_string().as_bytes(), &[]);
    let file = made.plan().message.definition.unwrap();
    assert!(
        file.send.kinds.iter().all(|kind| kind.answered),
        "{:#?}",
        made.ran
    );
    let rules = file.receive.iter().filter(|rule| rule.in_order).count();
    assert_eq!(rules, 1);
}

#[test]
fn why_an_answer_is_not_awaited_is_told() {
    let word = |n: usize| {
        let letter = |at: u32| char::from(b'a' + (n / 26_usize.pow(at) % 26) as u8);
        (0..4).map(letter).collect::<String>()
    };
    let many = (0..70).fold(Talk::default().told("news"), |talk, n| {
        talk.sent(&format!("ask {}", word(n)))
            .told(&format!("is {}", word(n)))
    });
    let talk = many.sent("quiet").sent("typing").told("news");
    let made = made(of(talk).to_string().as_bytes(), &[]);
    made.plan();
    for words in [
        "the server said nothing before the client's next message",
        "comes at other times too",
        "a dialect has 62 rules",
    ] {
        assert!(made.ran.stderr.contains(words), "{words}: {:#?}", made.ran);
    }
}
