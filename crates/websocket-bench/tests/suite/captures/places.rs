//! Secrets that their place alone tells, those that the server asked for, and what import says of the
//! values that it copies.

use super::{CANARY, Talk, made, of};
use serde_json::{Value, json};

fn after(prompt: &str, said: &str) -> Talk {
    Talk::default().told(prompt).sent(said).told("ok")
}

fn alone(said: &str) -> Talk {
    Talk::default().sent(said).told("ok")
}

/// Imports each, and names those of which a secret is written or no plan is made.
#[track_caller]
fn assert_hidden(cases: Vec<(&str, Talk)>) {
    let mut wrong = Vec::new();
    for (name, talk) in cases {
        let capture = of(talk).to_string();
        assert!(capture.contains(CANARY), "{name}");
        let made = super::made_by(capture.as_bytes(), &[]);
        if made.holds_canary() || made.ran.code != 0 {
            wrong.push(format!("{name}: {}{}", made.ran.stderr, made.ran.stdout));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}

fn of_texts(cases: &[(&'static str, &str)]) {
    let talks = cases.iter().map(|(name, text)| (*name, alone(text)));
    assert_hidden(talks.collect());
}

fn of_values(cases: &[(&'static str, Value)]) {
    let talks = cases
        .iter()
        .map(|(name, value)| (*name, alone(&value.to_string())));
    assert_hidden(talks.collect());
}

#[test]
fn no_secret_behind_what_a_command_begins_with_is_written() {
    of_texts(&[
        ("Redis, a user", "ACL SETUSER a on >CANARY ~k:* +@all"),
        (
            "Redis, a digest",
            "acl setuser a on #CANARYe3b0c4 resetkeys",
        ),
        (
            "Redis, counted",
            "*5\r\n$3\r\nACL\r\n$7\r\nSETUSER\r\n$1\r\na\r\n$2\r\non\r\n$7\r\n>CANARY\r\n",
        ),
        ("Redis, MIGRATE", "MIGRATE h 6379 k 0 100 AUTH2 ann CANARY"),
        ("IRC, a room with a key", "JOIN #room CANARY"),
        ("IRC, two rooms", ":ann JOIN #one,#two CANARY,CANARY"),
        ("IRC, a key of a room", "MODE #room +k CANARY"),
        ("IRC, an account", "REGISTER * ann@h.example CANARY"),
        ("IRC, a code", "VERIFY ann CANARY"),
        ("services, ghost", "PRIVMSG NickServ :GHOST ann CANARY"),
        ("services, short", "NS REGAIN ann CANARY"),
        ("services, set", "/msg NickServ set password CANARY"),
        ("a game", "/register CANARY CANARY"),
        ("a game's console", "rcon CANARY status"),
        ("a dungeon", "connect ann CANARY"),
        ("POP3", "APOP ann CANARY"),
        ("a pipe", "echo CANARY | sudo -S ls"),
        (
            "a pipe with quotes",
            "printf '%s CANARY' | docker login h.example",
        ),
        ("a here-string", "cryptsetup open /dev/x y <<< CANARY"),
        ("an archive", "zip -P CANARY x.zip y"),
        ("an archive, glued", "7z x -pCANARY y.7z"),
        ("a directory", "ldapsearch -x -D cn=ann -w CANARY"),
        ("a share", "smbclient //h/x -U ann%CANARY"),
        ("a desktop", "xfreerdp /u:ann /p:CANARY /v:h"),
        ("a file of users", "htpasswd -b file ann CANARY"),
        ("a network", "wpa_passphrase home CANARY"),
        ("a source of data", "open ann:CANARY@tcp(h:3306)/shop"),
        ("a database in a file", "PRAGMA key='CANARY'"),
        (
            "a function of a database",
            "SELECT pgp_sym_decrypt(x, 'CANARY') FROM y",
        ),
        (
            "XMPP, a digest",
            "<query xmlns='jabber:iq:auth'><username>ann</username><digest>CANARY</digest></query>",
        ),
    ]);
}

#[test]
fn no_secret_with_json_in_it_is_written() {
    of_texts(&[
        ("brackets", r#"password=x["a"]CANARY"#),
        ("braces", r#"password=a{"b":1}CANARY&user=ann"#),
        ("at its beginning", r#"PASS ["a"]CANARY"#),
        ("between", r#"login ann {"a":1} CANARY"#),
        ("in an element", r#"<password>["a"]CANARY</password>"#),
        ("with percent signs", r#"pass%77ord=x["a"]CANARY"#),
    ]);
    of_values(&[
        ("in a string", json!({"d": "password=x[\"a\"]CANARY"})),
        (
            "in a string of a list",
            json!(["stdin", "token=[\"a\"]CANARY\r"]),
        ),
    ]);
}

#[test]
fn no_secret_by_its_place_in_json_is_written() {
    of_values(&[
        (
            "a purpose by its name",
            json!({"identify": {"t": "CANARY"}}),
        ),
        (
            "a purpose twice",
            json!({"login": {"m": "CANARY", "e": "CANARY-2"}}),
        ),
        (
            "a purpose outside",
            json!({"op": "auth", "d": {"m": "CANARY"}}),
        ),
        ("a command in a list", json!(["JOIN", "#room", "CANARY"])),
        (
            "a user of Redis in a list",
            json!(["ACL", "SETUSER", "a", "on", ">CANARY"]),
        ),
        (
            "a room with a key",
            json!({"type": "join", "room": "x", "key": "CANARY"}),
        ),
        (
            "a code to come in",
            json!({"event": "room:enter", "code": "CANARY"}),
        ),
        ("a ticket", json!({"op": "open", "ticket": "CANARY"})),
        (
            "an invitation",
            json!({"inviteCode": "CANARY", "room": "x"}),
        ),
        ("a licence", json!({"license": "CANARY-1A2B"})),
        (
            "a wireless network",
            json!({"ssid": "home", "psk": "CANARY"}),
        ),
        ("a connection", json!({"connectionString": "Host=h;CANARY"})),
        (
            "a database",
            json!({"run": "SELECT aes_decrypt(x, 'CANARY')"}),
        ),
        ("a short random text", json!({"x": "xK9CANARYm2vL7"})),
        ("a password by its signs", json!({"x": "Tr0ub4CANARYdor&3"})),
        (
            "base64 of a user and more",
            json!({"x": "YW5uOkNBTkFSWXh4", "y": "CANARY0aB1cD2eF3"}),
        ),
    ]);
}

#[test]
fn no_secret_that_the_server_asks_for_is_written() {
    let told = |value: Value| value.to_string();
    let guacamole = "4.args,13.VERSION_1_5_0,8.hostname,8.password;";
    assert_hidden(vec![
        ("a prompt", after("Password:", "CANARY")),
        (
            "a prompt of words",
            after("\r\nEnter passphrase for key x: ", "CANARY\r"),
        ),
        ("a word", after("PIN?", "CANARY hunter")),
        (
            "a terminal",
            after(
                &told(json!(["stdout", "ann's password: "])),
                &told(json!(["stdin", "CANARY\r"])),
            ),
        ),
        (
            "a terminal with names",
            after(
                &told(json!({"type": "out", "data": "Password: "})),
                &told(json!({"type": "in", "x": "CANARY"})),
            ),
        ),
        (
            "a demand",
            after(
                &told(json!({"type": "auth_required"})),
                &told(json!({"x": "CANARY"})),
            ),
        ),
        (
            "a demand in a list",
            after(
                &told(json!(["auth.request", 1])),
                &told(json!(["re", "CANARY"])),
            ),
        ),
        (
            "Guacamole",
            after(guacamole, "7.connect,13.VERSION_1_5_0,1.h,6.CANARY;"),
        ),
    ]);
}

#[test]
fn a_word_that_the_server_asks_for_is_hidden_as_well() {
    let capture = of(after("Password: ", "hunter")).to_string();
    let made = made(capture.as_bytes(), &[]);
    assert_eq!(made.script(), ["{asked}"], "{:#?}", made.ran);
    let capture = of(Talk::default()
        .told(r#"{"type":"auth_ok"}"#)
        .sent(r#"{"room":"lobby-A7x"}"#));
    let made = super::made(capture.to_string().as_bytes(), &[]);
    assert_eq!(
        made.script(),
        [r#"{"room":"lobby-A7x"}"#],
        "{:#?}",
        made.ran
    );
}

#[test]
fn what_is_copied_is_named() {
    let talk = Talk::default()
        .sent(r#"{"type":"say","text":"hello","x":"A7x","n":["one"]}"#)
        .told("ok")
        .sent("open sesame")
        .told("ok");
    let mut entry = super::entry("ws://127.0.0.1:4500/chat?t=sesame&v=", talk);
    entry["request"]["headers"] = json!([]);
    let capture = super::har(&[entry]).to_string();
    let copied = |ran: &crate::support::Ran| {
        let lines = ran.stderr.lines();
        lines
            .filter(|line| line.contains("copied as recorded"))
            .map(str::to_owned)
            .next()
    };
    let told = made(capture.as_bytes(), &[]);
    told.plan();
    let line = copied(&told.ran).unwrap_or_default();
    let names = "copied as recorded: t (URL), x, n, text, message 3. ";
    assert!(line.contains(names), "{line}: {:#?}", told.ran);
    let kept = made(capture.as_bytes(), &["--keep-values"]);
    assert_eq!(copied(&kept.ran), None, "{:#?}", kept.ran);
}
