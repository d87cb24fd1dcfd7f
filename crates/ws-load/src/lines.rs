//! The lines of a text file that requests carry: request *n* of a run has line *n* modulo their number.
//!
//! They take the bytes of the file and 4 for each line.

use plan::{MOST_PADDING, Plan};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Set beside the end of a line that a JSON string holds as it is (RFC 8259, section 7).
const IS_PLAIN: u32 = 1 << 31;
/// Longest file in bytes: places have 31 bits.
const MOST_BYTES: u64 = (IS_PLAIN - 1) as u64;
/// What some editors put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A file of lines that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}{}: {reason}", path.display(), at_line(*line))]
pub struct LinesError {
    path: PathBuf,
    line: Option<usize>,
    reason: String,
}

fn at_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

impl LinesError {
    pub(crate) fn new(path: &Path, line: Option<usize>, reason: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            reason: reason.into(),
        }
    }
}

/// The lines of a file.
#[derive(Debug)]
pub(crate) struct Lines {
    text: String,
    /// Where each line ends, with [`IS_PLAIN`].
    ends: Vec<u32>,
    longest: u32,
}

/// A text that a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'l> {
    pub(crate) text: &'l str,
    /// It is the same within a JSON string.
    is_plain: bool,
}

/// How a text stands in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    AsIs,
    /// Within a JSON string.
    InString,
    /// Within a string of JSON that is itself in a string.
    InNestedString,
}

impl Lines {
    /// Those that a plan names.
    ///
    /// # Errors
    /// [`LinesError`] with the line, when the file cannot be read or a line cannot be carried.
    pub(crate) fn new(plan: &Plan) -> Result<Option<Self>, LinesError> {
        plan.message.lines.as_deref().map(Self::read).transpose()
    }

    fn read(path: &Path) -> Result<Self, LinesError> {
        let failed = |reason: String| LinesError::new(path, None, reason);
        let file = File::open(path).map_err(|error| failed(format!("{error} (message.lines)")))?;
        let facts = file.metadata().map_err(|error| failed(error.to_string()))?;
        if !facts.is_file() {
            return Err(failed("is no file".to_owned()));
        }
        let mut bytes = Vec::with_capacity(facts.len().min(MOST_BYTES) as usize + 1);
        file.take(MOST_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| failed(error.to_string()))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(failed(format!(
                "has more than {MOST_BYTES} bytes, the most that is permitted; take a part of it"
            )));
        }
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
            LinesError::new(path, Some(line), "is no UTF-8; save the file as UTF-8")
        })?;
        Self::of_text(text, path)
    }

    fn of_text(text: String, path: &Path) -> Result<Self, LinesError> {
        if text.is_empty() {
            let words = "has no lines; write one for each payload";
            return Err(LinesError::new(path, None, words));
        }
        let (mut ends, mut longest, mut at) = (Vec::new(), 0, 0);
        let whole = text.strip_suffix('\n').unwrap_or(&text);
        for (index, line) in whole.split('\n').enumerate() {
            at += line.len();
            let line = without_return(line);
            if !(1..=MOST_PADDING as usize).contains(&line.len()) {
                let words = match line.len() {
                    0 => {
                        "is empty, and each line is the payload of a request; remove it".to_owned()
                    }
                    size => format!(
                        "has {size} bytes; permitted: at most {MOST_PADDING}; shorten it, or remove it"
                    ),
                };
                return Err(LinesError::new(path, Some(index + 1), words));
            }
            let mark = if is_plain(line) { IS_PLAIN } else { 0 };
            ends.push(at as u32 | mark);
            longest = longest.max(line.len() as u32);
            at += 1;
        }
        ends.shrink_to_fit();
        Ok(Self {
            text,
            ends,
            longest,
        })
    }

    /// How many there are, one at least.
    pub(crate) const fn count(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of the longest.
    pub(crate) const fn longest(&self) -> u32 {
        self.longest
    }

    /// The line of a request, by its number in the run from 0 on.
    #[inline]
    pub(crate) fn of_request(&self, number: u64) -> Line<'_> {
        let index = (number % self.ends.len() as u64) as usize;
        let end_of = |index: usize| (self.ends[index] & !IS_PLAIN) as usize;
        let start = index.checked_sub(1).map_or(0, |before| end_of(before) + 1);
        Line {
            text: without_return(&self.text[start..end_of(index)]),
            is_plain: self.ends[index] & IS_PLAIN != 0,
        }
    }
}

/// A line of a file whose lines end with CRLF.
fn without_return(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

fn is_plain(text: &str) -> bool {
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    // Without an early end the compiler makes it many bytes at a time.
    !text.bytes().fold(false, |any, byte| any | is_special(byte))
}

impl<'l> Line<'l> {
    /// A text that a JSON string holds as it is.
    pub(crate) const fn plain(text: &'l str) -> Self {
        Self {
            text,
            is_plain: true,
        }
    }

    /// Appends it in a form.
    pub(crate) fn write(self, form: Form, out: &mut Vec<u8>) {
        match form {
            _ if self.is_plain => out.extend_from_slice(self.text.as_bytes()),
            Form::AsIs => out.extend_from_slice(self.text.as_bytes()),
            Form::InString => escape(self.text, out),
            Form::InNestedString => {
                let mut inner = Vec::new();
                escape(self.text, &mut inner);
                escape(&String::from_utf8_lossy(&inner), out);
            }
        }
    }

    /// What follows it at the beginning of a message, where it stands there as it is written.
    #[inline]
    pub(crate) fn behind(self, form: Form, message: &[u8]) -> Option<&[u8]> {
        if self.is_plain || form == Form::AsIs {
            return message.strip_prefix(self.text.as_bytes());
        }
        let mut written = Vec::with_capacity(self.text.len() * 2);
        self.write(form, &mut written);
        message.strip_prefix(&written[..])
    }
}

/// Appends a text as it stands between the quotes of a JSON string.
fn escape(text: &str, out: &mut Vec<u8>) {
    let at = out.len();
    serde_json::to_writer(&mut *out, text).expect("a Vec takes everything");
    out.pop();
    out.remove(at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn read(bytes: &[u8]) -> Result<Lines, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let name = file.path().display().to_string();
        Lines::read(file.path()).map_err(|error| error.to_string().replace(&name, "FILE"))
    }

    fn texts(bytes: &[u8]) -> Vec<String> {
        let lines = read(bytes).unwrap();
        let all = 0..lines.count() as u64;
        all.map(|number| lines.of_request(number).text.to_owned())
            .collect()
    }

    #[test]
    fn lines_end_as_editors_end_them() {
        for same in [
            "a\nbc\n",
            "a\nbc",
            "a\r\nbc\r\n",
            "a\r\nbc",
            "\u{feff}a\nbc\r",
        ] {
            assert_eq!(texts(same.as_bytes()), ["a", "bc"], "{same:?}");
        }
        assert_eq!(
            texts("  é\t\n\u{2028}x\rz".as_bytes()),
            ["  é\t", "\u{2028}x\rz"]
        );
        let lines = read(b"one\ntwo\nthree").unwrap();
        assert_eq!((lines.count(), lines.longest()), (3, 5));
        assert_eq!(lines.of_request(7).text, "two");
        assert_eq!(lines.of_request(u64::MAX).text, "one");
    }

    #[test]
    fn what_cannot_be_carried_is_refused_with_its_line_and_a_remedy() {
        let long = [b"a\n".to_vec(), vec![b'x'; MOST_PADDING as usize + 1]].concat();
        for (bytes, words) in [
            (&b""[..], "FILE: has no lines; write one for each payload"),
            (
                b"\n",
                "FILE, line 1: is empty, and each line is the payload of a request; remove it",
            ),
            (b"a\n\nb\n", "FILE, line 2: is empty"),
            (b"a\r\n\r\n", "FILE, line 2: is empty"),
            (b"a\nb\n\n", "FILE, line 3: is empty"),
            (
                b"a\nb\nc\xff\n",
                "FILE, line 3: is no UTF-8; save the file as UTF-8",
            ),
            (
                &long,
                "FILE, line 2: has 16776193 bytes; permitted: at most 16776192; shorten it",
            ),
        ] {
            let refused = read(bytes).unwrap_err();
            assert!(refused.starts_with(words), "{refused}");
        }
        let folder = tempfile::tempdir().unwrap();
        let words = |path: &Path| Lines::read(path).unwrap_err().to_string();
        assert!(words(folder.path()).ends_with("is no file"));
        assert!(words(&folder.path().join("none")).contains("(message.lines)"));
    }

    #[test]
    fn a_line_is_written_as_json_wants_it_and_found_again() {
        let lines = read("plain é\na\"b\\c\u{1}\td\u{7f}".as_bytes()).unwrap();
        for (number, form, written) in [
            (0, Form::AsIs, "plain é"),
            (0, Form::InString, "plain é"),
            (0, Form::InNestedString, "plain é"),
            (1, Form::AsIs, "a\"b\\c\u{1}\td\u{7f}"),
            (1, Form::InString, r#"a\"b\\c\u0001\td"#),
            (1, Form::InNestedString, r#"a\\\"b\\\\c\\u0001\\td"#),
        ] {
            let line = lines.of_request(number);
            let mut out = b"{".to_vec();
            line.write(form, &mut out);
            let due = written
                .replace("td", "td\u{7f}")
                .replace("\u{7f}\u{7f}", "\u{7f}");
            assert_eq!(String::from_utf8_lossy(&out[1..]), due);
            out.push(b'!');
            assert_eq!(line.behind(form, &out[1..]), Some(&b"!"[..]));
            assert_eq!(line.behind(form, &out), None);
        }
    }
}
