//! Values that look like a secret, whatever they are called: tokens, keys, digests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Keys of services, by how they begin.
static KNOWN: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:eyJ[\w-]*\.[\w-]+\.[\w.=-]*|eyJ[\w-]{6,}|(?:sk|rk|pk)[_-](?:live|test|proj)?[\w-]{8,}|gh[oprsu]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|xox[a-z]-[\w-]{8,}|A[KS]IA[A-Z0-9]{8,}|AIza[\w-]{8,}|ya29\.[\w.-]{8,}|oauth:\w{6,}|-----BEGIN[A-Z ]* PRIVATE KEY(?: BLOCK)?-----[\s\S]*)",
    )
});
/// Shortest run of what a token consists of, in bytes.
const SHORTEST_RUN: usize = 12;
/// Shortest such value of `key` that is a secret, in bytes.
const SHORTEST_KEY: usize = 8;
/// Shortest random text that is a secret, in bytes, and shortest of hexadecimal digits.
const SHORTEST: usize = 20;
const SHORTEST_HEX: usize = 32;
/// Shortest random text of letters alone, in bytes: in words the letters change their size less often.
const SHORTEST_LETTERS: usize = 24;

/// Shortest text in which small and large letters and digits are mixed, and shortest password, in bytes.
const SHORTEST_MIXED: usize = 12;
const SHORTEST_PASSWORD: usize = 8;
const LONGEST_PASSWORD: usize = 64;
/// Signs of passwords that are none of addresses, forms and lists.
const SIGNS: &[u8] = b"!#$^&*?";

pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("it is one")
}

/// Where tokens stand in a text.
pub(super) fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut found = keys(text);
    if is_password(text) {
        found.push(0..text.len());
    }
    if text.len() < SHORTEST_RUN {
        return found;
    }
    let is_of_run = |c: char| c.is_ascii_alphanumeric() || "_+/=.~%-".contains(c);
    let mut end = 0;
    for whole in text.split_inclusive(|c| !is_of_run(c)) {
        let mut at = end;
        end += whole.len();
        let whole = whole.trim_end_matches(|c| !is_of_run(c));
        if whole.len() < SHORTEST_RUN {
            continue;
        }
        if is_base64(whole) || holds_user(whole) {
            found.push(at..at + whole.len());
            continue;
        }
        for piece in whole.split(['.', '/', '~', '%']) {
            if is_hex(piece) || is_random(piece) || is_mixed_up(piece) {
                found.push(at..at + piece.len());
            }
            at += piece.len() + 1;
        }
    }
    found
}

/// Where JSON Web Tokens and keys of known services stand in a text.
pub(super) fn keys(text: &str) -> Vec<Range<usize>> {
    let begins = ["eyJ", "oauth:", "-----BEGIN"];
    let has_digit = || text.bytes().any(|byte| byte.is_ascii_digit());
    if !has_digit() && !begins.iter().any(|begin| text.contains(begin)) {
        return Vec::new();
    }
    let is_begun = |range: &Range<usize>| {
        let before = text[..range.start].chars().next_back();
        before.is_none_or(|before| !before.is_ascii_alphanumeric())
    };
    let is_key = |text: &str| {
        text.starts_with("eyJ")
            || text.starts_with("oauth:")
            || text.starts_with("-----")
            || text.bytes().any(|byte| byte.is_ascii_digit())
    };
    let all = KNOWN.find_iter(text).filter(|of| is_key(of.as_str()));
    all.map(|of| of.range()).filter(is_begun).collect()
}

fn is_hex(text: &str) -> bool {
    text.len() >= SHORTEST_HEX && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// True of base64 whose slashes a path could have as well.
fn is_base64(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    let has = |is: fn(&u8) -> bool| bare.as_bytes().iter().any(is);
    let is_padded = bare.len() < text.len() && text.len().is_multiple_of(4) && text.len() >= 16;
    let is_long = text.len() >= SHORTEST_HEX && has(|byte| b"+/".contains(byte));
    !text.starts_with('/')
        && bare
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte))
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && (is_padded || is_long && changes(bare) * 10 >= bare.len() * 3)
}

/// True of a text in which letters and digits, small and large, are mixed as no words mix them.
fn is_random(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_short_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_of_letters = text.len() >= SHORTEST_LETTERS && letters == text.len();
    text.len() >= SHORTEST
        && digits >= 2
        && letters >= 2
        && !is_short_hex
        && !is_uuid(text)
        && changes(text) * 10 >= text.len() * 3
        || is_of_letters && changes(text) * 10 >= text.len() * 4
}

/// True of a shorter one that has all three of them.
fn is_mixed_up(text: &str) -> bool {
    let count = |is: fn(&u8) -> bool| text.bytes().filter(is).count();
    text.len() >= SHORTEST_MIXED
        && count(u8::is_ascii_lowercase) > 1
        && count(u8::is_ascii_uppercase) > 1
        && count(u8::is_ascii_digit) > 1
        && !is_uuid(text)
        && changes(text) * 10 >= text.len() * 4
}

/// True of letters of both sizes, digits and a sign among them, as programs demand them of a password.
fn is_password(text: &str) -> bool {
    let bare = text.trim_start_matches(|c: char| c.is_ascii_punctuation());
    let has = |is: fn(&u8) -> bool| bare.as_bytes().iter().any(is);
    (SHORTEST_PASSWORD..=LONGEST_PASSWORD).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic())
        && !text.contains([
            '=', ':', '/', '%', '<', '>', '{', '}', '[', ']', '(', ')', '"', ',', ';',
        ])
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && has(|byte| SIGNS.contains(byte))
        && changes(text) > 2
}

/// True of base64 of a text with a colon in it, as `Basic` has of a user and a password (RFC 7617, 2).
fn holds_user(text: &str) -> bool {
    let bytes = STANDARD_NO_PAD.decode(text.trim_end_matches('='));
    bytes.is_ok_and(|bytes| {
        bytes.contains(&b':') && bytes.iter().all(|byte| (b' '..=b'~').contains(byte))
    })
}

/// True of what people write as a value: a number, or letters as words have them.
pub(in super::super) fn is_word(text: &str) -> bool {
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_of_word = |c: char| c.is_alphabetic() || "_-./".contains(c);
    let has_large_pair = || {
        let mut pairs = text.as_bytes().windows(2);
        pairs.any(|pair| pair.iter().all(u8::is_ascii_uppercase))
    };
    let is_number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".+-:".contains(&byte));
    is_number || is_uuid(text) || letters.chars().all(is_of_word) && !has_large_pair()
}

/// True of a value of `key` that no program calls something by: letters and digits are mixed in it.
pub(super) fn is_mixed(text: &str) -> bool {
    let is_mixed = |piece: &str| {
        let digits = piece.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let letters = piece.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_name = digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_amount = letters.bytes().all(|byte| byte.is_ascii_alphabetic());
        piece.len() > 2 && !is_name && !is_amount
    };
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    text.len() >= SHORTEST_KEY
        && text.chars().all(is_of_key)
        && !is_uuid(text)
        && text.split(['_', '-']).any(is_mixed)
}

/// How often a small letter, a large one and a digit follow one another.
fn changes(text: &str) -> usize {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 1,
        b'a'..=b'z' => 2,
        b'A'..=b'Z' => 3,
        _ => 0,
    };
    let pairs = text.as_bytes().windows(2);
    let differ = |pair: &&[u8]| {
        let (one, other) = (class(pair[0]), class(pair[1]));
        one != 0 && other != 0 && one != other
    };
    pairs.filter(differ).count()
}

fn is_uuid(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    let is_of_uuid = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    lengths == [8, 4, 4, 4, 12] && text.bytes().all(is_of_uuid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_told_from_words_dates_and_identifiers() {
        for text in [
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
            "9f86d081884c7d659a2feaa0c55ad015",
            "V1StGXR8_Z5jdHi6B-myT",
            "ghp_16C7e42F292c6912E7710c83",
            "AKIAIOSFODNN7EXAMPLE",
            "oauth:abcdef123",
            "dXNlcjpwYXNzd29yZA==",
            "aB3/xY9+Qw1Er5Ty7Ui0Op3As5Df8Gh2Jk4Lz6",
            "x 9f86d081884c7d659a2feaa0c55ad015 y",
            "xK9mP2vL7qRt",
            "Tr0ub4dor&3",
            "YW5uOmh1bnRlcg",
        ] {
            assert!(!tokens(text).is_empty(), "{text}");
        }
        for text in [
            "550e8400-e29b-41d4-a716-446655440000",
            "2026-11-26T00:00:00.000Z",
            "https://cdn.example.com/images/2024/summer01/photo12.png",
            "urn:x-company:notification:v2",
            "room-general-2024-discussion-thread",
            "changeSymbolAndSubscribeToStream",
            "507f1f77bcf86cd799439011",
            "BTCUSDT@kline_1m",
            "orderBookL2_25",
            "a sentence of many words, and 2 numbers",
            "012345678901234567890123",
            "Hello123!",
            "#Room12",
            "subscription",
            "iPhone14Pro",
            "ann42@Shop1.example",
        ] {
            assert!(tokens(text).is_empty(), "{text}");
        }
    }
}
