//! Secrets of command lines, of statements, and of sentences.

use super::names::is_secret_name;
use super::values::{is_word, regex};
use regex::{Captures, Regex};
use std::ops::Range;
use std::sync::LazyLock;

/// A flag and its value, within quotes or up to a space.
static FLAG: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?:^|[\s"'])(--?[A-Za-z][\w-]*)(?:=|\s+)(?:'([^']*)'|"([^"]*)"|([^\s'"]+))"#)
});
/// `-uann:x` and `-px`.
static GLUED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:^|\s)(?:-u([^\s:]+:[^\s]+)|-[pPw]([^\s-]\S*))"));
/// Programs that take a password behind one letter.
static PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:^|[\s/])(?:sshpass|mysql\w*|mariadb|redis-cli|htpasswd|openssl|zip|unzip|7za?|ssh-keygen|ldap\w+|mosquitto_\w+|mongo\w*|smbclient|(?:docker|podman|helm|az) login)\s",
    )
});
/// A statement of SQL and the like, with its string.
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i)\b(?:identified\s+(?:with\s+\S+\s+)?by|password|passwd|passphrase|secret|token)(?:\s+(?:for\s+\S+|to|is|as|=))*\s+(?:'([^']+)'|"([^"]+)")"#,
    )
});
/// `set NAME VALUE`.
static SETS: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?i)\b(?:set|setenv|put)\s+([\w.-]{2,64})\s+([^\s"',;]+)"#));
/// A sentence that tells a secret.
static SENTENCE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i)\b(?:password|passcode|passphrase|pin|token|secret|otp)\s+(?:is|was)\s*:?\s+([^\s"',;]{4,})"#,
    )
});

/// Finds them.
pub(super) fn look(text: &str, out: &mut dyn FnMut(Range<usize>, String)) {
    if text.contains('-') {
        look_at_flags(text, out);
    }
    for found in STATEMENT.captures_iter(text) {
        out(value_of(&found, 1), "password".to_owned());
    }
    for found in SETS.captures_iter(text) {
        if is_secret_name(&found[1]) && !is_word(&found[2]) {
            out(value_of(&found, 2), found[1].to_owned());
        }
    }
    for found in SENTENCE.captures_iter(text) {
        if !is_word(found[1].trim_end_matches(['.', '!'])) {
            out(value_of(&found, 1), "password".to_owned());
        }
    }
}

fn look_at_flags(text: &str, out: &mut dyn FnMut(Range<usize>, String)) {
    let takes_letters = PROGRAM.is_match(text);
    let mut from = 0;
    while let Some(found) = FLAG.captures_at(text, from) {
        let value = value_of(&found, 2);
        let flag = found.get(1).map_or(0..0, |flag| flag.range());
        let is_flag = text[value.clone()].starts_with('-');
        from = if is_flag { flag.end } else { value.end };
        if !is_flag && takes_secret(&found[1], &text[value.clone()], takes_letters) {
            out(value, found[1].trim_start_matches('-').to_owned());
        }
    }
    for found in GLUED.captures_iter(text) {
        if found.get(1).is_some() || takes_letters {
            out(value_of(&found, 1), "user".to_owned());
        }
    }
}

/// The values among the arguments of a program, by their place.
pub(super) fn of_arguments(arguments: &[&str]) -> Vec<usize> {
    let line = arguments.join(" ") + " ";
    let takes_letters = PROGRAM.is_match(&line);
    let pairs = arguments.windows(2).enumerate();
    let secret = pairs.filter(|(_, pair)| {
        let is_flag = pair[0].starts_with('-') && !pair[1].starts_with('-');
        is_flag && takes_secret(pair[0], pair[1], takes_letters)
    });
    secret.map(|(at, _)| at + 1).collect()
}

fn takes_secret(flag: &str, value: &str, takes_letters: bool) -> bool {
    let bare = flag.trim_start_matches('-');
    let is_user = ["u", "user", "proxy-user", "U"].contains(&bare);
    is_secret_name(bare) && bare.len() > 1
        || is_user && value.contains(':') && !value.contains("//")
        || takes_letters && ["a", "k", "N", "p", "P", "w"].contains(&bare)
}

/// The first group of those from this one on that took part.
fn value_of(found: &Captures<'_>, from: usize) -> Range<usize> {
    let value = (from..found.len()).find_map(|at| found.get(at));
    value.map_or(0..0, |value| value.range())
}
