//! Which parts of a text are secrets: by their name, by their place, or by how they look.
//!
//! A text may be JSON, may hold JSON between other text, or none: lines of STOMP, IRC or a form. A
//! string of JSON may hold all of that again.

mod commands;
mod escaped;
mod json;
mod lines;
mod lists;
mod names;
mod places;
mod plain;
mod secret;
mod values;

pub(super) use names::{is_demand, is_open, is_secret_name};
pub(super) use secret::Secret;
pub(super) use values::is_word;

use std::ops::Range;

/// Texts within strings within texts that are looked into.
const DEEPEST: usize = 5;

/// The secrets of a text, in their order and apart from each other.
pub(super) fn secrets(text: &str) -> Vec<Secret> {
    apart(text, look(text, 0))
}

/// True of a value that is a secret by how it looks.
pub(super) fn is_like_token(text: &str) -> bool {
    !values::tokens(text).is_empty()
}

fn look(text: &str, depth: usize) -> Vec<Secret> {
    let (mut found, mut from) = (Vec::new(), 0);
    let fragments = json::fragments(text);
    if depth > DEEPEST {
        // Nothing says what it holds.
        let range = 0..text.len();
        let name = "value".to_owned();
        found.extend((!fragments.is_empty()).then_some(Secret { range, name }));
        return found;
    }
    let plain = |from: usize, to: usize, out: &mut Vec<Secret>| {
        let part = &text[from..to];
        plain::look(part, depth, &mut |range, name| {
            let range = from + range.start..from + range.end;
            out.push(Secret { range, name });
        });
        let begin = out.len();
        escaped::look(part, &|within| look(within, depth + 1), out);
        for secret in &mut out[begin..] {
            secret.range = from + secret.range.start..from + secret.range.end;
        }
    };
    for fragment in &fragments {
        plain(from, fragment.start, &mut found);
        from = fragment.end;
        json::look(
            text,
            fragment.clone(),
            &|within| look(within, depth + 1),
            &mut found,
        );
    }
    plain(from, text.len(), &mut found);
    if !fragments.is_empty() {
        let mut whole = Vec::new();
        plain(0, text.len(), &mut whole);
        whole.retain(|secret| crosses(text, &secret.range, &fragments));
        found.extend(whole);
    }
    plain::look_at_frame(text, &mut found);
    found
}

/// True of a part of a text that goes over JSON, and has more of the text before or behind it:
/// `password=a["b"]c`.
fn crosses(text: &str, range: &Range<usize>, fragments: &[Range<usize>]) -> bool {
    let Some(first) = fragments
        .iter()
        .find(|of| of.start < range.end && range.start < of.end)
    else {
        return false;
    };
    let behind = text.get(first.end..range.end).unwrap_or_default();
    range.start < first.start || range.start == first.start && !behind.trim().is_empty()
}

/// Puts together what overlaps, and leaves out what is empty.
pub(super) fn apart(text: &str, mut found: Vec<Secret>) -> Vec<Secret> {
    found.retain(|of| !text[of.range.clone()].trim().is_empty());
    found.sort_by_key(|of| (of.range.start, std::cmp::Reverse(of.range.end)));
    let mut out: Vec<Secret> = Vec::new();
    for of in found {
        match out.last_mut() {
            Some(last) if of.range.start < last.range.end => {
                last.range.end = last.range.end.max(of.range.end);
            }
            _ => out.push(of),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hidden(text: &str) -> String {
        let (mut out, mut from) = (String::new(), 0);
        for secret in secrets(text) {
            out.push_str(&text[from..secret.range.start]);
            out.push_str(&format!("<{}>", secret.name));
            from = secret.range.end;
        }
        out + &text[from..]
    }

    #[test]
    fn secrets_are_found_in_whatever_holds_them() {
        for (text, expected) in [
            (
                "CONNECT\nlogin:u\npasscode:a b\nx-own:c\n\n\0",
                "CONNECT\nlogin:u\npasscode:<passcode>\nx-own:<x-own>\n\n\0",
            ),
            (
                "SEND\nAuthorization:Bearer x y\n\n{\"pin\":12}\0",
                "SEND\nAuthorization:<Authorization>\n\n{\"pin\":<pin>}\0",
            ),
            (
                r#"["CONNECT\npasscode:\"x\n\n\u0000"]"#,
                r#"["CONNECT\npasscode:<passcode>\n\n\u0000"]"#,
            ),
            (
                r#"{"d":"{\"token\":\"abc\"}"}"#,
                r#"{"d":"{\"token\":\"<token>\"}"}"#,
            ),
            (
                r#"42["x",{"auth":{"user":"a","n":1,"ok":true}}]"#,
                r#"42["x",{"auth":{"user":"<user>","n":<n>,"ok":true}}]"#,
            ),
            (r#"40{"t":"abc"}"#, r#"40{"t":"<t>"}"#),
            (r#"40/admin,{"t":"abc"}"#, r#"40/admin,{"t":"<t>"}"#),
            (
                r#"42["authenticate","abc"]"#,
                r#"42["authenticate","<authenticate>"]"#,
            ),
            (
                r#"{"op":"auth","args":["k",17,"s"]}"#,
                r#"{"op":"auth","args":["<args>",17,"<args>"]}"#,
            ),
            (
                r#"{"payload":{"h":{"x":"abc"}},"type":"connection_init"}"#,
                r#"{"payload":{"h":{"x":"<x>"}},"type":"connection_init"}"#,
            ),
            (
                r#"{"type":"login","user":"ann","password":"p"}"#,
                r#"{"type":"login","user":"ann","password":"<password>"}"#,
            ),
            (
                "user=ann&password=a%20b&op=x",
                "user=ann&password=<password>&op=x",
            ),
            (
                "GET /x?access_token=abc&v=2",
                "GET /x?access_token=<access_token>&v=2",
            ),
            (
                r#"{"u":"wss://a:b@h/?token=c&d=1"}"#,
                r#"{"u":"wss://<user>@h/?token=<token>&d=1"}"#,
            ),
            (
                "PASS abc def\r\nNICK ann\r\nJOIN #a",
                "PASS <PASS>\r\nNICK <NICK>\r\nJOIN #a",
            ),
            ("login ann pw", "login <login>"),
            ("AUTH {\"value\":\"abc\"}", "AUTH {\"value\":\"<value>\"}"),
            (
                "PRIVMSG NickServ :IDENTIFY abc",
                "PRIVMSG NickServ :IDENTIFY <IDENTIFY>",
            ),
            (r#"{"h":"Bearer abc"}"#, r#"{"h":"Bearer <Bearer>"}"#),
            (
                "<auth mechanism='PLAIN'>AHVz</auth>",
                "<auth mechanism='PLAIN'><auth></auth>",
            ),
            (
                r#"{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln":1}"#,
                r#"{"<name>":1}"#,
            ),
            (
                r#"{"x":"9f86d081884c7d659a2feaa0c55ad015"}"#,
                r#"{"x":"<x>"}"#,
            ),
            (
                "{\"token\":\"a\"}\n{\"token\":\"b\"}\u{1e}",
                "{\"token\":\"<token>\"}\n{\"token\":\"<token>\"}\u{1e}",
            ),
        ] {
            assert_eq!(hidden(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            r#"{"type":"say","text":"hello {you}","room":7}"#,
            r#"{"text":"pass the salt, and login later: at 5"}"#,
            r#"{"id":"V1StGXR8_Z5jdHi6B-myT","at":"2026-11-26T00:00:00.000Z"}"#,
            r#"{"type":"session.update","session":{"voice":"alloy","modalities":["text"]}}"#,
            r#"{"token":"","pin":null,"auth":true}"#,
            "SUBSCRIBE\nid:0\ndestination:/topic/all\n\n\0",
            "CONNECT\naccept-version:1.2\nhost:/\nheart-beat:0,0\n\n\0",
            "ask 17",
            "start",
            "3",
            "",
            "40",
            "40/admin,",
            r#"["1","1","room:lobby","phx_join",{}]"#,
            "https://h.example/a/b?page=2",
        ] {
            assert_eq!(hidden(text), text);
        }
    }

    proptest! {
        #[test]
        fn secrets_lie_apart_within_any_text(
            text in r#"([ -~\n\r\x00\u{e9}\u{1f980}]|token|PASS |"|\\u00|\\|[{}\[\]:,=&]|eyJ|40|42/a,){0,40}"#,
        ) {
            let mut from = 0;
            for secret in secrets(&text) {
                prop_assert!(secret.range.start >= from && !secret.range.is_empty());
                prop_assert!(text.get(secret.range.clone()).is_some());
                from = secret.range.end;
            }
        }

        #[test]
        fn secrets_lie_apart_within_any_json(
            value in r#"([ -~]|\\u[0-9a-f]{4}|\\"|\\n|\u{e9}){0,30}"#,
            name in "[a-zA-Z_]{0,3}(token|auth|x|id)",
        ) {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            for text in [
                format!(r#"{{"{name}":"{value}"}}"#),
                format!(r#"["{name}",{{"a":"{quoted}","b":["{name}=x&{quoted}"]}}]"#),
            ] {
                let mut from = 0;
                for secret in secrets(&text) {
                    prop_assert!(secret.range.start >= from && !secret.range.is_empty());
                    prop_assert!(text.get(secret.range.clone()).is_some());
                    from = secret.range.end;
                }
            }
        }
    }
}
