//! Secrets among the strings of a list that is no JSON: strings with their length before them, bytes that
//! were taken for a text, and fields between separators.

use super::super::purposes::says_purpose;
use super::names::{is_secret_name, is_verb};
use super::places;
use super::values::regex;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A command, and what stands behind it up to the end of the line.
static SEPARATED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?m)^/?([A-Za-z_]{2,20})([|;,\t~^#])([^\s|;,~^#][^\r\n]*)"));
/// Passwords of FIX by the numbers of their fields.
static FIX: LazyLock<Regex> =
    LazyLock::new(|| regex(r"[\x01|](?:96|554|925|1402|1404)=([^\x01|]+)"));
/// Names that stand in a run of letters of CBOR, in which lengths are letters too.
static WITHIN_RUN: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)(?:password|passwd|passcode|passphrase|secret|token|api_?key|credentials?)")
});
/// How Guacamole's answer to `args` begins.
const GUACAMOLE: &str = "7.connect,";
/// Longest name in a list, in bytes.
const LONGEST_NAME: usize = 64;
/// Most digits of a length.
const MOST_DIGITS: usize = 5;
/// Names of MQTT's protocol, with their length (MQTT 5.0, 3.1.2.1).
const MQTT: [&str; 2] = ["\0\u{4}MQTT", "\0\u{6}MQIsdp"];

/// Finds them in a text that stands within so many others.
pub(super) fn look(text: &str, depth: usize, out: &mut dyn FnMut(Range<usize>, String)) {
    if text.bytes().any(|byte| byte.is_ascii_digit()) {
        for group in counted(text) {
            look_at_items(text, &group, out);
            if text.starts_with(GUACAMOLE) {
                look_at_answers(text, &group, out);
            }
        }
    }
    if is_binary(text) {
        look_at_bytes(text, out);
    }
    if text.starts_with("8=FIX") {
        for found in FIX.captures_iter(text) {
            out(
                found.get(1).map_or(0..0, |value| value.range()),
                "password".to_owned(),
            );
        }
    }
    for found in SEPARATED.captures_iter(text) {
        let is_of_prose = depth > 0 && [",", ";", "#"].contains(&&found[2]);
        if !is_of_prose && is_verb(&found[1]) {
            let mut at = found.get(3).map_or(0, |rest| rest.start());
            for field in found[3].split(&found[2]) {
                out(at..at + field.len(), found[1].to_owned());
                at += field.len() + found[2].len();
            }
        }
    }
}

/// Of the answers to what Guacamole asked for by name (its protocol, `args`): all but its version, hosts
/// and numbers.
fn look_at_answers(text: &str, items: &[Range<usize>], out: &mut dyn FnMut(Range<usize>, String)) {
    for item in items.iter().skip(1) {
        let value = &text[item.clone()];
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number && !value.starts_with("VERSION_") && !value.contains(['.', '/']) {
            out(item.clone(), "connect".to_owned());
        }
    }
}

/// Of strings in their order: the one behind a secret's name, and all that follow what a client calls it
/// when it says who it is.
fn look_at_items(text: &str, items: &[Range<usize>], out: &mut dyn FnMut(Range<usize>, String)) {
    let words: Vec<&str> = items.iter().map(|item| &text[item.clone()]).collect();
    for at in places::of_words(&words) {
        out(items[at].clone(), "value".to_owned());
    }
    let mut items = items.iter().cloned();
    let mut before = "";
    while let Some(item) = items.next() {
        let name = &text[item];
        let is_name = name.len() <= LONGEST_NAME
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-.".contains(c));
        let is_called = before.is_empty() || says_purpose(before) || !is_secret_name(name);
        if is_name && is_verb(name) && (is_called || name.eq_ignore_ascii_case("auth")) {
            for item in items {
                out(item, name.to_owned());
            }
            return;
        }
        if is_name
            && is_secret_name(name)
            && let Some(value) = items.next()
        {
            out(value, name.to_owned());
        }
        before = name;
    }
}

/// Lists of strings with their lengths before them: RESP, netstrings, bencode, Guacamole, PHP.
fn counted(text: &str) -> Vec<Vec<Range<usize>>> {
    let (mut groups, mut group): (Vec<_>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(found) = text[at..].find(|c: char| c.is_ascii_digit()) {
        let begin = at + found;
        let digits = text[begin..].bytes().take_while(u8::is_ascii_digit).count();
        let Some(item) = counted_at(text, begin, begin + digits) else {
            at = begin + digits;
            continue;
        };
        // Between two strings of a list stand signs and marks of their types alone.
        let gap = group.last().map_or("", |last| &text[last.end..begin]);
        let is_of_gap = |c: char| "\",;:$\r\n \tdelis".contains(c);
        if !gap.chars().all(is_of_gap) {
            groups.push(std::mem::take(&mut group));
        }
        at = item.end;
        group.push(item);
    }
    groups.push(group);
    groups.retain(|group| group.len() > 1);
    groups
}

/// The string whose length stands at a place, if what follows is as long and ends there.
fn counted_at(text: &str, begin: usize, end: usize) -> Option<Range<usize>> {
    if end - begin > MOST_DIGITS {
        return None;
    }
    let length: usize = text[begin..end].parse().ok()?;
    let is_of_resp = text[..begin].ends_with('$');
    let marks: &[&str] = if is_of_resp {
        &["\r\n"]
    } else {
        &[":\"", ":", "."]
    };
    let mark = marks.iter().find(|mark| text[end..].starts_with(**mark))?;
    let start = end + mark.len();
    let value = text
        .get(start..start + length)
        .filter(|value| !value.is_empty())?;
    let behind = &text[start + value.len()..];
    let ends = match *mark {
        "\r\n" => behind.starts_with("\r\n"),
        ":\"" => behind.starts_with('"'),
        "." => behind.starts_with([',', ';']),
        _ => {
            behind.is_empty()
                || behind.starts_with(|c: char| ",deil".contains(c) || c.is_ascii_digit())
        }
    };
    ends.then(|| start..start + value.len())
}

/// True of a text in which bytes stand that are no letters.
fn is_binary(text: &str) -> bool {
    let text = text.trim_end_matches(['\0', '\u{1e}', '\r', '\n']);
    let is_of_bytes =
        |c: char| c.is_control() && !['\t', '\r', '\n'].contains(&c) || c == '\u{fffd}';
    text.chars().any(is_of_bytes) || text.starts_with(|c| ('\u{a0}'..='\u{bf}').contains(&c))
}

fn look_at_bytes(text: &str, out: &mut dyn FnMut(Range<usize>, String)) {
    let is_of_run = |c: char| (' '..='~').contains(&c) || ['\t', '\r', '\n'].contains(&c);
    let (mut runs, mut at) = (Vec::new(), 0);
    for run in text.split_inclusive(|c| !is_of_run(c)) {
        let bare = run.trim_end_matches(|c| !is_of_run(c));
        if bare.len() > 1 {
            runs.push(at..at + bare.len());
        }
        at += run.len();
    }
    let begin = MQTT
        .iter()
        .find_map(|name| Some(text.find(name)? + name.len()));
    for run in &runs {
        if begin.is_some_and(|begin| run.start >= begin) {
            out(run.clone(), "connect".to_owned());
        }
        let letters = &text[run.clone()];
        let is_word = letters.bytes().all(|byte| byte.is_ascii_graphic());
        let name = WITHIN_RUN.find_iter(letters).last().filter(|_| is_word);
        if let Some(name) = name.filter(|name| name.end() < letters.len()) {
            out(run.start + name.end()..run.end, name.as_str().to_owned());
        }
    }
    // SASL PLAIN (RFC 4616): no other identity, the user, the password.
    let fields: Vec<&str> = text.split('\0').collect();
    if let ["", _, password] = fields[..] {
        out(
            text.len() - password.len()..text.len(),
            "password".to_owned(),
        );
    }
    look_at_items(text, &runs, out);
}
