//! Secrets in texts: in URLs and in members of JSON. What of a plan and a record is written without
//! them is in `shown.rs`.

use std::borrow::Cow;
use std::cell::RefCell;

/// What stands in the place of a secret.
pub(crate) const REDACTED: &str = "REDACTED";
/// A parameter whose name has one of these in it carries a secret ...
const WITHIN: [&str; 15] = [
    "token",
    "secret",
    "passw",
    "passphrase",
    "signature",
    "credential",
    "jwt",
    "apikey",
    "api_key",
    "access_key",
    "accesskey",
    "private_key",
    "privatekey",
    "sessionid",
    "authkey",
];
/// ... and so does one that has such a word, as `X-Auth-Key` and `sessionCode` have.
const WORDS: [&str; 12] = [
    "auth",
    "authorization",
    "bearer",
    "code",
    "hmac",
    "key",
    "pass",
    "pwd",
    "session",
    "sid",
    "sig",
    "ticket",
];

/// A text in which the secrets of every URL are replaced: the values of parameters with a name like
/// `token`, `access_token`, `auth`, `key`, `password`, `secret`, `signature` or `jwt`, and what
/// stands before the `@` of a host. So are the values of members of JSON with such names. The text may
/// be a URL or have some in it.
pub fn redacted(text: &str) -> Cow<'_, str> {
    redacted_but(text, &|_| true)
}

/// As [`redacted`], of a message: values of members that `is_secret_value` does not say stay.
pub(crate) fn redacted_but<'a>(
    text: &'a str,
    is_secret_value: &dyn Fn(&str) -> bool,
) -> Cow<'a, str> {
    if !text.contains(['=', '@', ':']) {
        return Cow::Borrowed(text);
    }
    let mut whole = without_users(text);
    if let Some(changed) = without_parameters(&whole, end_within_text) {
        whole = changed;
    }
    if let Some(changed) = without_members(&whole, is_secret_value) {
        whole = changed;
    }
    match whole == text {
        true => Cow::Borrowed(text),
        false => Cow::Owned(whole),
    }
}

/// A text that is a URL, or was to be one, without its secrets: whatever characters a user has in a
/// password or a parameter, and with whatever slashes the URL begins.
pub fn redacted_url(url: &str) -> String {
    let (from, until) = user_in(url);
    let whole = match until {
        Some(at) => format!("{}{REDACTED}{}", &url[..from], &url[at..]),
        None => url.to_owned(),
    };
    let end = |of: &str| of.find(['&', '#']).unwrap_or(of.len());
    without_parameters(&whole, end).unwrap_or(whole)
}

/// Whether a URL has a user or a password.
pub(crate) fn has_user(url: &str) -> bool {
    user_in(url).1.is_some()
}

/// Where the host of a URL begins with its user, and where the `@` behind that stands, if it has one.
fn user_in(url: &str) -> (usize, Option<usize>) {
    let from = url.find(':').map_or(0, |colon| {
        let is_before = |c: char| matches!(c, '/' | '\\') || c.is_ascii_whitespace();
        url.len() - url[colon + 1..].trim_start_matches(is_before).len()
    });
    let rest = &url[from..];
    let authority = &rest[..rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len())];
    let is_no_port = |port: &str| !port.bytes().all(|byte| byte.is_ascii_digit());
    let at = match authority.rsplit_once(':') {
        // A password with a slash in it, which the URL should have as %2F.
        Some((_, port))
            if !authority.contains('@') && !authority.starts_with('[') && is_no_port(port) =>
        {
            rest.rfind('@')
        }
        _ => authority.rfind('@'),
    };
    (from, at.map(|at| from + at))
}

/// True of what ends a URL within a text.
fn is_outside(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '`' | '<' | '>' | '\\')
}

/// Where a parameter ends in a text that a URL is in. A quote is one of the characters that a URL may
/// have (RFC 3986, 2.2), unless nothing of the URL follows it.
fn end_within_text(text: &str) -> usize {
    let is_of_url = |c: char| c.is_ascii_alphanumeric() || "%&=_-.~+/:@!$*(".contains(c);
    let end = text.char_indices().find(|(at, c)| match c {
        '\'' => !text[at + 1..].starts_with(is_of_url),
        c => is_outside(*c) || matches!(c, '&' | '#'),
    });
    end.map_or(text.len(), |(at, _)| at)
}

pub(crate) fn without_users(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("://") {
        let (scheme, after) = rest.split_at(start + 3);
        out.push_str(scheme);
        let is_end = |c: char| is_outside(c) || matches!(c, '/' | '?' | '#');
        let authority = &after[..after.find(is_end).unwrap_or(after.len())];
        rest = after;
        if let Some(at) = authority.rfind('@') {
            out.push_str(REDACTED);
            rest = &after[at..];
        }
    }
    out.push_str(rest);
    out
}

/// The text without the values of parameters that are secret, each of which ends where `end` says.
/// `None` where there are none.
fn without_parameters(text: &str, end: impl Fn(&str) -> usize) -> Option<String> {
    without_parameters_but(text, end, &|_| true)
}

/// A URL or a form, of which the values of parameters that `is_secret_value` does not say stay.
pub(crate) fn parameters_but(text: &str, is_secret_value: &dyn Fn(&str) -> bool) -> String {
    let end = |of: &str| of.find(['&', '#']).unwrap_or(of.len());
    let changed = without_parameters_but(text, end, is_secret_value);
    changed.unwrap_or_else(|| text.to_owned())
}

/// A text without the values of such members of JSON.
pub(crate) fn redacted_members(text: &str, is_secret_value: &dyn Fn(&str) -> bool) -> String {
    without_members(text, is_secret_value).unwrap_or_else(|| text.to_owned())
}

fn without_parameters_but(
    text: &str,
    end: impl Fn(&str) -> usize,
    is_secret_value: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['?', '&', '#', ';']) {
        let (before, after) = rest.split_at(start + 1);
        out.push_str(before);
        rest = after;
        let is_no_name = |c: char| is_outside(c) || matches!(c, '?' | '&' | '#' | ';' | '\'');
        if let Some((name, value)) = after.split_once('=')
            && !name.contains(is_no_name)
            && is_secret(name)
        {
            let value = &value[..end(value)];
            if !value.is_empty() && is_secret_value(value) {
                out.push_str(name);
                out.push('=');
                out.push_str(REDACTED);
                rest = &after[name.len() + 1 + value.len()..];
            }
        }
    }
    if out.is_empty() {
        return None;
    }
    out.push_str(rest);
    Some(out)
}

/// The text without the values of members of JSON with a secret name, of those values that
/// `is_secret_value` says. The JSON may stand in a string, where each quote has backslashes before it.
/// `None` where there are none.
fn without_members(text: &str, is_secret_value: &dyn Fn(&str) -> bool) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut changed = false;
    while let Some(colon) = rest.find(':') {
        let (before, after) = rest.split_at(colon + 1);
        out.push_str(before);
        rest = after;
        let Some((name, quote)) = name_before(&before[..colon]) else {
            continue;
        };
        let value = after.trim_start();
        let Some(value) = value.strip_prefix(quote).filter(|_| is_secret(name)) else {
            continue;
        };
        let value = &value[..closing(value, quote)];
        if !value.is_empty() && is_secret_value(value) {
            let start = after.len() - after.trim_start().len() + quote.len();
            out.push_str(&after[..start]);
            out.push_str(REDACTED);
            rest = &after[start + value.len()..];
            changed = true;
        }
    }
    out.push_str(rest);
    changed.then_some(out)
}

/// The values that [`redacted_but`] would replace in members of JSON.
pub(crate) fn members_but(text: &str, is_secret_value: &dyn Fn(&str) -> bool) -> Vec<String> {
    let found = RefCell::default();
    let keep = |value: &str| {
        if is_secret_value(value) {
            Vec::push(&mut found.borrow_mut(), value.to_owned());
        }
        false
    };
    without_members(text, &keep);
    found.into_inner()
}

/// The name of a member before its colon, and the quote that it is in with the backslashes before it.
fn name_before(text: &str) -> Option<(&str, &str)> {
    let quoted = text.trim_end().strip_suffix('"')?;
    let name_end = quoted.trim_end_matches('\\').len();
    let quote = &text.trim_end()[name_end..];
    let name = &quoted[..name_end];
    Some((&name[name.rfind('"')? + 1..], quote))
}

/// Where a string ends that such a quote closes; the end of the text where none does.
fn closing(text: &str, quote: &str) -> usize {
    let mut from = 0;
    while let Some(found) = text[from..].find('"') {
        let at = from + found;
        let backslashes = at - text[..at].trim_end_matches('\\').len();
        if backslashes < quote.len() {
            return at - backslashes;
        }
        from = at + 1;
    }
    text.len()
}

/// True of a name like `token`, `access_token`, `auth`, `key`, `password`, `secret`, `signature` or
/// `jwt`: of a parameter, a header, a cookie or a member of JSON, whose value is then a secret.
pub fn is_secret(name: &str) -> bool {
    let name = decoded(name);
    let lower = name.to_ascii_lowercase().replace(['-', '.'], "_");
    WITHIN.iter().any(|part| lower.contains(part))
        || words_of(&name)
            .iter()
            .any(|word| WORDS.contains(&word.as_str()))
}

/// The words of a name in lower case, without digits at their ends: `accessKey`, `ACCESS_KEY` and
/// `access-key2` have the same two.
pub fn words_of(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let is_next_lower = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || before.is_uppercase() && is_next_lower
            });
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            let word = words.last_mut().expect("there is one");
            word.extend(letter.to_lowercase());
        }
    }
    for word in &mut words {
        let bare = word.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        word.truncate(bare);
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A name whose characters may be written with percent signs (RFC 3986, 2.1).
fn decoded(name: &str) -> String {
    let bytes = name.as_bytes();
    let digit = |at: usize| (*bytes.get(at)? as char).to_digit(16);
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn secrets_of_urls_are_replaced_and_nothing_else_is() {
        for (text, shown) in [
            ("ws://h/p?token=abc", "ws://h/p?token=REDACTED"),
            (
                "wss://h/p?vsn=2.0.0&access_token=a%2Eb&x=1#y",
                "wss://h/p?vsn=2.0.0&access_token=REDACTED&x=1#y",
            ),
            ("ws://h/?Auth=1&KEY=2", "ws://h/?Auth=REDACTED&KEY=REDACTED"),
            (
                "ws://h/?X-Amz-Signature=a/b+c=&X-Amz-Date=1",
                "ws://h/?X-Amz-Signature=REDACTED&X-Amz-Date=1",
            ),
            ("ws://h/?api-key=1;jwt=2", "ws://h/?api-key=REDACTED"),
            ("ws://h/?token=ab?cd", "ws://h/?token=REDACTED"),
            ("'ws://h/?token=ab'cd', x", "'ws://h/?token=REDACTED', x"),
            (
                "ws://h/?X-Auth-Id=1&authKey=2",
                "ws://h/?X-Auth-Id=REDACTED&authKey=REDACTED",
            ),
            (
                "{\"token\": \"a\\\"b\", \"n\": 1}",
                "{\"token\": \"REDACTED\", \"n\": 1}",
            ),
            (
                "[\"{\\\"apiKey\\\":\\\"a\\\"}\"]",
                "[\"{\\\"apiKey\\\":\\\"REDACTED\\\"}\"]",
            ),
            ("ws://h/?to%6ben=abc", "ws://h/?to%6ben=REDACTED"),
            ("ws://h/#id_token=abc", "ws://h/#id_token=REDACTED"),
            ("ws://user:pw@h:1/p", "ws://REDACTED@h:1/p"),
            ("ws://user@h", "ws://REDACTED@h"),
            ("ws://p@ss@h/a@b", "ws://REDACTED@h/a@b"),
            (
                "`ws://u:p@h/?password=a` is refused, ws://h/?sig=b too",
                "`ws://REDACTED@h/?password=REDACTED` is refused, ws://h/?sig=REDACTED too",
            ),
            (
                "GET /ws?secret=abc HTTP/1.1",
                "GET /ws?secret=REDACTED HTTP/1.1",
            ),
            ("\"ws://h/?jwt=a.b.c\\\"", "\"ws://h/?jwt=REDACTED\\\""),
        ] {
            assert_eq!(redacted(text), shown);
            assert_eq!(redacted(shown), shown, "a second time");
        }
        for text in [
            "ws://127.0.0.1:3334/ws?room=1&monkey=2&vsn=2.0.0",
            "--token-file=/etc/key",
            "a@b.example",
            "ws://h/?token=",
            "p99<50ms",
            "{\"token\": \"\", \"monkey\": \"a\", \"token\": 5}",
            "token: a",
            "",
        ] {
            assert_eq!(redacted(text), text);
        }
    }

    #[test]
    fn a_url_that_is_no_text_has_no_end_but_its_own() {
        for (url, shown) in [
            (
                "ws://u:p'w\"x y@h/?token=a'b c\"d&x=1",
                "ws://REDACTED@h/?token=REDACTED&x=1",
            ),
            ("ws:u:pw@h/a", "ws:REDACTED@h/a"),
            ("ws:/\\\t/u:pw@h", "ws:/\\\t/REDACTED@h"),
            ("u:pw@h", "u:REDACTED@h"),
            ("http://u:p/w@h:1", "http://REDACTED@h:1"),
            ("ws://[::1]:80/a@b", "ws://[::1]:80/a@b"),
            ("ws://[::1]/a@b", "ws://[::1]/a@b"),
            ("ws://h.example/a@b?x=c@d", "ws://h.example/a@b?x=c@d"),
            ("ws://h/?n=1", "ws://h/?n=1"),
            ("", ""),
        ] {
            assert_eq!(redacted_url(url), shown);
            assert_eq!(redacted_url(shown), shown, "a second time");
        }
    }

    proptest! {
        #[test]
        fn no_secret_survives_whatever_stands_around_it(
            before in "[a-z ?&=:/@#;]{0,20}",
            secret in "[A-Z0-9]{12}",
            after in "([&#` ][a-z=&?@:/]{0,20})?",
        ) {
            let text = format!("{before}ws://host/path?a=b&token={secret}{after}");
            let shown = redacted(&text);
            prop_assert!(!shown.contains(&secret), "{shown}");
            let text = format!("{before}ws://name:{secret}@host/{after}");
            let shown = redacted(&text);
            prop_assert!(!shown.contains(&secret), "{shown}");
        }
    }
}
