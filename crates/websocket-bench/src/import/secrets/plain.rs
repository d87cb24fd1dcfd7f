//! The secrets of a text that is no JSON: `name: value`, `name=value`, commands of a line, elements of
//! XML, users in URLs, and tokens.

use super::names::{is_secret_name, is_verb, may_be_secret};
use super::secret::Secret;
use super::values::{is_word, regex, tokens};
use super::{commands, json, lines, lists, places};
use regex::{Captures, Regex};
use std::ops::Range;
use std::sync::LazyLock;

/// A header line, as STOMP and HTTP have it.
static HEADER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?m)^[ \t]*([A-Za-z][\w.-]{0,63})[ \t]*:[ \t]*([^\r\n\x00]+)"));
/// A name within a line, up to its value.
static PAIR: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(\p{L}[\w.%\[\]-]{0,63})["']?[ \t]*[:=：][ \t]*"#));
/// Where the next pair of a line begins.
static NEXT: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"&|[;,\s]+["']?\p{L}[\w.%\[\]-]*["']?[ \t]*[:=]"#));
/// A line that begins with a command.
static LINE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?m)^[ \t]*([/(!.]?)([A-Za-z]{2,16})[ \t]+([^\r\n\x00]+)"));
/// A command within a line.
static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?m)(?:^|[\s:/])(PASS|NICK|AUTH|AUTHENTICATE|LOGIN|IDENTIFY|OPER|SASL|TOKEN|PASSWORD)[ \t]+:?([^\r\n\x00]+)",
    )
});
/// The same in small letters, in a line that is a command.
static SMALL_COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?m)[ \t](auth|authenticate|login|identify|token|password|passwd|secret)(?: is)?[ \t]+([^\r\n\x00]+)",
    )
});
/// The credentials of HTTP (RFC 9110, 11.4).
static SCHEME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?m)(?:^|[\s:,="'])(Bearer|Basic|Digest|Token|Negotiate|ApiKey|bearer)[ \t]+([^\s"',;<>\x00]+)"#,
    )
});
static USER: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"[A-Za-z][A-Za-z0-9+.-]*://([^/?#\s@"']+)@"#));
static ELEMENT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"<([A-Za-z][\w.:-]*)([^<>]*)>(?:\s*<([A-Za-z][\w.:-]*)[^<>]*>)?(?:<!\[CDATA\[)?([^<>]+?)(?:\]\]>)?<",
    )
});
/// An attribute of an element with its value.
static ATTRIBUTE: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"([A-Za-z][\w.:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')"#));
static TAG: LazyLock<Regex> = LazyLock::new(|| regex(r"<[A-Za-z][^<>]*>"));
/// A part of a path behind one that is called a secret.
static SEGMENT: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"/([A-Za-z][\w-]{1,30})/([^/?#&\s"'<>\\]+)"#));
/// A token that begins with its version and what it is: those of PASETO, and of services.
static VERSIONED: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?:^|[^\w.])v\d\.([A-Za-z]+)\.([^\s"',;<>]+)"#));
/// Shortest text that is looked into, in bytes.
const SHORTEST: usize = 4;
/// Headers of STOMP's first frame that say nothing of who the client is.
const OF_STOMP: [&str; 6] = [
    "accept-version",
    "content-length",
    "content-type",
    "heart-beat",
    "host",
    "login",
];

/// Finds the secrets of a text that stands within so many others.
pub(super) fn look(text: &str, depth: usize, out: &mut dyn FnMut(Range<usize>, String)) {
    if text.len() < SHORTEST {
        return;
    }
    // Most texts have nothing of what an expression begins to look for.
    let has = |bytes: &[u8]| text.bytes().any(|byte| bytes.contains(&byte));
    if has(b":=") || text.contains('：') {
        look_at_pairs(text, out);
    }
    if has(b" \t") {
        look_at_commands(text, depth, out);
    }
    if text.contains("://") && has(b"@") {
        for found in USER.captures_iter(text) {
            out(range_of(&found, 1), "user".to_owned());
        }
    }
    if has(b"<") {
        look_at_elements(text, out);
    }
    if has(b"/") {
        let mut from = 0;
        while let Some(found) = SEGMENT.captures_at(text, from) {
            from = range_of(&found, 1).end;
            if is_secret_name(&found[1]) && !is_word(&found[2]) {
                out(range_of(&found, 2), found[1].to_owned());
            }
        }
    }
    for found in VERSIONED.captures_iter(text) {
        let is_secret = is_secret_name(&found[1]) || ["local", "public"].contains(&&found[1]);
        if is_secret && !is_word(&found[2]) {
            out(range_of(&found, 2), found[1].to_owned());
        }
    }
    commands::look(text, out);
    places::look(text, out);
    lines::look(text, out);
    lists::look(text, depth, out);
    for range in tokens(text) {
        out(range, "value".to_owned());
    }
}

/// Finds the contents and the attributes of elements.
fn look_at_elements(text: &str, out: &mut dyn FnMut(Range<usize>, String)) {
    let is_sasl = text.contains("sasl");
    for found in ELEMENT.captures_iter(text) {
        let named = ATTRIBUTE.captures_iter(&found[2]).any(|of| {
            is_label(&of[1]) && is_secret_name(of.get(2).or(of.get(3)).map_or("", |of| of.as_str()))
        });
        let is_secret = |name: &str| is_secret_name(name) || is_sasl;
        let inner = found.get(3).is_some_and(|name| is_secret(name.as_str()));
        let may_be = may_be_secret(&found[1]) && !is_word(&found[4]);
        if is_secret(&found[1]) || inner || named || may_be {
            out(range_of(&found, 4), found[1].to_owned());
        }
    }
    for tag in TAG.find_iter(text) {
        let place = |of: regex::Match<'_>| tag.start() + of.start()..tag.start() + of.end();
        let attributes = ATTRIBUTE.captures_iter(tag.as_str()).filter_map(|of| {
            let value = of.get(2).or(of.get(3))?;
            Some((of.get(1)?.as_str(), value))
        });
        let attributes: Vec<_> = attributes.collect();
        let label = attributes
            .iter()
            .find(|(name, value)| is_label(name) && is_secret_name(value.as_str()));
        for (name, value) in &attributes {
            match label {
                _ if is_secret_name(name) => out(place(*value), (*name).to_owned()),
                Some((_, label)) if *name == "value" => {
                    out(place(*value), label.as_str().to_owned());
                }
                _ => {}
            }
        }
    }
}

fn is_label(attribute: &str) -> bool {
    ["name", "key", "id"].contains(&attribute)
}

/// Finds `name: value` and `name=value`.
fn look_at_pairs(text: &str, out: &mut dyn FnMut(Range<usize>, String)) {
    for found in HEADER.captures_iter(text) {
        if is_secret_name(&found[1])
            && !found[2].starts_with("//")
            && !lines::opens_block(&found[2])
        {
            out(range_of(&found, 2), found[1].to_owned());
        }
    }
    let mut from = 0;
    while let Some(found) = PAIR.captures_at(text, from) {
        from = range_of(&found, 0).end;
        if is_secret_name(&found[1]) {
            let value = value_at(text, from);
            from = value.end;
            out(value, found[1].to_owned());
        } else if may_be_secret(&found[1]) {
            let value = value_at(text, from);
            if !is_word(&text[value.clone()]) {
                out(value, found[1].to_owned());
            }
        }
    }
}

/// Finds commands with their arguments, and credentials behind their scheme.
fn look_at_commands(text: &str, depth: usize, out: &mut dyn FnMut(Range<usize>, String)) {
    if depth == 0 || text.starts_with('/') {
        for found in SMALL_COMMAND.captures_iter(text) {
            out(range_of(&found, 2), found[1].to_owned());
        }
    }
    for found in LINE.captures_iter(text) {
        if (depth == 0 || !found[1].is_empty()) && is_verb(&found[2]) {
            out(range_of(&found, 3), found[2].to_owned());
        }
    }
    let is_large = |pair: &[u8]| pair.iter().all(u8::is_ascii_uppercase);
    if text.as_bytes().windows(2).any(is_large) {
        for found in COMMAND.captures_iter(text) {
            out(range_of(&found, 2), found[1].to_owned());
        }
    }
    let schemes = ["earer", "asic", "igest", "oken", "egotiate", "piKey"];
    if schemes.iter().any(|scheme| text.contains(scheme)) {
        for found in SCHEME.captures_iter(text) {
            let value = &found[2];
            let is_token =
                value.len() >= 16 || value.bytes().any(|byte| b"0123456789=".contains(&byte));
            let is_last = range_of(&found, 2).end == text.len();
            if found[1].eq_ignore_ascii_case("bearer") || is_token || is_last {
                out(range_of(&found, 2), found[1].to_owned());
            }
        }
    }
}

/// Finds what the first frame of STOMP says of the client by headers of its own.
pub(super) fn look_at_frame(text: &str, out: &mut Vec<Secret>) {
    let is_first = ["CONNECT", "STOMP"].iter().any(|command| {
        let rest = text.strip_prefix(command);
        rest.is_some_and(|rest| rest.starts_with('\n') || rest.starts_with("\r\n"))
    });
    if !is_first || !json::fragments(text).is_empty() {
        return;
    }
    for found in HEADER.captures_iter(text) {
        let name = found[1].to_ascii_lowercase();
        if !OF_STOMP.contains(&name.as_str()) {
            out.push(Secret {
                range: range_of(&found, 2),
                name: found[1].to_owned(),
            });
        }
    }
}

fn range_of(found: &Captures<'_>, at: usize) -> Range<usize> {
    found.get(at).map_or(0..0, |part| part.range())
}

/// The value at a place: within its quotes, or up to the next pair or the end of the line.
fn value_at(text: &str, at: usize) -> Range<usize> {
    let rest = &text[at..];
    let line = &rest[..rest.find(['\r', '\n', '\0']).unwrap_or(rest.len())];
    if lines::opens_block(line) {
        return at..at;
    }
    // JSON that is broken goes on with its value on the next line.
    let next = rest.trim_start();
    if line.is_empty() && next.starts_with(['"', '\'']) {
        let begin = at + rest.len() - next.len() + 1;
        let end = next[1..]
            .find(&next[..1])
            .map_or(text.len(), |end| begin + end);
        return begin..end;
    }
    if let Some(value) = rest.strip_prefix("\"\"\"") {
        let length = value.find("\"\"\"").unwrap_or(value.len());
        return at + 3..at + 3 + length;
    }
    for quote in ['"', '\''] {
        let within = line.strip_prefix(quote);
        if let Some((value, behind)) = within.and_then(|within| within.split_once(quote))
            && !behind.starts_with(char::is_alphanumeric)
        {
            return at + 1..at + 1 + value.len();
        }
    }
    let end = NEXT.find(line).map_or(line.len(), |next| next.start());
    at..at + line[..end].trim_end().len()
}
