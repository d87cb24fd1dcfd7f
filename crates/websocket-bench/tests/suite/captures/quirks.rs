//! Ways of writing a secret that are no JSON, or JSON that something else is wrapped around.

use super::{CANARY, Talk, made_by, of, of_socket_io};
use serde_json::{Value, json};

const RANDOM: &str = "q8Zk2mXvCANARY7LpR4tWy9Bn3";

/// Imports each message, and names those of which a secret is written or no plan is made.
#[track_caller]
fn assert_hidden(cases: &[(&str, String)], capture: fn(Talk) -> Value) {
    let mut wrong = Vec::new();
    for (name, message) in cases {
        assert!(message.contains(CANARY), "{name}");
        let talk = Talk::default().sent(message).told("ok");
        let made = made_by(capture(talk).to_string().as_bytes(), &[]);
        if made.holds_canary() || made.ran.code != 0 {
            wrong.push(format!("{name}: {}{}", made.ran.stderr, made.ran.stdout));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}: {wrong:#?}",
        wrong.len(),
        cases.len()
    );
}

/// The commands of Redis' protocol.
fn resp(words: &[&str]) -> String {
    let words = words
        .iter()
        .map(|word| format!("${}\r\n{word}\r\n", word.len()));
    format!("*{}\r\n{}", words.len(), words.collect::<String>())
}

/// Bytes as a capture has them that took them for characters, and as one that replaced what is no UTF-8.
fn as_text(bytes: &[u8]) -> [String; 2] {
    let latin = bytes.iter().map(|byte| char::from(*byte)).collect();
    [latin, String::from_utf8_lossy(bytes).into_owned()]
}

#[test]
fn no_secret_of_a_list_is_written() {
    let lines = |lines: &[&str]| lines.join("\n");
    assert_hidden(
        &[
            (
                "a list of YAML",
                lines(&["tokens:", "  - CANARY", "  - CANARY two", "room: x"]),
            ),
            (
                "a list of YAML at the margin",
                lines(&["tokens:", "- CANARY", "room: x"]),
            ),
            (
                "a list of YAML behind others",
                lines(&["- room: x", "  keys: y", "- secrets:", "    - CANARY"]),
            ),
            ("a flow list of YAML", "tokens: [CANARY, CANARY two]".into()),
            (
                "a JSON list behind a name",
                "tokens: [\"CANARY\", \"b\"]".into(),
            ),
            (
                "a JSON object behind a name",
                "token={\"a\":\"CANARY\"}".into(),
            ),
            (
                "below a name of YAML",
                lines(&["credentials:", "  user: ann", "  x: CANARY"]),
            ),
            (
                "a block of YAML",
                lines(&["password: |", "  CANARY", "  CANARY two", "room: x"]),
            ),
            (
                "a folded block of YAML",
                lines(&["password: >-", "  CANARY"]),
            ),
            ("a line behind a name", lines(&["password:", "  CANARY"])),
            (
                "a section",
                lines(&["[credentials]", "ann = CANARY", "", "[rooms]", "a = b"]),
            ),
            (
                "CSV",
                lines(&["user,password,room", "ann,CANARY,x", "bob,CANARY,y"]),
            ),
            ("TSV", lines(&["user\ttoken", "ann\tCANARY"])),
            (
                "a table of Markdown",
                lines(&["| user | token |", "|---|---|", "| ann | CANARY |"]),
            ),
            (
                "a list of keywords",
                json!(["^ ", "~:password", "CANARY", "~:user", "ann"]).to_string(),
            ),
            (
                "columns and rows",
                json!({"columns": ["user", "password"], "rows": [["ann", "CANARY"]]}).to_string(),
            ),
            (
                "names and values",
                json!({"names": ["user", "password"], "values": ["ann", "CANARY"]}).to_string(),
            ),
            (
                "a flat list",
                json!({"headers": ["X-Api-Key", "CANARY", "Accept", "text/plain"]}).to_string(),
            ),
            (
                "a list with numbers as names",
                json!({"0": "login", "1": "ann", "2": "CANARY"}).to_string(),
            ),
            (
                "an environment",
                json!({"env": ["HOME=/x", "TOKEN=CANARY"]}).to_string(),
            ),
            (
                "pairs with an index in it",
                "user=ann&password=ab[1]CANARY".into(),
            ),
        ],
        of,
    );
}

#[test]
fn no_secret_of_counted_strings_is_written() {
    assert_hidden(
        &[
            ("RESP", resp(&["AUTH", "CANARY"])),
            ("RESP with a user", resp(&["auth", "ann", "CANARY"])),
            (
                "RESP, HELLO",
                resp(&["HELLO", "3", "AUTH", "ann", "CANARY"]),
            ),
            (
                "RESP, CONFIG",
                resp(&["CONFIG", "SET", "requirepass", "CANARY"]),
            ),
            (
                "two commands of RESP",
                resp(&["PING"]) + &resp(&["AUTH", "CANARY"]),
            ),
            ("netstrings", "5:login,3:ann,6:CANARY,".into()),
            ("Guacamole", "4.auth,3.ann,6.CANARY;".into()),
            ("bencode", "d8:password6:CANARY4:user3:anne".into()),
            (
                "serialized PHP",
                "a:1:{s:8:\"password\";s:6:\"CANARY\";}".into(),
            ),
        ],
        of,
    );
}

#[test]
fn no_secret_of_bytes_that_are_sent_as_text_is_written() {
    let message_pack: &[u8] = b"\x82\xa4user\xa3ann\xa8password\xa6CANARY";
    let in_a_list: &[u8] = b"\x93\xa4auth\xa3ann\xa6CANARY";
    let long: &[u8] = b"\x81\xa5token\xd9\x23CANARY-and-more-of-it-to-a-length-x";
    let of_ten: &[u8] = b"\x81\xaaprivatekey\xaaCANARYmore";
    let connect: &[u8] = b"\x10\x22\0\x04MQTT\x04\xc2\0\x3c\0\x03cid\0\x03ann\0\x06CANARY";
    let old: &[u8] = b"\x10\x22\0\x06MQIsdp\x03\xc2\0\x3c\0\x06CANARY\0\x03ann\0\x06CANARY";
    let cbor: &[u8] = b"\xa2duserCannhpasswordfCANARY";
    let bson: &[u8] = b"\x20\0\0\0\x02password\0\x07\0\0\0CANARY\0\0";
    let amf: &[u8] = b"\x03\0\x08password\x02\0\x06CANARY\0\0\x09";
    let plain: &[u8] = b"\0ann\0CANARY";
    let mut cases = Vec::new();
    for (name, bytes) in [
        ("MessagePack", message_pack),
        ("a list of MessagePack", in_a_list),
        ("a long string of MessagePack", long),
        ("lengths that are letters of Latin-1", of_ten),
        ("MQTT", connect),
        ("MQTT 3.1", old),
        ("CBOR", cbor),
        ("BSON", bson),
        ("AMF", amf),
        ("SASL PLAIN", plain),
    ] {
        cases.extend(as_text(bytes).map(|text| (name, text)));
    }
    assert_hidden(&cases, of);
}

#[test]
fn no_secret_of_a_command_line_is_written() {
    assert_hidden(
        &[
            ("curl", "curl -u ann:CANARY https://h.example/x".into()),
            (
                "curl, long",
                "curl --user ann:CANARY https://h.example/x".into(),
            ),
            (
                "curl, glued",
                "curl -uann:CANARY https://h.example/x".into(),
            ),
            (
                "curl with a header",
                "curl -H 'X-Api-Key: CANARY' https://h.example/".into(),
            ),
            ("a flag", "deploy --token CANARY --room x".into()),
            (
                "a flag with a sign",
                "deploy --api-key=CANARY --room x".into(),
            ),
            ("a flag with one dash", "deploy -password CANARY".into()),
            (
                "a flag in quotes",
                "deploy --token 'CANARY two' --room x".into(),
            ),
            ("-p", "sshpass -p CANARY ssh h.example".into()),
            ("-p, glued", "mysql -u root -pCANARY shop".into()),
            ("-a", "redis-cli -a CANARY ping".into()),
            (
                "arguments",
                json!({"argv": ["deploy", "--token", "CANARY"]}).to_string(),
            ),
            (
                "arguments of curl",
                json!({"argv": ["curl", "-u", "ann:CANARY", "https://h.example"]}).to_string(),
            ),
            (
                "a terminal",
                json!(["stdin", "export API_TOKEN=CANARY\r"]).to_string(),
            ),
            (
                "a flag in JSON",
                json!({"cmd": "deploy --token CANARY"}).to_string(),
            ),
        ],
        of,
    );
}

#[test]
fn no_secret_behind_another_separator_is_written() {
    assert_hidden(
        &[
            ("bars", "auth|CANARY".into()),
            ("bars and a user", "login|ann|CANARY".into()),
            ("units", "auth\u{1f}ann\u{1f}CANARY".into()),
            ("semicolons", "login;ann;CANARY".into()),
            ("commas", "AUTH,CANARY".into()),
            ("tabs", "auth\tCANARY".into()),
            (
                "FIX",
                "8=FIX.4.4\u{1}35=A\u{1}553=ann\u{1}554=CANARY\u{1}10=000\u{1}".into(),
            ),
            (
                "a command in JSON",
                json!({"cmd": "auth CANARY"}).to_string(),
            ),
            ("bars in JSON", json!({"data": "auth|CANARY"}).to_string()),
            ("a path", json!({"path": "/v1/token/CANARY"}).to_string()),
            (
                "a versioned token",
                json!({"x": "v1.token.CANARY"}).to_string(),
            ),
            (
                "a versioned token in text",
                "use v2.local.CANARY here".into(),
            ),
            ("an arrow", "{:token => \"CANARY\"}".into()),
            (
                "a statement",
                "CREATE USER ann IDENTIFIED BY 'CANARY'".into(),
            ),
            (
                "another statement",
                "ALTER ROLE ann WITH PASSWORD 'CANARY'".into(),
            ),
            (
                "a sentence",
                json!({"text": "my password is CANARY"}).to_string(),
            ),
            ("a call", "(login \"ann\" \"CANARY\")".into()),
            ("a command of a bot", "!auth CANARY".into()),
            ("a command that sets", "config set api_secret CANARY".into()),
            ("a wide colon", "密码：CANARY".into()),
            (
                "a string over several lines",
                "token = \"\"\"\nCANARY\n\"\"\"".into(),
            ),
            (
                "a form of parts",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nCANARY\r\n--b--"
                    .into(),
            ),
        ],
        of,
    );
}

#[test]
fn no_secret_of_an_element_is_written() {
    assert_hidden(
        &[
            ("an attribute", "<login user=\"ann\" password=\"CANARY\"/>".into()),
            ("attributes of a name and a value", "<param name=\"token\" value=\"CANARY\"/>".into()),
            ("an attribute behind its value", "<param value='CANARY' name='token'/>".into()),
            ("an element of a named one", "<property name=\"password\">CANARY</property>".into()),
            ("an element within a secret", "<credentials><a>CANARY</a></credentials>".into()),
            ("an element with a namespace", "<w:Password Type=\"x\">CANARY</w:Password>".into()),
            ("SASL 2", "<authenticate xmlns='urn:xmpp:sasl:2' mechanism='PLAIN'><initial-response>CANARY</initial-response></authenticate>".into()),
        ],
        of,
    );
}

#[test]
fn no_secret_that_is_written_with_escapes_is_written() {
    let body = json!(json!({"token": "CANARY"}).to_string()).to_string();
    let deep = (0..7).fold(json!({"token": "CANARY"}).to_string(), |text, _| {
        json!({"d": text}).to_string()
    });
    assert_hidden(
        &[
            ("a body that is a string of JSON", format!("SEND\ndestination:/x\n\n{body}\0")),
            ("a message that is a string of JSON", body.clone()),
            ("JSON in seven strings", deep),
            ("JSON with escapes outside of a string", "log {\\\"token\\\":\\\"CANARY\\\"}".into()),
            ("JSON with percent signs", "payload=%7B%22token%22%3A%22CANARY%22%7D".into()),
            ("JSON with percent signs, twice", "payload=%257B%2522token%2522%253A%2522CANARY%2522%257D".into()),
            ("JSON with entities", "{&quot;token&quot;:&quot;CANARY&quot;}".into()),
            ("JSON with numbers of letters outside of a string", "{\\u0022token\\u0022:\\u0022CANARY\\u0022}".into()),
            ("JSON over several lines, broken", "{\"token\":\n  \"CANARY\",".into()),
            ("a private key of PGP", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nCANARY\n-----END PGP PRIVATE KEY BLOCK-----".into()),
        ],
        of,
    );
}

#[test]
fn no_secret_of_another_field_is_written() {
    let signed = format!("IloyUlJ{RANDOM}--9f86d081884c7d659a2feaa0c55ad015");
    let stream = json!({"channel": "StreamsChannel", "signed_stream_name": signed}).to_string();
    assert_hidden(
        &[
            ("a signed name", json!({"signed_stream_name": "CANARY"}).to_string()),
            ("a signed name in a string", json!({"command": "subscribe", "identifier": stream}).to_string()),
            ("an identifier of a client", json!({"client_id": RANDOM}).to_string()),
            ("an identifier of a device", json!({"deviceId": RANDOM}).to_string()),
            ("a key alone", json!({"key": "CANARY"}).to_string()),
            ("a key that is no word", json!({"op": "open", "key": "x7-CANARY-4f9"}).to_string()),
            ("a change of a field", json!([{"op": "replace", "path": "/user/password", "value": "CANARY"}]).to_string()),
            ("a user and a letter", json!({"u": "ann", "p": "CANARY"}).to_string()),
            ("a login with names of its own", json!({"type": "auth", "x9": "CANARY"}).to_string()),
            ("a call with names of its own", json!({"method": "auth.login", "params": {"x": {"y1": "CANARY"}}}).to_string()),
            ("sign in", json!({"type": "sign_in", "data": "CANARY"}).to_string()),
            ("logIn", json!({"type": "logIn", "data": "CANARY"}).to_string()),
            ("a login by its name", json!({"login": {"user": "ann", "x": "CANARY"}}).to_string()),
            ("a login by its name alone", json!({"login": "CANARY"}).to_string()),
            ("a query that signs in", json!({"query": "mutation L($p: String!) { login(p: $p) { id } }", "variables": {"p": "CANARY"}}).to_string()),
            ("a short call", json!({"id": 1, "m": "login", "p": ["ann", "CANARY"]}).to_string()),
            ("numbers below a call", json!({"cmd": "login", "args": {"0": "ann", "1": "CANARY"}}).to_string()),
            ("a key in capitals", json!({"KEY": "CANARY9f8e7"}).to_string()),
            ("words of a wallet", json!({"mnemonic": "CANARY one two", "seedPhrase": "CANARY", "privkey": "CANARY"}).to_string()),
            ("short names", json!({"tkn": "CANARY", "pswd": "CANARY", "passphrase": "CANARY", "macaroon": "CANARY"}).to_string()),
            ("more languages", json!({"пароль": "CANARY", "密码": "CANARY", "パスワード": "CANARY", "hasło": "CANARY", "wachtwoord": "CANARY", "lösenord": "CANARY", "clave": "CANARY"}).to_string()),
            ("letters of five bits", json!({"x": "JBSWY3DPCANARYHPK3PXPJ2WTFA5KG7QZ"}).to_string()),
            ("letters alone", json!({"x": "qZkmXvCANARYLpRtWyBnGhJkQwErTz"}).to_string()),
        ],
        of,
    );
}

#[test]
fn no_secret_of_a_packet_is_written() {
    assert_hidden(
        &[
            (
                "a packet with its length",
                r#"21:40{"anything":"CANARY"}"#.into(),
            ),
            (
                "a packet with its length and an event",
                r#"19:42["login","CANARY"]"#.into(),
            ),
            (
                "a list with the call behind numbers",
                r#"[2,"1","Authorize",{"idTag":"CANARY"}]"#.into(),
            ),
            (
                "a packet of 0.9",
                r#"5:::{"name":"login","args":["CANARY"]}"#.into(),
            ),
        ],
        of_socket_io,
    );
}
