//! Variables in the texts of a plan: `{token}` is the column of that name in the data file.

use std::borrow::Cow;

/// Longest name of a variable, in bytes.
pub const LONGEST_VARIABLE: usize = 64;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The text itself.
    Text(Cow<'a, str>),
    /// The name of a variable.
    Variable(&'a str),
}

/// Cuts a text at its variables: letters, digits, `_`, `-` and `.` in braces. `{{` is a brace, and so
/// is one that begins no variable, as in JSON.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut literal = Cow::Borrowed("");
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        push(&mut literal, before);
        if let Some(after) = after.strip_prefix('{') {
            push(&mut literal, "{");
            rest = after;
            continue;
        }
        let Some(name) = variable(after) else {
            push(&mut literal, &rest[at..=at]);
            rest = after;
            continue;
        };
        if !literal.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut literal)));
        }
        parts.push(Part::Variable(name));
        rest = &after[name.len() + 1..];
    }
    push(&mut literal, rest);
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    parts
}

/// A text as it stands, in which no brace begins a variable.
pub fn escaped_braces(text: &str) -> Cow<'_, str> {
    match text.contains('{') {
        true => Cow::Owned(text.replace('{', "{{")),
        false => Cow::Borrowed(text),
    }
}

/// Whether data files may have a column of this name.
pub fn is_variable(name: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=LONGEST_VARIABLE).contains(&name.len()) && name.bytes().all(is_of_name)
}

/// The name of the variable that a text behind a brace begins with.
pub fn variable(rest: &str) -> Option<&str> {
    let (name, _) = rest.split_once('}')?;
    is_variable(name).then_some(name)
}

fn push<'a>(literal: &mut Cow<'a, str>, text: &'a str) {
    if literal.is_empty() {
        *literal = Cow::Borrowed(text);
    } else {
        literal.to_mut().push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        let part = |part: &Part<'_>| match part {
            Part::Text(text) => format!("[{text}]"),
            Part::Variable(name) => format!("<{name}>"),
        };
        parts(text).iter().map(part).collect()
    }

    #[test]
    fn variables_are_names_in_braces_and_nothing_else_is() {
        for (text, cut) in [
            ("", ""),
            ("a", "[a]"),
            ("{a}", "<a>"),
            ("x{a}y{b-1.c_}z", "[x]<a>[y]<b-1.c_>[z]"),
            ("{{a}", "[{a}]"),
            ("{{{a}}", "[{]<a>[}]"),
            ("{\"a\":{}}", "[{\"a\":{}}]"),
            ("{a b}{", "[{a b}{]"),
        ] {
            assert_eq!(shown(text), cut, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_escaped_text_stands_for_itself(text in "[a{} \u{e9}]{0,12}") {
            let escaped = escaped_braces(&text);
            let parts = parts(&escaped);
            let whole: Vec<Part<'_>> = match text.as_str() {
                "" => Vec::new(),
                text => vec![Part::Text(text.into())],
            };
            prop_assert_eq!(parts, whole);
        }
    }
}
