//! Captures that hold a secret.

use super::{CANARY, Talk, chat, entry, fixture, har, made, of, of_socket_io, shaken};
use serde_json::{Value, json};

const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJDQU5BUlkifQ.CANARYq8Zk2mXv7Lp";
const RANDOM: &str = "q8Zk2mXvCANARY7LpR4tWy9Bn3";

fn asked(message: &str) -> Value {
    of(Talk::default().sent(message).told("ok"))
}

#[test]
fn no_secret_of_a_message_is_written() {
    let nested = |text: &str| json!({"d": text}).to_string();
    let cases: &[(&str, String)] = &[
        ("STOMP", "CONNECT\naccept-version:1.2\nhost:/\nlogin:u\npasscode:CANARY one two\nAuthorization:Bearer CANARY\n\n\0".into()),
        ("STOMP with a header of its own", "STOMP\r\nhost:/\r\nx-mine:CANARY\r\n\r\n\0".into()),
        ("STOMP with a body", "SEND\ndestination:/x\n\n{\"token\":\"CANARY\"}\0".into()),
        ("SockJS", json!(["CONNECT\npasscode:CANARY\n\n\0"]).to_string()),
        ("SockJS of JSON", json!([json!({"token": "CANARY"}).to_string()]).to_string()),
        ("PASS and NICK", "PASS oauth:CANARY\r\nNICK CANARY\r\n".into()),
        ("IDENTIFY", "PRIVMSG NickServ :IDENTIFY CANARY".into()),
        ("a command in small letters", "login ann CANARY".into()),
        ("a command with JSON", "AUTH {\"value\":\"CANARY\"}".into()),
        ("NATS", "CONNECT {\"verbose\":false,\"auth_token\":\"CANARY\",\"pass\":\"CANARY\"}\r\n".into()),
        ("JSON in a string", nested(&json!({"token": "CANARY \"x\""}).to_string())),
        ("JSON in a string of JSON in a string", nested(&nested(&json!({"pin": "CANARY"}).to_string()))),
        ("a form", "user=ann&password=CANARY&op=login".into()),
        ("a form with spaces", "password=CANARY one CANARY two".into()),
        ("a percent-encoded name", "user=ann&pass%77ord=CANARY".into()),
        ("a query", "GET /feed?v=2&access_token=CANARY".into()),
        ("a URL in JSON", json!({"u": "wss://h.example/x?v=1&api_key=CANARY"}).to_string()),
        ("a user in a URL", json!({"u": "https://ann:CANARY@h.example/"}).to_string()),
        ("accessKey", json!({"accessKey": "CANARY"}).to_string()),
        ("listenKey", json!({"listenKey": "CANARY"}).to_string()),
        ("privateKey", json!({"privateKey": "CANARY"}).to_string()),
        ("pin", json!({"pin": "CANARY"}).to_string()),
        ("apiSecret", json!({"apiSecret": "CANARY"}).to_string()),
        ("x-api-key", json!({"x-api-key": "CANARY"}).to_string()),
        ("sessionToken", json!({"sessionToken": "CANARY"}).to_string()),
        ("jwt", json!({"jwt": "CANARY"}).to_string()),
        ("ACCESS_SIGN", json!({"ACCESS_SIGN": "CANARY"}).to_string()),
        ("user.pwd", json!({"user.pwd": "CANARY"}).to_string()),
        ("in a list", json!({"tokens": ["CANARY", "CANARY two"]}).to_string()),
        ("below a name", json!({"credentials": {"user": "CANARY", "x": {"y": "CANARY"}}}).to_string()),
        ("with escapes", r#"{"password":"CANARY\"\\\u0041"}"#.into()),
        ("a name with escapes", r#"{"pass\u0077ord":"CANARY"}"#.into()),
        ("a token as a name", json!({JWT: 1}).to_string()),
        ("a JSON Web Token", json!({"x": JWT}).to_string()),
        ("a JSON Web Token in words", json!({"x": format!("use {JWT} here")}).to_string()),
        ("a random text", json!({"x": RANDOM}).to_string()),
        ("a random text in a list", json!([1, RANDOM]).to_string()),
        ("a random text alone", RANDOM.into()),
        ("base64", json!({"x": "Q0FOQVJZ/CANARY+Zx8v2q=="}).to_string()),
        ("a key of a service", json!({"x": "sk_live_4eC3CANARY"}).to_string()),
        ("Bearer", json!({"h": "Bearer CANARY"}).to_string()),
        ("GraphQL", json!({"type": "connection_init", "payload": {"headers": {"x-mine": "CANARY"}}}).to_string()),
        ("a call by position", json!({"method": "login", "params": ["ann", "CANARY"]}).to_string()),
        ("an operation by position", json!({"op": "auth", "args": ["CANARY", 17, "CANARY"]}).to_string()),
        ("a value without a name", json!({"type": "authenticate", "value": "CANARY"}).to_string()),
        ("SASL", "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>CANARY=</auth>".into()),
        ("lines of JSON", "{\"token\":\"CANARY\"}\n{\"token\":\"CANARY\"}".into()),
        ("JSON behind words", "say {\"a\":1} and {\"secret\":\"CANARY\"}".into()),
        ("a form with an apostrophe", "password=it's CANARY&u=1".into()),
        ("a form with a comma", "password=a,CANARY&u=1".into()),
        ("a form with semicolons", "user=a;password=b;CANARY".into()),
        ("JavaScript", "login({user: 'ann', token: 'CANARY'})".into()),
        ("YAML", "user: ann\npassword: CANARY one\n".into()),
        ("CDATA", "<password><![CDATA[CANARY]]></password>".into()),
        ("a command within a line", "hello auth CANARY".into()),
        ("a command of a chat", json!({"text": "/msg NickServ identify CANARY"}).to_string()),
        ("a name beside its value", json!([{"key": "password", "value": "CANARY"}]).to_string()),
        ("a pair", json!({"headers": [["X-Api-Key", "CANARY"]]}).to_string()),
        ("a key beside a signature", json!({"signature": "CANARY", "key": "CANARY"}).to_string()),
        ("SignalR", "{\"arguments\":[\"CANARY\"],\"target\":\"Login\",\"type\":1}\u{1e}".into()),
        ("WAMP", r#"[5,"CANARY",{}]"#.into()),
        ("DDP", json!([json!({"msg": "method", "method": "login", "params": [{"resume": "CANARY"}]}).to_string()]).to_string()),
        ("a private key", json!({"x": "-----BEGIN PRIVATE KEY-----\nCANARY\n-----END PRIVATE KEY-----"}).to_string()),
        ("a broken JSON", "{\"user\":\"ann\",\"token\":\"CANARY\"".into()),
        ("PHP", "PHPSESSID=CANARY".into()),
        ("other languages", json!({"contraseña": "CANARY", "mdp": "CANARY", "passwort": "CANARY"}).to_string()),
        ("an identifier that is a token", json!({"id": JWT}).to_string()),
    ];
    for (name, message) in cases {
        assert!(message.contains(CANARY) || message.contains(JWT), "{name}");
        let made = made(asked(message).to_string().as_bytes(), &[]);
        made.plan();
        let told = made.ran.stderr.contains("may be secret");
        assert!(told, "{name}: {:#?}", made.ran);
    }
}

#[test]
fn hexadecimal_digits_are_a_secret() {
    let digits = "9f86d081884c7d659a2feaa0c55ad015";
    let made = made(
        asked(&json!({"x": digits}).to_string())
            .to_string()
            .as_bytes(),
        &[],
    );
    made.plan();
    assert!(!made.ran.stdout.contains(digits), "{:#?}", made.ran);
}

#[test]
fn no_secret_of_socket_io_is_written() {
    for message in [
        r#"40{"token":"CANARY"}"#,
        r#"40{"anything":"CANARY"}"#,
        r#"40/admin,{"anything":"CANARY"}"#,
        "40/admin?token=CANARY,",
        r#"42["authenticate","CANARY"]"#,
        r#"42/admin,17["login",{"user":"ann","password":"CANARY"}]"#,
        r#"4217["auth",{"data":"CANARY"}]"#,
    ] {
        let talk = Talk::default()
            .sent(message)
            .told(r#"40{"sid":"CANARY-of-server"}"#);
        made(of_socket_io(talk).to_string().as_bytes(), &[]).plan();
    }
}

#[test]
fn no_secret_of_a_handshake_is_written() {
    let url = "ws://127.0.0.1:4500/chat";
    let with = |header: (&str, &str)| shaken(url, &[header]);
    let at = |rest: &str| shaken(&format!("{url}{rest}"), &[]);
    for capture in [
        with(("Cookie", "sid=CANARY; theme=CANARY")),
        with(("Cookie", "CANARY")),
        with(("Authorization", "Bearer CANARY")),
        with(("Authorization", "CANARY")),
        with(("Authorization", "CANARY one two")),
        with(("X-Api-Key", "CANARY")),
        with(("X-AccessKey", "CANARY")),
        with(("X-Mine", "CANARY")),
        with(("Origin", "https://ann:CANARY@shop.example")),
        with(("Sec-WebSocket-Protocol", "v1, token-CANARY")),
        with(("Sec-WebSocket-Protocol", "bearer, CANARY")),
        with(("Sec-WebSocket-Protocol", "access_token, CANARY")),
        with(("Sec-WebSocket-Protocol", &format!("v1, bearer.{JWT}"))),
        with((
            "Sec-WebSocket-Protocol",
            "base64url.bearer.authorization.k8s.io.CANARY, x",
        )),
        with(("Sec-WebSocket-Protocol", &format!("v1, {RANDOM}"))),
        at("?access_token=CANARY"),
        at("?listenKey=CANARY&v=1"),
        at(&format!("?v=1&{JWT}")),
        at(&format!("?x={RANDOM}")),
        at("?params=%7B%22token%22%3A%22CANARY%22%7D"),
        at("?u%5Btoken%5D=CANARY"),
        at("?x=CANARY%2Fa0+Zx8vQwE7=="),
        at("/token/CANARY/x"),
        at("/x;token=CANARY"),
        at(&format!("/{RANDOM}/x")),
        at("#token=CANARY"),
        shaken("wss://ann:CANARY@h.example/x", &[]),
    ] {
        made(capture.to_string().as_bytes(), &[]).plan();
    }
}

#[test]
fn no_secret_is_in_the_list_of_other_connections() {
    let others = [
        entry("ws://127.0.0.1:4500/chat", chat()),
        entry("wss://ann:CANARY@h.example/x", chat()),
        entry(&format!("wss://h.example/x/{JWT}/y"), chat()),
    ];
    let made = made(har(&others).to_string().as_bytes(), &[]);
    made.plan();
    assert!(
        made.ran.stderr.contains("2 wss://h.example/x (4 messages)"),
        "{:#?}",
        made.ran
    );
    assert!(made.ran.stderr.contains("{path-2}/y"), "{:#?}", made.ran);
}

#[test]
fn no_secret_that_the_server_says_is_written() {
    for answer in [
        "session=CANARY",
        "welcome q8Zk2mXvCANARY7LpR4tWy9Bn3",
        "token: CANARY",
        r#"{"type":"q8Zk2mXvCANARY7LpR4tWy9Bn3"}"#,
        r#"{"q8Zk2mXvCANARY7LpR4tWy9Bn3":1,"type":"x"}"#,
        "CONNECTED\nsession:CANARY\n\n\0",
    ] {
        made(
            of(Talk::default().sent("hello").told(answer))
                .to_string()
                .as_bytes(),
            &[],
        )
        .plan();
    }
}

#[test]
fn a_secret_is_found_again_where_nothing_says_that_it_is_one() {
    // The token of the handshake and of a message is said again, by both sides.
    let talk = Talk::default()
        .sent(r#"{"token":"CANARY-1"}"#)
        .told("CANARY-1 is welcome")
        .sent(r#"{"text":"I am CANARY-1","n":["CANARY-2"]}"#)
        .told(r#"{"type":"CANARY-2"}"#);
    let mut entry = entry("ws://127.0.0.1:4500/chat", talk);
    entry["request"]["headers"] = json!([{"name": "Cookie", "value": "sid=CANARY-2"}]);
    let made = made(har(&[entry]).to_string().as_bytes(), &[]);
    let script = made.script();
    assert_eq!(script[0], r#"{"token":"{token}"}"#);
    assert!(
        script[1].starts_with(r#"{"text":"I am {token}","n":["{"#),
        "{script:?}"
    );
}

#[test]
fn no_secret_is_in_the_data_file() {
    let of_user = |user: &str, token: &str| {
        let said = json!({"user": user, "auth": token, "u": format!("/x?token={token}&of={user}")});
        entry(
            "ws://127.0.0.1:4500/chat",
            Talk::default().sent(&said.to_string()).told("ok"),
        )
    };
    let capture = har(&[of_user("ann", "CANARY-1"), of_user("bob", "CANARY-2")]);
    let made = made(capture.to_string().as_bytes(), &[]);
    made.plan();
    let rows = std::fs::read_to_string(made.folder.path().join("data.csv")).unwrap();
    assert_eq!(rows, "auth,token,user\n,,ann\n,,bob\n");
}

#[test]
fn the_captures_of_the_trade_that_hold_a_secret_are_read_without_it() {
    for name in [
        "43-secret-stomp.har",
        "46-secret-camel-case.har",
        "49-secret-form-and-query.har",
    ] {
        made(&fixture(name), &[]).plan();
    }
    let columns = "Signature, accessKey, listenKey, pin, privateKey";
    let made = made(&fixture("46-secret-camel-case.har"), &[]);
    assert!(made.ran.stderr.contains(columns), "{:#?}", made.ran);
}

#[test]
fn a_user_may_have_what_looks_secret_copied() {
    let folder = tempfile::tempdir().unwrap();
    let capture = shaken(
        "ws://127.0.0.1:4500/chat?token=t-1",
        &[
            ("Cookie", "sid=c-1"),
            ("X-Api-Key", "k-1"),
            ("Sec-WebSocket-Protocol", "bearer, p-1"),
        ],
    );
    let (ran, plan) = crate::replay::import(&capture, folder.path(), &["--keep-values"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    for value in ["token=t-1", "sid=c-1", "X-Api-Key: k-1", "p-1"] {
        assert!(ran.stdout.contains(value), "{value}: {ran:#?}");
    }
    let shown = crate::support::finish(
        crate::support::bench()
            .arg("run")
            .arg(&plan)
            .arg("--print-plan"),
    );
    assert_eq!(shown.code, 0, "{shown:#?}");
    // More secrets than variables: refused, with the way out.
    let many = (0..80).fold(Talk::default(), |talk, n| {
        talk.sent(&json!({"token": format!("t-{n}")}).to_string())
    });
    let (ran, _) = crate::replay::import(&of(many.clone()), folder.path(), &[]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("--keep-values"), "{ran:#?}");
    let (ran, _) = crate::replay::import(&of(many), folder.path(), &["--keep-values"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
}
