//! Secrets that nothing but their place says: the key behind the room in IRC's `JOIN`, a password of
//! Redis' `ACL SETUSER`, what a program is given through a pipe.

use super::values::{is_word, regex};
use regex::{Regex, RegexSet};
use std::ops::Range;
use std::sync::LazyLock;

/// What stands in the groups of these is secret.
const PLACES: [&str; 17] = [
    // IRC (RFC 2812, 3.2.1 and 3.2.3), and REGISTER and VERIFY of IRCv3.
    r"(?m)^[ \t]*(?::\S+ +)?(?:JOIN|/join|/j)[ \t]+:?[#&+!]\S*[ \t]+:?([^\s\x00][^\r\n\x00]*)",
    r"(?m)(?:^|[ \t/])(?:MODE|mode)[ \t]+\S+[ \t]+[+-]\w*k\w*[ \t]+([^\r\n\x00]+)",
    r"(?m)^[ \t]*REGISTER[ \t]+\S+[ \t]+\S+[ \t]+([^\r\n\x00]+)",
    r"(?m)^[ \t]*VERIFY[ \t]+\S+[ \t]+([^\r\n\x00]+)",
    r"(?i)(?:nickserv|chanserv|authserv|\b[nc]s)[ \t]+:?(?:set[ \t]+password|identify|register|ghost|recover|release|regain|group|id|confirm|cert)[ \t]+([^\r\n\x00]+)",
    // Commands of games and bots.
    r"(?m)^[ \t]*[/!.](?:register|reg|signup|unlock|rcon|redeem|claim)[ \t]+([^\r\n\x00]+)",
    r"(?m)^[ \t]*rcon(?:_password)?[ \t]+([^\r\n\x00]+)",
    r"^connect[ \t]+\S+[ \t]+(\S+)\s*$",
    // POP3, XOAUTH of IMAP, MIGRATE of Redis.
    r"(?m)(?:^|[ \t])(?:APOP|XOAUTH2?|ACCT|AUTH2)[ \t]+([^\r\n\x00]+)",
    // Shells.
    r#"(?:echo|printf)[ \t]+(?:-\w+[ \t]+)*(?:'([^']+)'|"([^"]+)"|([^\s|'"]+))[ \t]*\|[^\r\n|]*(?:sudo[ \t]+-S|-stdin|passwd|login|openssl|gpg|cryptsetup)"#,
    r#"(?:sudo[ \t]+-S|-stdin|passwd|login|openssl|gpg|cryptsetup)[^\r\n]*<<<[ \t]*(?:'([^']+)'|"([^"]+)"|(\S+))"#,
    r"\bhtpasswd[ \t]+(?:-\w+[ \t]+)*\S+[ \t]+\S+[ \t]+(\S+)",
    r"\bwpa_passphrase[ \t]+\S+[ \t]+(\S+)",
    r#"(?:^|\s)-U[ \t]*['"]?[^\s%'"]+%([^\s'"]+)"#,
    r"(?:^|\s)/p:(\S+)",
    // Statements.
    r#"(?i)\bpragma[ \t]+(?:\w+\.)?(?:re|hex)?key[ \t]*=[ \t]*["']?([^"';\s]+)"#,
    r"(?i)\b(?:pgp_sym|aes)_(?:en|de)crypt\w*\([^)]*,[ \t]*'([^']+)'",
];
static EXPRESSIONS: LazyLock<Vec<Regex>> = LazyLock::new(|| PLACES.map(regex).into());
/// Most texts have none of them.
static ANY: LazyLock<RegexSet> = LazyLock::new(|| RegexSet::new(PLACES).expect("each is one"));
/// `ann:x@host`, without the scheme of a URL.
static USER: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?:^|[\s"'=,;(])([A-Za-z][\w.-]*):([^\s:@/"']+)@[A-Za-z0-9\[(][\w.\[(:-]*"#)
});
/// What has no password before its `@`.
const ADDRESSES: [&str; 7] = ["acct", "mailto", "sip", "sips", "tel", "user", "xmpp"];
/// The rules of a user of Redis, of which some hold a password or its digest.
static RULES: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\bacl[ \t]+setuser[ \t]+\S+([^\r\n\x00]+)"));
static RULE: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:^|[ \t])[><#!](\S+)"));
/// Most words of a command in a list.
const MOST_WORDS: usize = 32;

/// Finds them in a text.
pub(super) fn look(text: &str, out: &mut dyn FnMut(Range<usize>, String)) {
    for place in ANY.matches(text) {
        for found in EXPRESSIONS[place].captures_iter(text) {
            let groups = found.iter().skip(1).flatten();
            for group in groups {
                out(group.range(), "value".to_owned());
            }
        }
    }
    for found in RULES.captures_iter(text) {
        let rules = found.get(1).map_or(0..0, |rules| rules.range());
        for rule in RULE.captures_iter(&text[rules.clone()]) {
            let own = rule.get(1).map_or(0..0, |own| own.range());
            out(
                rules.start + own.start..rules.start + own.end,
                "rule".to_owned(),
            );
        }
    }
    if text.contains('@') {
        for found in USER.captures_iter(text) {
            let name = found[1].to_ascii_lowercase();
            if !ADDRESSES.contains(&&*name) && !is_word(&found[2]) {
                out(
                    found.get(2).map_or(0..0, |of| of.range()),
                    "user".to_owned(),
                );
            }
        }
    }
}

/// Those of a command whose words stand in a list, by their place in it.
pub(super) fn of_words(words: &[&str]) -> Vec<usize> {
    let is_word = |word: &&str| !word.is_empty() && !word.contains(char::is_whitespace);
    if !(2..=MOST_WORDS).contains(&words.len()) || !words.iter().all(is_word) {
        return Vec::new();
    }
    let line = words.join(" ");
    let mut ends = Vec::new();
    for word in words {
        let begin = ends.last().map_or(0, |end| end + 1);
        ends.push(begin + word.len());
    }
    let mut found = Vec::new();
    look(&line, &mut |range, _| {
        let held = ends.iter().enumerate();
        let held = held.filter(|(at, end)| {
            let begin = *end - words[*at].len();
            begin < range.end && range.start < **end
        });
        found.extend(held.map(|(at, _)| at));
    });
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_in_a_list_has_its_secrets_where_it_has_them_in_a_line() {
        for (words, expected) in [
            (&["ACL", "SETUSER", "a", "on", ">x", "~k:*"][..], &[4][..]),
            (&["JOIN", "#room", "x"], &[2]),
            (&["JOIN", "#room"], &[]),
            (&["MIGRATE", "h", "AUTH2", "ann", "x"], &[3, 4]),
            (&["say", "hello world"], &[]),
        ] {
            assert_eq!(of_words(words), expected, "{words:?}");
        }
    }
}
