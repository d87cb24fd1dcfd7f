//! Secrets in URLs: nothing that is written or printed shows them.

use crate::plan::Entry;
use crate::{Event, Plan, StepRecord};
use std::borrow::Cow;
use std::convert::Infallible;

/// What stands in the place of a secret.
const REDACTED: &str = "REDACTED";
/// A parameter whose name has one of these in it carries a secret ...
const WITHIN: [&str; 11] = [
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
    "private_key",
];
/// ... and so does one with such a name.
const WHOLE: [&str; 13] = [
    "auth",
    "authorization",
    "bearer",
    "code",
    "hmac",
    "key",
    "pass",
    "pwd",
    "session",
    "sessionid",
    "sid",
    "sig",
    "ticket",
];

/// A text in which the secrets of every URL are replaced: the values of parameters with a name like
/// `token`, `access_token`, `auth`, `key`, `password`, `secret`, `signature` or `jwt`, and what
/// stands before the `@` of a host. The text may be a URL or have some in it.
pub fn redacted(text: &str) -> Cow<'_, str> {
    if !text.contains(['=', '@']) {
        return Cow::Borrowed(text);
    }
    let without_users = without_users(text);
    let whole = match without_parameters(&without_users) {
        Some(whole) => Cow::Owned(whole),
        None => without_users,
    };
    match whole == text {
        true => Cow::Borrowed(text),
        false => Cow::Owned(whole.into_owned()),
    }
}

/// True of what ends a URL within a text.
fn is_outside(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\')
}

fn without_users(text: &str) -> Cow<'_, str> {
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
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn without_parameters(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['?', '&', '#', ';']) {
        let (before, after) = rest.split_at(start + 1);
        out.push_str(before);
        let is_end = |c: char| is_outside(c) || matches!(c, '&' | '#' | '?');
        let parameter = &after[..after.find(is_end).unwrap_or(after.len())];
        rest = after;
        if let Some((name, value)) = parameter.split_once('=')
            && !value.is_empty()
            && is_secret(name)
        {
            out.push_str(name);
            out.push('=');
            out.push_str(REDACTED);
            rest = &after[parameter.len()..];
        }
    }
    if out.is_empty() {
        return None;
    }
    out.push_str(rest);
    Some(out)
}

/// True of a name like `token`, `access_token`, `auth`, `key`, `password`, `secret`, `signature` or
/// `jwt`: of a parameter, a header or a cookie, whose value is then a secret.
pub fn is_secret(name: &str) -> bool {
    let name = decoded(name).to_ascii_lowercase().replace(['-', '.'], "_");
    WHOLE.contains(&name.as_str()) || WITHIN.iter().any(|part| name.contains(part))
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

impl Plan {
    /// The plan as it is written: without secrets in URLs, header lines, cookies and parameters. What
    /// says where a secret is kept stays.
    #[must_use]
    pub fn redacted(&self) -> Self {
        let mut plan = self.clone();
        plan.target.url = redacted(&plan.target.url).into_owned();
        if let Some(proxy) = &mut plan.target.proxy {
            *proxy = redacted(proxy).into_owned();
        }
        let shown = |entry: Entry<'_>| Ok::<_, Infallible>(entry.shown());
        let Ok(()) = plan.connection.change_values(shown);
        plan
    }
}

impl StepRecord {
    /// The step as it is written: without secrets in its texts.
    #[must_use]
    pub fn redacted(&self) -> Self {
        let mut step = self.clone();
        for reason in &mut step.verdict_reasons {
            *reason = redacted(reason).into_owned();
        }
        // What a peer said: a redirect, an answer to an upgrade, the reason of a close.
        let connections = step.connections.as_mut();
        let churn = step.churn.as_mut();
        let slow = step.slow_readers.as_mut();
        let said = [
            connections.and_then(|of| of.first_failure.as_mut()),
            churn.and_then(|of| of.first_failure.as_mut()),
            slow.and_then(|of| of.first_cut_off.as_mut()),
        ];
        for words in said.into_iter().flatten() {
            *words = redacted(words).into_owned();
        }
        step
    }
}

impl Event {
    /// The event as it is written: without secrets in its texts.
    #[must_use]
    pub fn redacted(&self) -> Self {
        match self {
            Self::Step { step, record } => Self::Step {
                step: *step,
                record: Box::new(record.redacted()),
            },
            Self::WarmedUp { warm_up } => {
                let mut warm_up = warm_up.clone();
                warm_up.cold = warm_up.cold.redacted();
                Self::WarmedUp { warm_up }
            }
            Self::End { outcome } => {
                let mut outcome = outcome.clone();
                outcome.detail = redacted(&outcome.detail).into_owned();
                Self::End { outcome }
            }
            other => other.clone(),
        }
    }
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
            "",
        ] {
            assert_eq!(redacted(text), text);
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
