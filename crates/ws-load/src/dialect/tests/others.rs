//! Dialects of other protocols, written as users would: what the format has to be able to say.

use super::super::interpreter::Interpreter;
use super::super::{check_dialect, read_dialect};
use super::*;

const STAMPS: Stamps = Stamps::of_run(1);

fn dialect(text: &str) -> Interpreter {
    let file = read_dialect(text).unwrap();
    check_dialect(&file).unwrap();
    let body = Body::new("12".to_owned());
    Interpreter::compile(&file, body, "ws://h/", STAMPS).unwrap()
}

fn sent(codec: &Interpreter, workload: Workload, stamp: u64) -> String {
    let mut out = Vec::new();
    codec.request(workload, 0, stamp, &NoVariables, &mut out);
    String::from_utf8(out).unwrap()
}

fn sends(codec: &Interpreter, message: &str) -> String {
    match codec.opened(message.as_bytes(), None) {
        Opening::Send(next) => next,
        other => panic!("{message}: {other:?}"),
    }
}

fn keep_alive(answer: &str) -> Result<Incoming, Malformed> {
    Ok(Incoming::KeepAlive(answer.as_bytes().into()))
}

const P: &str = r#"{"stamp":"0000000000000009","padding":"12"}"#;

#[test]
fn socket_io_4() {
    let codec = dialect(
        r#"
name = "socket-io-4"
summary = "Socket.IO 4 over WebSocket alone."

[[open.receive]]
means = "send"
prefix = "0"
send = "40"

[[open.receive]]
means = "ready"
prefix = "40"

[[open.receive]]
means = "refused"
prefix = "44"
words = "the server refused the namespace"
reason = "/message"

[send]
echo = '42["echo",{payload}]'

[[receive]]
means = "echo"
prefix = "42"
when = { "" = { length = 2 }, "/0" = "echo" }
payload = "/1"
example = '42["echo",{payload}]'

[[receive]]
means = "keep-alive"
text = "2"
send = "3"
"#,
    );
    assert_eq!(codec.open(None), Opening::Await);
    assert_eq!(sends(&codec, r#"0{"sid":"a","pingInterval":25000}"#), "40");
    assert_eq!(codec.opened(br#"40{"sid":"b"}"#, None), Opening::Ready);
    assert_eq!(
        codec.opened(br#"44{"message":"no"}"#, None),
        Opening::Refused("the server refused the namespace: no".to_owned())
    );
    assert_eq!(
        sent(&codec, Workload::Echo, 9),
        format!(r#"42["echo",{P}]"#)
    );
    let parse = |text: String| codec.parse(text.as_bytes());
    assert_eq!(parse("2".to_owned()), keep_alive("3"));
    assert_eq!(
        parse(format!(r#"42["echo",{P}]"#)),
        message(Kind::Echo, 9, true)
    );
    for text in [
        format!(r#"42["echo",{P},1]"#),
        format!(r#"43["echo",{P}]"#),
        format!(r#"42["other",{P}]"#),
        "42".to_owned(),
        "22".to_owned(),
    ] {
        assert!(parse(text.clone()).is_err(), "{text}");
    }
}

#[test]
fn graphql_transport_ws() {
    let codec = dialect(
        r#"
name = "graphql-transport-ws"
summary = "GraphQL over WebSocket, echo by a mutation."
subprotocol = "graphql-transport-ws"

[open]
send = '{"type":"connection_init"}'

[[open.receive]]
means = "ready"
when = { "/type" = "connection_ack" }

[[open.receive]]
means = "send"
when = { "/type" = "ping" }
send = '{"type":"pong"}'

[send]
echo = '{"id":"{stamp}","type":"subscribe","payload":{"query":"mutation($p: JSON!) { echo(p: $p) }","variables":{"p":{payload}}}}'

[[receive]]
means = "echo"
when = { "/type" = "next", "/payload/errors" = { is = ["absent"] } }
payload = "/payload/data/echo"
example = '{"id":"{stamp}","type":"next","payload":{"data":{"echo":{payload}}}}'

[[receive]]
means = "refused"
when = { "/type" = { one_of = ["next", "error"] } }

[[receive]]
means = "ignored"
when = { "/type" = "complete" }

[[receive]]
means = "keep-alive"
when = { "/type" = "ping" }
send = '{"type":"pong"}'
"#,
    );
    assert_eq!(sends(&codec, r#"{"type":"ping"}"#), r#"{"type":"pong"}"#);
    let request: Value = serde_json::from_str(&sent(&codec, Workload::Echo, 9)).unwrap();
    assert_eq!(request["id"], "0000000000000009");
    let parse = |message: Value| codec.parse(message.to_string().as_bytes());
    let data = json!({"echo": request["payload"]["variables"]["p"]});
    let next = json!({"id": request["id"], "type": "next", "payload": {"data": data}});
    assert_eq!(parse(next), message(Kind::Echo, 9, true));
    let errors = json!({"type": "next", "payload": {"errors": []}});
    assert_eq!(parse(errors), Ok(Incoming::Refused));
    assert_eq!(parse(json!({"type": "complete"})), Ok(Incoming::Ignored));
    assert_eq!(
        parse(json!({"type": "ping"})),
        keep_alive(r#"{"type":"pong"}"#)
    );
}

#[test]
fn stomp() {
    let codec = dialect(
        r#"
name = "stomp"
summary = "STOMP 1.2; the broker delivers what is sent to a topic."
subprotocol = "v12.stomp"

[open]
send = "CONNECT\naccept-version:1.2\nhost:h\n\n\u0000"

[[open.receive]]
means = "send"
prefix = "CONNECTED\n"
send = "SUBSCRIBE\nid:0\ndestination:/topic/all\nreceipt:subscribed\n\n\u0000"

[[open.receive]]
means = "ready"
pattern = "RECEIPT\n{any}receipt-id:subscribed\n{any}\u0000"

[send]
broadcast = "SEND\ndestination:/topic/all\nreceipt:{stamp}\n\n{payload}\u0000"

[[receive]]
means = "delivery"
pattern = "MESSAGE\n{any}destination:/topic/all\n{any}\n\n{payload}\u0000"
example = "MESSAGE\nsubscription:0\nmessage-id:1\ndestination:/topic/all\ncontent-length:9\n\n{payload}\u0000"

[[receive]]
means = "result"
pattern = "RECEIPT\nreceipt-id:{stamp}\n\n\u0000"
example = "RECEIPT\nreceipt-id:{stamp}\n\n\u0000"

[[receive]]
means = "refused"
prefix = "ERROR\n"

[[receive]]
means = "keep-alive"
text = "\n"
send = "\n"
"#,
    );
    let subscribe = sends(&codec, "CONNECTED\nversion:1.2\n\n\0");
    assert!(subscribe.starts_with("SUBSCRIBE\n") && subscribe.ends_with("\n\n\0"));
    let receipt = b"RECEIPT\nreceipt-id:subscribed\n\n\0";
    assert_eq!(codec.opened(receipt, None), Opening::Ready);
    let delivered = format!("MESSAGE\nid:1\ndestination:/topic/all\na:b\n\n{P}\0");
    let delivery = codec.parse(delivered.as_bytes());
    assert_eq!(delivery, message(Kind::Broadcast, 9, true));
    let more = delivered.replace("\"12\"", "\"13\"");
    assert_eq!(
        codec.parse(more.as_bytes()),
        message(Kind::Broadcast, 9, false)
    );
    let receipt = b"RECEIPT\nreceipt-id:0000000000000009\n\n\0";
    assert_eq!(codec.parse(receipt), message(Kind::Result, 9, true));
    assert_eq!(codec.parse(b"\n"), keep_alive("\n"));
    assert_eq!(codec.parse(b"ERROR\n\n\0"), Ok(Incoming::Refused));
}

#[test]
fn pusher() {
    let codec = dialect(
        r#"
name = "pusher"
summary = "The Pusher protocol, version 7, whose data is JSON in a string."

[[open.receive]]
means = "send"
when = { "/event" = "pusher:connection_established" }
send = '{"event":"pusher:subscribe","data":{"channel":"bench"}}'

[[open.receive]]
means = "ready"
when = { "/event" = "pusher_internal:subscription_succeeded", "/channel" = "bench" }

[[open.receive]]
means = "refused"
when = { "/event" = "pusher:error" }
reason = "/data/message"

[send]
echo = '{"event":"client-echo","channel":"bench","data":"{escaped_payload}"}'

[[receive]]
means = "echo"
when = { "/event" = "client-echo", "/channel" = "bench" }
payload = "/data"
payload_form = "string"
example = '{"event":"client-echo","channel":"bench","data":"{escaped_payload}"}'

[[receive]]
means = "keep-alive"
when = { "/event" = "pusher:ping" }
send = '{"event":"pusher:pong","data":{}}'
"#,
    );
    let refused = codec.opened(
        br#"{"event":"pusher:error","data":{"message":"over quota"}}"#,
        None,
    );
    let words = "the server refused the client: over quota".to_owned();
    assert_eq!(refused, Opening::Refused(words));
    let echo = sent(&codec, Workload::Echo, 9);
    assert_eq!(codec.parse(echo.as_bytes()), message(Kind::Echo, 9, true));
    let twice = echo.replace(r#"{\"stamp"#, r#"{\"padding\":\"12\",\"stamp"#);
    assert_ne!(twice, echo);
    assert_eq!(codec.parse(twice.as_bytes()), message(Kind::Echo, 9, false));
    let plain = echo.replace(r#""{\"#, r#"{\"#);
    assert!(codec.parse(plain.as_bytes()).is_err());
}

#[test]
fn centrifugo() {
    let codec = dialect(
        r#"
name = "centrifugo-json"
summary = "Centrifugo's JSON protocol; results have the number of their request alone."

[open]
send = '{"id":1,"connect":{}}'

[[open.receive]]
means = "send"
when = { "/connect" = { is = ["object"] } }
send = '{"id":2,"subscribe":{"channel":"all"}}'

[[open.receive]]
means = "ready"
when = { "/subscribe" = { is = ["object"] } }

[send]
broadcast = '{"id":{number},"publish":{"channel":"all","data":{payload}}}'

[[receive]]
means = "delivery"
when = { "/push/channel" = "all" }
payload = "/push/pub/data"
example = '{"push":{"channel":"all","pub":{"data":{payload},"offset":1}}}'

[[receive]]
means = "result"
when = { "/publish" = { is = ["object"] } }
number = "/id"
example = '{"id":{number},"publish":{}}'

[[receive]]
means = "refused"
when = { "/error/code" = { is = ["number"] } }

[[receive]]
means = "keep-alive"
when = { "" = { is = ["object"], length = 0 } }
send = "{}"
"#,
    );
    let stamp = STAMPS.stamp(6);
    assert!(sent(&codec, Workload::Broadcast, stamp).starts_with(r#"{"id":7,"publish":"#));
    let result = |id: &str| codec.parse(format!(r#"{{"id":{id},"publish":{{}}}}"#).as_bytes());
    assert_eq!(result("7"), message(Kind::Result, stamp, true));
    for id in ["0", "-1", "7.5", "\"7\"", "1099511627777"] {
        let why = result(id).unwrap_err().0;
        assert_eq!(why, "a result without a readable stamp", "{id}");
    }
    assert_eq!(codec.parse(b"{}"), keep_alive("{}"));
    assert!(codec.parse(b"[]").is_err());
}

#[test]
fn lines_in_binary_messages() {
    let codec = dialect(
        r#"
name = "lines"
summary = "Lines of text in binary messages."
opcode = "binary"

[send]
echo = "{stamp} {padding}\n"

[[receive]]
means = "echo"
pattern = "{stamp} {padding}\n"
example = "{stamp} {padding}\n"
"#,
    );
    assert_eq!(codec.opcode(), Opcode::Binary);
    assert_eq!((codec.open(None), codec.origin()), (Opening::Ready, None));
    assert_eq!(sent(&codec, Workload::Echo, 9), "0000000000000009 12\n");
    for (line, verdict) in [
        ("0000000000000009 12\n", message(Kind::Echo, 9, true)),
        ("0000000000000009 13\n", message(Kind::Echo, 9, false)),
        ("0000000000000009 12\n\n", message(Kind::Echo, 9, false)),
    ] {
        assert_eq!(codec.parse(line.as_bytes()), verdict, "{line}");
    }
    assert!(codec.parse(b"0000000000000009 12").is_err());
    assert!(codec.parse(b"00000000000000zz 12\n").is_err());
}
