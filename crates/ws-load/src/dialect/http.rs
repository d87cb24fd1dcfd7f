//! The rules for requests over HTTP: steps before a client connects, and publications.

use super::answer::AnswerTerms;
use super::error::{DialectError, at_most};
use super::placeholders::{check_variable, with_variables};
use crate::net::HttpUrl;
use plan::{
    DialectFile, HttpCapture, HttpPublication, HttpStep, Load, Meaning, PLACEHOLDERS,
    PUBLICATION_NAMES, Part, Plan, is_token, parts,
};
use std::collections::BTreeMap;

/// Most steps of a client.
const MOST_STEPS: usize = 16;
/// Most connections for publications of a process.
const MOST_CONNECTIONS: u32 = 10_000;
/// Headers that the client library writes.
const OWN_HEADERS: [&str; 5] = [
    "connection",
    "content-length",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Checks the requests over HTTP of a file.
///
/// # Errors
/// The first thing that makes no sense, with its key and a remedy.
pub(super) fn check(file: &DialectFile) -> Result<(), DialectError> {
    at_most("open.http", file.open.http.len(), "steps", MOST_STEPS)?;
    for (index, step) in file.open.http.iter().enumerate() {
        check_step(&format!("open.http[{}]", index + 1), step)?;
    }
    for name in file.told_by_steps() {
        if file.open.signatures.contains_key(name) {
            return Err(DialectError::unfit(
                format!("open.signatures.{name}"),
                "has the name of a value that is captured",
                "write another name",
            ));
        }
    }
    match &file.send.http {
        Some(of) => check_publication(file, of),
        None => Ok(()),
    }
}

/// Checks that a plan makes the publications of its file.
pub(super) fn check_plan(plan: &Plan, file: &DialectFile) -> Result<(), DialectError> {
    match (&file.send.http, &plan.load) {
        (Some(_), Load::Watch(_)) => Err(DialectError::unfit(
            "send.http",
            "publishes over HTTP, and a watched load publishes over the connections that it watches",
            "take another load, or write `broadcast`",
        )),
        _ => Ok(()),
    }
}

fn check_step(key: &str, step: &HttpStep) -> Result<(), DialectError> {
    let texts = std::iter::once(("url", step.url.as_str()));
    let texts = texts.chain(step.body.iter().map(|body| ("body", body.as_str())));
    let texts = texts.chain(
        step.headers
            .values()
            .map(|value| ("headers", value.as_str())),
    );
    for (name, text) in texts {
        let key = format!("{key}.{name}");
        with_variables(&key, text)?;
        if text.contains("{sequence}") {
            return Err(DialectError::unfit(
                key,
                "has {sequence}, which counts messages",
                "leave it out",
            ));
        }
    }
    check_request(key, step.method(), &step.url, &step.headers)?;
    if step.body.is_some() && matches!(step.method(), "GET" | "HEAD") {
        return Err(DialectError::unfit(
            format!("{key}.body"),
            format!("stands beside the method {}, which has none", step.method()),
            "leave one of them out",
        ));
    }
    check_statuses(key, &step.status)?;
    AnswerTerms::new(&format!("{key}.when"), &step.when)?;
    for (name, from) in &step.capture {
        let key = format!("{key}.capture.{name}");
        check_variable(&key, name)?;
        check_capture(&key, from)?;
    }
    Ok(())
}

/// What steps and publications have in common.
fn check_request(
    key: &str,
    method: &str,
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<(), DialectError> {
    if !is_token(method) || method == "CONNECT" || method.chars().any(|c| c.is_ascii_lowercase()) {
        return Err(DialectError::unfit(
            format!("{key}.method"),
            "is no method of a request",
            "write GET, POST, PUT or another in capital letters",
        ));
    }
    check_url(&format!("{key}.url"), url)?;
    let key = format!("{key}.headers");
    for (name, value) in headers {
        if !is_token(name) || OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(DialectError::unfit(
                key,
                format!(
                    "has `{name}`, which is no name of a header, or one that is written anyway"
                ),
                "leave it out",
            ));
        }
        if !value.chars().all(|c| matches!(c, ' '..='~')) {
            return Err(DialectError::unfit(
                key,
                format!("has a value of `{name}` that is no printable ASCII on one line"),
                "write one that is",
            ));
        }
    }
    Ok(())
}

fn check_url(key: &str, url: &str) -> Result<(), DialectError> {
    const REMEDY: &str = "write a path of the target's server like `/login`, or a URL like \
                          `https://auth.example/login`";
    let of = HttpUrl::new(url).map_err(|why| DialectError::unfit(key, why.to_string(), REMEDY))?;
    let filled: String = parts(of.path)
        .into_iter()
        .map(|part| match part {
            Part::Text(text) => text.into_owned(),
            Part::Variable(_) => "1".to_owned(),
        })
        .collect();
    match filled.parse::<hyper::Uri>() {
        Ok(_) => Ok(()),
        Err(why) => Err(DialectError::unfit(
            key,
            format!("has a path that cannot be asked for ({why})"),
            "percent-encode what cannot stand there",
        )),
    }
}

fn check_statuses(key: &str, statuses: &[u16]) -> Result<(), DialectError> {
    match statuses.iter().find(|of| !(200..600).contains(*of)) {
        None => Ok(()),
        Some(status) => Err(DialectError::unfit(
            format!("{key}.status"),
            format!("has {status}, which no answer ends with"),
            "write statuses from 200 to 599",
        )),
    }
}

fn check_capture(key: &str, from: &HttpCapture) -> Result<(), DialectError> {
    let (fits, problem, remedy) = match from {
        HttpCapture::Json(pointer) => (
            pointer.is_empty() || pointer.starts_with('/'),
            "is no JSON pointer (RFC 6901)",
            "write one like `/data/token`",
        ),
        HttpCapture::Header(name) | HttpCapture::Cookie(name) => (
            is_token(name),
            "names no header or cookie",
            "write the name alone",
        ),
        HttpCapture::Pattern(pattern) => (
            pattern
                .split_once("{value}")
                .is_some_and(|(before, behind)| {
                    !before.is_empty() && !behind.is_empty() && !behind.contains("{value}")
                }),
            "does not have {value} once between two texts",
            "write what stands before and behind the value: `csrf=\"{value}\"`",
        ),
    };
    match fits {
        true => Ok(()),
        false => Err(DialectError::unfit(key, problem, remedy)),
    }
}

fn check_publication(file: &DialectFile, of: &HttpPublication) -> Result<(), DialectError> {
    const KEY: &str = "send.http";
    let has = |means| file.receive.iter().any(|rule| rule.means == means);
    let unfit =
        |key: &str, problem: &str, remedy: &str| Err(DialectError::unfit(key, problem, remedy));
    if file.send.broadcast.is_some() || file.send.publish.is_some() {
        return unfit(
            KEY,
            "stands beside `broadcast` or `publish`",
            "leave one of them out",
        );
    }
    if file.send.acknowledged.is_some() || has(Meaning::Result) || has(Meaning::Published) {
        return unfit(
            KEY,
            "is acknowledged by the answer over HTTP",
            "leave `acknowledged` out, and rules that mean `result` or `published`",
        );
    }
    if !has(Meaning::Delivery) && !has(Meaning::Message) {
        return unfit(
            KEY,
            "has no rule for what clients hear of it",
            "write [[receive]] with `means = \"delivery\"`, or with `means = \"message\"` for rooms",
        );
    }
    if of.body.contains("{sequence}") {
        return unfit(
            "send.http.body",
            "has {sequence}, which counts messages of a connection",
            "leave it out",
        );
    }
    check_request(KEY, of.method(), &of.url, &of.headers)?;
    check_statuses(KEY, &of.status)?;
    AnswerTerms::new("send.http.when", &of.when)?;
    if !(1..=MOST_CONNECTIONS).contains(&of.connections) {
        return unfit(
            "send.http.connections",
            &format!("is {}", of.connections),
            &format!("write 1 to {MOST_CONNECTIONS}"),
        );
    }
    for name in of.signatures.keys() {
        let key = format!("send.http.signatures.{name}");
        check_variable(&key, name)?;
        let is_known = file.captured().any(|known| known == name);
        if is_known || PUBLICATION_NAMES.contains(&name.as_str()) {
            return unfit(
                &key,
                "has a name with another meaning",
                "write another name",
            );
        }
    }
    check_texts(file, of)
}

/// Its texts besides the body have no placeholder that only a body has.
fn check_texts(file: &DialectFile, of: &HttpPublication) -> Result<(), DialectError> {
    let has_topic = file.publication().is_some();
    for text in of.texts() {
        for part in parts(text) {
            let Part::Variable(name) = part else { continue };
            let has_meaning = name == "stamp" || has_topic && name == "topic";
            if PLACEHOLDERS.contains(&name) && !has_meaning {
                return Err(DialectError::unfit(
                    "send.http",
                    format!("has {{{name}}} outside of its body"),
                    "write it in `body` alone",
                ));
            }
        }
    }
    Ok(())
}
