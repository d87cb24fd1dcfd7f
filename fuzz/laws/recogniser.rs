//! Laws of the recognisers of the built-in dialects on any bytes.
//!
//! They end and do not panic. A message that one of them calls an intact answer has one value at the
//! pointer that the dialect's file names, an object that holds the stamp once, the padding once, and
//! nothing else. A number that is read of a feed, or of a part of an answer, is the only value at its
//! pointer, and so is the key of the one and the stamp of the other.
//! What a step over HTTP keeps of a body stands where its `capture` says.
//! The values are found here by a walk over the text, not by the parser under test.

use ws_load::for_fuzzing::{
    FEED_KEY, FEED_NUMBER, Intact, PADDING, PART_NUMBER, PART_STAMP, feed_number, intact_answers,
    part_of_answer,
};
use ws_load::for_fuzzing_http::{HTTP_PATTERN, http_values};

/// Any message. Returns what was found intact.
pub(crate) fn check(data: &[u8]) -> Vec<Intact> {
    let found = intact_answers(data);
    for answer in &found {
        let text = std::str::from_utf8(data).expect("an intact answer is UTF-8");
        let payload = only(text, &answer.payload);
        let mut held = members(payload);
        held.sort();
        let held: Vec<_> = held
            .into_iter()
            .map(|(name, value)| (name, unescaped(value)))
            .collect();
        let stamp = format!("{:016x}", answer.stamp);
        let expected = [("padding", PADDING), ("stamp", &stamp)];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(held, expected, "{answer:?}: {text:?}");
    }
    check_feed(data);
    check_http(data);
    check_part(data);
    found
}

/// What a step over HTTP keeps of any body.
pub(crate) fn check_http(data: &[u8]) -> [Option<String>; 2] {
    let text = String::from_utf8_lossy(data);
    let [by_pattern, by_pointer] = http_values(data);
    if let Some(value) = &by_pattern {
        let (before, behind) = HTTP_PATTERN;
        assert!(!value.is_empty() && !value.contains(behind), "{text:?}");
        let start = text.find(before).expect("the pattern begins there") + before.len();
        assert!(
            text[start..].starts_with(&format!("{value}{behind}")),
            "{text:?}"
        );
    }
    if let Some(value) = &by_pointer {
        let whole: serde_json::Value = serde_json::from_str(&text).expect("it has a pointer");
        let of = whole.pointer(FEED_NUMBER).expect("it leads there");
        let is_text = of.as_str() == Some(value);
        let number = value.parse::<serde_json::Number>().ok();
        let is_number = number.is_some() && number.as_ref() == of.as_number();
        assert!(is_text || is_number, "{text:?}");
    }
    [by_pattern, by_pointer]
}

/// The number of any message, if one was read as that of a part of an answer.
pub(crate) fn check_part(data: &[u8]) -> Option<u64> {
    let (stamp, number) = part_of_answer(data)?;
    let text = std::str::from_utf8(data).expect("a part of an answer is UTF-8");
    assert_eq!(unescaped(only(text, PART_STAMP)), format!("{stamp:016x}"));
    assert_eq!(written(text, PART_NUMBER).parse(), Ok(number), "{text:?}");
    Some(number)
}

/// The only value at a pointer, without the quotes of a string.
fn written(text: &str, pointer: &str) -> String {
    let written = only(text, pointer);
    match written.starts_with('"') {
        true => unescaped(written),
        false => written.to_owned(),
    }
}

/// The number of any message, if one was read as that of a feed.
pub(crate) fn check_feed(data: &[u8]) -> Option<u64> {
    let number = feed_number(data)?;
    let text = std::str::from_utf8(data).expect("a message of a feed is UTF-8");
    assert_eq!(written(text, FEED_NUMBER).parse(), Ok(number), "{text:?}");
    let key = only(text, FEED_KEY);
    let is_key = key.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit());
    assert!(is_key, "{text:?}");
    Some(number)
}

/// The value at a pointer, of which there is one.
fn only<'t>(text: &'t str, pointer: &str) -> &'t str {
    let mut places = vec![text.trim_matches(is_space)];
    for name in pointer.split('/').skip(1) {
        places = places
            .into_iter()
            .flat_map(members)
            .filter(|(known, _)| known == name)
            .map(|(_, value)| value)
            .collect();
    }
    match places[..] {
        [value] => value,
        _ => panic!("{} values at {pointer}: {text:?}", places.len()),
    }
}

/// The names and values of an object, or indices and values of an array, as they are written.
fn members(json: &str) -> Vec<(String, &str)> {
    let is_object = json.starts_with('{');
    if !is_object && !json.starts_with('[') {
        return Vec::new();
    }
    let mut members = Vec::new();
    let mut rest = json[1..json.len() - 1].trim_start_matches(is_space);
    while !rest.is_empty() {
        let mut name = members.len().to_string();
        if is_object {
            let end = end_of_value(rest);
            name = unescaped(&rest[..end]);
            rest = rest[end..].trim_start_matches(is_space);
            rest = rest[1..].trim_start_matches(is_space);
        }
        let end = end_of_value(rest);
        members.push((name, rest[..end].trim_end_matches(is_space)));
        rest = rest[end..].trim_start_matches(is_space);
        rest = rest.strip_prefix(',').unwrap_or(rest);
        rest = rest.trim_start_matches(is_space);
    }
    members
}

/// Where the first value of a text ends, which is well-formed.
fn end_of_value(json: &str) -> usize {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, c) in json.char_indices() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            if !in_string && depth == 0 {
                return at + 1;
            }
            continue;
        }
        match c {
            '"' => in_string = true,
            '{' | '[' => depth += 1,
            ',' | ':' | '}' | ']' if depth == 0 => return at,
            '}' | ']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    json.len()
}

fn unescaped(string: &str) -> String {
    serde_json::from_str(string).unwrap_or_else(|error| panic!("{string:?}: {error}"))
}

/// White space of JSON (RFC 8259, 2).
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}
