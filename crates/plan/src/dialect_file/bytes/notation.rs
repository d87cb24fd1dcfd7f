//! Texts of a dialect file as parts of a message in bytes.

use super::{BytePart, HoleForm, NumberForm};
use crate::is_variable;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Deepest that parentheses nest.
const DEEPEST: usize = 16;
/// Characters of a text that are shown.
const SHOWN: usize = 30;

/// A text that is not of the notation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct ByteTextError {
    /// What is wrong, and where.
    pub problem: String,
    /// What to write instead.
    pub remedy: &'static str,
}

/// Cuts a text into its parts.
///
/// # Errors
/// [`ByteTextError`] at the first place that is not of the notation.
pub fn byte_parts(text: &str) -> Result<Vec<BytePart>, ByteTextError> {
    let mut cutter = Cutter { rest: text };
    let parts = cutter.parts(0)?;
    match cutter.rest.is_empty() {
        true => Ok(parts),
        false => Err(cutter.wrong(
            "has a closing parenthesis without an opening one",
            "parentheses enclose what a {length} counts: {length:be4}( ... )",
        )),
    }
}

struct Cutter<'t> {
    rest: &'t str,
}

impl<'t> Cutter<'t> {
    /// The parts up to the end, or to a closing parenthesis.
    fn parts(&mut self, depth: usize) -> Result<Vec<BytePart>, ByteTextError> {
        let mut parts = Vec::new();
        // The length whose parentheses have not come yet, and the bytes behind it.
        let mut open: Option<(NumberForm, Vec<u8>)> = None;
        loop {
            self.rest = self.rest.trim_ascii_start();
            let Some(first) = self.rest.chars().next().filter(|c| *c != ')') else {
                break;
            };
            match (first, &mut open) {
                ('(', held) => {
                    let Some((form, between)) = held.take() else {
                        return Err(self.unopened());
                    };
                    let inner = self.group(depth)?;
                    parts.push(BytePart::Length(form, between, inner));
                }
                ('{', None) => match self.hole()? {
                    (name, form) if name == "length" => {
                        let form = self.number_form(form)?;
                        open = Some((form, Vec::new()));
                    }
                    (name, form) => parts.push(BytePart::Hole(name, form)),
                },
                ('{', Some(_)) => return Err(self.unclosed()),
                (_, Some((_, between))) => between.extend(self.literal()?),
                (_, None) => {
                    let bytes = self.literal()?;
                    push(&mut parts, bytes);
                }
            }
        }
        match open {
            None => Ok(parts),
            Some(_) => Err(self.unclosed()),
        }
    }

    fn group(&mut self, depth: usize) -> Result<Vec<BytePart>, ByteTextError> {
        if depth == DEEPEST {
            let problem = format!("has parentheses in more than {DEEPEST} others");
            return Err(self.wrong(&problem, "write a message with fewer"));
        }
        self.rest = &self.rest[1..];
        let inner = self.parts(depth + 1)?;
        match self.rest.strip_prefix(')') {
            Some(rest) => {
                self.rest = rest;
                Ok(inner)
            }
            None => Err(self.wrong(
                "has an opening parenthesis without a closing one",
                "write it",
            )),
        }
    }

    /// A name in braces.
    fn hole(&mut self) -> Result<(String, Option<HoleForm>), ByteTextError> {
        const REMEDY: &str = "write a name in braces, as {padding}, {stamp:be8}, {number:varint} or \
                              {any:4}, and a brace that is sent between quotes";
        let inside = self.rest[1..].split_once('}');
        let Some((inside, behind)) = inside else {
            return Err(self.wrong("has an opening brace without a closing one", REMEDY));
        };
        let (name, form) = match inside.split_once(':') {
            None => (inside, None),
            Some((name, form)) => (name, Some(form)),
        };
        let read = form.map(hole_form);
        if !is_variable(name) || read == Some(None) {
            return Err(self.wrong("has no hole that is known", REMEDY));
        }
        self.rest = behind;
        Ok((name.to_owned(), read.flatten()))
    }

    fn number_form(&self, form: Option<HoleForm>) -> Result<NumberForm, ByteTextError> {
        match form {
            None => Ok(NumberForm::Text),
            Some(HoleForm::Number(form)) => Ok(form),
            Some(HoleForm::Bytes(_)) => Err(self.wrong(
                "has a {length} of another form, before what follows",
                "write {length}, {length:varint}, {length:be1} to be8, or {length:le1} to le8",
            )),
        }
    }

    /// Bytes up to the next white space, hole or parenthesis, or up to the quote that ends a text.
    fn literal(&mut self) -> Result<Vec<u8>, ByteTextError> {
        if self.rest.starts_with('"') {
            return self.quoted();
        }
        let is_end = |c: char| c.is_ascii_whitespace() || "{}()\"".contains(c);
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        let bytes = match word.strip_prefix("base64:") {
            Some(digits) => STANDARD.decode(digits).ok().filter(|of| !of.is_empty()),
            None => hexadecimal(word),
        };
        let Some(bytes) = bytes else {
            return Err(self.wrong(
                "has neither bytes nor a hole",
                "write two hexadecimal digits for each byte, text between quotes, base64:AAEC, or a hole \
                 in braces",
            ));
        };
        self.rest = &self.rest[end..];
        Ok(bytes)
    }

    fn quoted(&mut self) -> Result<Vec<u8>, ByteTextError> {
        let mut bytes = Vec::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            let escaped = match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(bytes);
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('r') => '\r',
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('0') => '\0',
                    Some(same @ ('\\' | '"')) => same,
                    _ => {
                        return Err(self.wrong(
                            "has an escape that is not known in a text",
                            r#"write one of \r \n \t \\ \" \0"#,
                        ));
                    }
                },
                c => c,
            };
            bytes.extend_from_slice(escaped.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Err(self.wrong("has a text without its closing quote", "write it"))
    }

    fn unopened(&self) -> ByteTextError {
        self.wrong(
            "has parentheses without a length",
            "write {length:be4}( ... ), or leave the parentheses out",
        )
    }

    fn unclosed(&self) -> ByteTextError {
        self.wrong(
            "has a {length} without parentheses behind it",
            "write {length:be4}( ... ); nothing but bytes may stand between the two",
        )
    }

    fn wrong(&self, problem: &str, remedy: &'static str) -> ByteTextError {
        let shown: String = self.rest.chars().take(SHOWN).collect();
        let place = match shown.is_empty() {
            true => "at its end".to_owned(),
            false => format!("at `{shown}`"),
        };
        let problem = format!("{problem}, {place}");
        ByteTextError { problem, remedy }
    }
}

/// Adds bytes to those before them.
fn push(parts: &mut Vec<BytePart>, bytes: Vec<u8>) {
    match parts.last_mut() {
        Some(BytePart::Literal(last)) => last.extend(bytes),
        _ if bytes.is_empty() => {}
        _ => parts.push(BytePart::Literal(bytes)),
    }
}

fn hole_form(text: &str) -> Option<HoleForm> {
    let number = |form| Some(HoleForm::Number(form));
    let width = |digits: &str| match digits.as_bytes() {
        [digit @ b'1'..=b'8'] => Some(digit - b'0'),
        _ => None,
    };
    if text == "varint" {
        return number(NumberForm::Varint);
    }
    if let Some(digits) = text.strip_prefix("be") {
        return number(NumberForm::BigEndian(width(digits)?));
    }
    if let Some(digits) = text.strip_prefix("le") {
        return number(NumberForm::LittleEndian(width(digits)?));
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let count: u32 = text.parse().ok().filter(|_| is_number)?;
    (count > 0).then_some(HoleForm::Bytes(count))
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|value| value as u8);
    let pairs = digits.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs
        .collect::<Option<Vec<u8>>>()
        .filter(|of| !of.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(bytes: &[u8]) -> BytePart {
        BytePart::Literal(bytes.to_vec())
    }

    fn hole(name: &str, form: Option<HoleForm>) -> BytePart {
        BytePart::Hole(name.to_owned(), form)
    }

    #[test]
    fn bytes_are_written_in_three_ways() {
        for (text, bytes) in [
            ("0a ff", &b"\x0a\xff"[..]),
            ("  0AfF\n00\t", b"\x0a\xff\x00"),
            (r#""PUB " 0d0a"#, b"PUB \r\n"),
            (
                r#""\r\n\t\\\"\0{x}()é""#,
                "\r\n\t\\\"\0{x}()\u{e9}".as_bytes(),
            ),
            ("base64:AAEC ff", b"\x00\x01\x02\xff"),
        ] {
            assert_eq!(byte_parts(text), Ok(vec![literal(bytes)]), "{text}");
        }
        assert_eq!(byte_parts(r#" "" "#), Ok(vec![]));
    }

    #[test]
    fn holes_have_names_and_forms_and_lengths_enclose() {
        let big = |bytes| Some(HoleForm::Number(NumberForm::BigEndian(bytes)));
        let little = Some(HoleForm::Number(NumberForm::LittleEndian(8)));
        let text = r#"{stamp:be8}{a-b.c_}{any:4} 0a {length:varint}( 09 {stamp:le8} {length}"\r\n"( {padding} ) )"#;
        let inner = vec![hole("padding", None)];
        let group = vec![
            literal(b"\x09"),
            hole("stamp", little),
            BytePart::Length(NumberForm::Text, b"\r\n".to_vec(), inner),
        ];
        let parts = vec![
            hole("stamp", big(8)),
            hole("a-b.c_", None),
            hole("any", Some(HoleForm::Bytes(4))),
            literal(b"\x0a"),
            BytePart::Length(NumberForm::Varint, Vec::new(), group),
        ];
        assert_eq!(byte_parts(text), Ok(parts));
    }

    #[test]
    fn what_is_not_of_the_notation_is_shown_with_a_remedy() {
        for (text, words) in [
            ("0", "has neither bytes nor a hole, at `0`"),
            ("0a0", "has neither bytes nor a hole, at `0a0`"),
            ("0a PUB", "has neither bytes nor a hole, at `PUB`"),
            ("base64:A", "has neither bytes nor a hole, at `base64:A`"),
            ("base64:", "has neither bytes nor a hole"),
            ("\"a", "has a text without its closing quote, at `\"a`"),
            (r#""\x""#, "has an escape that is not known"),
            ("{stamp", "has an opening brace without a closing one"),
            ("}", "has neither bytes nor a hole, at `}`"),
            ("{stamp:be9}", "has no hole that is known, at `{stamp:be9}`"),
            ("{any:0}", "has no hole that is known"),
            ("{any:+4}", "has no hole that is known"),
            ("{a b}", "has no hole that is known"),
            (
                "{length:be4}",
                "has a {length} without parentheses behind it, at its end",
            ),
            (
                "{length} {stamp} (00)",
                "has a {length} without parentheses",
            ),
            ("{length:4}(00)", "has a {length} of another form"),
            ("(00)", "has parentheses without a length, at `(00)`"),
            (
                "00)",
                "has a closing parenthesis without an opening one, at `)`",
            ),
            (
                "{length}(00",
                "has an opening parenthesis without a closing one, at its end",
            ),
        ] {
            let error = byte_parts(text).unwrap_err().to_string();
            assert!(error.starts_with(words), "{text}: {error}");
        }
        let deep = "{length:be1}(".repeat(17) + &")".repeat(17);
        let error = byte_parts(&deep).unwrap_err().to_string();
        assert!(error.starts_with("has parentheses in more than 16 others"));
    }
}
