//! What looks a little like a secret and is none.

use super::{Talk, made, of};
use serde_json::json;

#[test]
fn what_only_looks_like_a_secret_is_copied() {
    let mut cases: Vec<String> = [
        json!({"type": "subscribe", "channel": "v1.session.update", "topic": "v2.token.refresh"}),
        json!({"event": "keydown", "payload": {"key": "w"}}),
        json!({"key": "Enter"}),
        json!({"op": "get", "key": "user:1024"}),
        json!({"op": "get", "key": "score-2024"}),
        json!({"op": "get", "key": "high_score"}),
        json!({"client_id": "web-1024", "device_id": "550e8400-e29b-41d4-a716-446655440000"}),
        json!({"e": "trade", "s": "BNBUSDT", "p": "0.001", "q": "100", "u": 400_900_217}),
        json!({"u": "ann", "p": "12.50"}),
        json!({"signed_in_at": "2026-11-26", "signedUp": true}),
        json!({"columns": ["name", "price"], "rows": [["apple", "1.20"]]}),
        json!({"type": "auth.status", "lang": "en", "client": "web"}),
        json!({"path": "/v1/token/refresh"}),
        json!({"text": "the password is wrong, and the token is gone"}),
        json!({"text": "fast | good | cheap: choose, as you login; later"}),
        json!({"argv": ["ls", "-u", "-p", "/x"]}),
        json!({"login": "ann42", "room": "x"}),
        json!({"query": "query R($r: ID!) { room(id: $r) { name } }", "variables": {"r": "x-17"}}),
        json!([2, "19223201", "Heartbeat", {"v": "x-17"}]),
        json!({"text": "set volume 0.5, put cup 1"}),
        json!({"text": "mkdir -p /srv/rooms"}),
        json!({"text": "say \"{hello}\" and [wait]"}),
        json!({"html": "<p class=\"note\">one &amp; two</p>", "share": "50%25"}),
        json!(["subscribe", "token", "price"]),
        json!({"fields": ["name", "token", "price"]}),
        json!({"x": "changeSymbolAndSubscribeToStreamOfOrders"}),
        json!({"x": "ORDER_BOOK_SNAPSHOT_LEVEL2_BTCUSDT"}),
        json!({"seed": 42, "phrase": "good morning"}),
    ]
    .iter()
    .map(ToString::to_string)
    .collect();
    cases.extend(
        [
            "rooms:\n  - one\n  - two\nprice: 7\n",
            "[rooms]\na = b\n",
            "name,price\napple,1.20\n",
            "well, a token\nof thanks, Ann",
            "*2\r\n$3\r\nGET\r\n$5\r\nprice\r\n",
            "4:room,3:one,",
            "\u{82}\u{a4}room\u{a3}one\u{a5}price\u{7}",
            "a|b|c",
            "8=FIX.4.4\u{1}35=V\u{1}262=x\u{1}146=1\u{1}",
            "curl -s https://h.example/x",
            "<item name=\"price\" value=\"12\"/>",
            "move\u{0}4\u{0}7",
            "12:30:45",
        ]
        .map(str::to_owned),
    );
    for text in cases {
        let capture = of(Talk::default().sent(&text).told("x"));
        let made = made(capture.to_string().as_bytes(), &[]);
        assert_eq!(made.script(), [text], "{:#?}", made.ran);
    }
}
