//! The end of a log file, and exits in words.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use ws_proto::escaped;

/// Bytes that are read from the end of a log: far more than 20 lines of usual length.
const WINDOW: u64 = 64 * 1024;
const LINE_LENGTH: usize = 500;

/// The last `lines` lines of a file that are not empty, with their control characters escaped; `None`
/// when there are none.
pub fn tail(path: &Path, lines: usize) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(WINDOW)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(WINDOW).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let kept: Vec<String> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| escaped(&line.chars().take(LINE_LENGTH).collect::<String>()))
        .collect();
    let last = &kept[kept.len().saturating_sub(lines)..];
    (!last.is_empty()).then(|| last.join("\n"))
}

/// The beginning of a text, cut to so many letters.
pub fn shortened(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// "exit code 3" or "signal 11 (SIGSEGV)".
pub fn describe_exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}{}", signal_name(signal)),
        (None, None) => status.to_string(),
    }
}

fn signal_name(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal)
        .map(|name| format!(" ({name})"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(tail(file.path(), 2), None);
        std::fs::write(file.path(), "one\ntwo\n\nthree\n").unwrap();
        assert_eq!(tail(file.path(), 2).as_deref(), Some("two\nthree"));
        std::fs::write(file.path(), "\x1b[31mred\x1b[0m\r\n").unwrap();
        assert_eq!(
            tail(file.path(), 2).as_deref(),
            Some("\\u{1b}[31mred\\u{1b}[0m")
        );
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        assert_eq!(shortened("größe", 5), "größe");
        assert_eq!(shortened("größe", 3), "grö…");
    }

    #[test]
    fn exits_are_named() {
        assert_eq!(describe_exit(ExitStatus::from_raw(3 << 8)), "exit code 3");
        assert_eq!(
            describe_exit(ExitStatus::from_raw(11)),
            "signal 11 (SIGSEGV)"
        );
    }
}
