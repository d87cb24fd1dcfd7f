//! What a step keeps of an answer.

use super::exchange::Answer;
use crate::net::{Asks, COOKIE, HttpFailure, StepValue};
use hyper::header::SET_COOKIE;
use plan::HttpCapture;
use std::collections::BTreeMap;

/// The hole of a pattern.
const HOLE: &str = "{value}";
/// Longest value in bytes.
const LONGEST: usize = 64 * 1024;

/// The values that `wanted` names.
pub(super) fn captured(
    answer: &Answer,
    wanted: &BTreeMap<String, HttpCapture>,
    asks: &Asks,
) -> Result<Vec<StepValue>, HttpFailure> {
    let body = String::from_utf8_lossy(&answer.body);
    let json = || serde_json::from_str::<serde_json::Value>(&body).ok();
    let mut told = Vec::new();
    for (name, from) in wanted {
        let value = match from {
            HttpCapture::Json(pointer) => json().and_then(|value| {
                let value = value.pointer(pointer)?;
                let number = value.is_number().then(|| value.to_string());
                value.as_str().map(str::to_owned).or(number)
            }),
            HttpCapture::Header(header) => {
                let value = answer.headers.get(header);
                value
                    .and_then(|value| value.to_str().ok())
                    .map(str::to_owned)
            }
            HttpCapture::Cookie(cookie) => {
                let found = cookies(answer).find(|(name, _)| name == cookie);
                found.map(|(_, value)| value)
            }
            HttpCapture::Pattern(pattern) => within(&body, pattern),
        };
        let value = value.filter(|value| !value.is_empty() && value.len() <= LONGEST);
        let value = value.ok_or_else(|| HttpFailure::NotTold { name: name.clone() })?;
        asks.admits(name, &value)
            .map_err(|why| HttpFailure::Unfit {
                name: name.clone(),
                why,
            })?;
        told.push((name.clone(), value));
    }
    Ok(told)
}

/// What is kept of a body under these names, for the law of the fuzz target.
pub(super) fn of_body(body: &[u8], wanted: &BTreeMap<String, HttpCapture>) -> Vec<StepValue> {
    let answer = Answer {
        status: 200,
        headers: hyper::HeaderMap::new(),
        body: hyper::body::Bytes::copy_from_slice(body),
    };
    let one = |(name, from): (&String, &HttpCapture)| {
        let wanted = BTreeMap::from([(name.clone(), from.clone())]);
        captured(&answer, &wanted, &Asks::default()).ok()
    };
    wanted.iter().filter_map(one).flatten().collect()
}

/// What stands in the hole of a pattern.
fn within(body: &str, pattern: &str) -> Option<String> {
    let (before, behind) = pattern.split_once(HOLE)?;
    let start = body.find(before)? + before.len();
    let end = body[start..].find(behind)?;
    Some(body[start..start + end].to_owned())
}

/// The cookies that an answer sets (RFC 6265, 5.2), but for those that a header cannot carry.
pub(super) fn cookies(answer: &Answer) -> impl Iterator<Item = StepValue> {
    let lines = answer.headers.get_all(SET_COOKIE).iter();
    lines.filter_map(|line| {
        let pair = line.to_str().ok()?.split(';').next()?;
        let (name, value) = pair.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    })
}

/// Keeps cookies; the latest of a name counts, and an empty one ends it.
pub(super) fn keep_cookies(jar: &mut Vec<StepValue>, answer: &Answer) {
    for (name, value) in cookies(answer) {
        let name = format!("{COOKIE}{name}");
        jar.retain(|(of, _)| *of != name);
        if !value.is_empty() {
            jar.push((name, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::HeaderMap;

    fn answer(body: &'static str, cookies: &[&'static str]) -> Answer {
        let mut headers = HeaderMap::new();
        headers.insert("x-csrf", "of the header".parse().unwrap());
        for cookie in cookies {
            headers.append(SET_COOKIE, cookie.parse().unwrap());
        }
        Answer {
            status: 200,
            headers,
            body: body.into(),
        }
    }

    fn one(answer: &Answer, from: HttpCapture) -> Result<String, HttpFailure> {
        let wanted = BTreeMap::from([("name".to_owned(), from)]);
        captured(answer, &wanted, &Asks::default()).map(|mut told| told.remove(0).1)
    }

    #[test]
    fn values_are_found_in_each_of_the_places() {
        let json = answer(
            r#"{"a":{"b":"text","n":7,"o":{}}}"#,
            &["sid=a=b; Path=/; HttpOnly"],
        );
        let pointer = |to: &str| one(&json, HttpCapture::Json(to.to_owned()));
        assert_eq!(pointer("/a/b").unwrap(), "text");
        assert_eq!(pointer("/a/n").unwrap(), "7");
        assert!(pointer("/a/o").is_err() && pointer("/c").is_err());
        assert_eq!(
            one(&json, HttpCapture::Header("X-CSRF".to_owned())).unwrap(),
            "of the header"
        );
        assert_eq!(
            one(&json, HttpCapture::Cookie("sid".to_owned())).unwrap(),
            "a=b"
        );
        let page = answer(r#"<meta name="csrf" content="abc"><meta content="d">"#, &[]);
        let pattern = r#"name="csrf" content="{value}""#.to_owned();
        assert_eq!(one(&page, HttpCapture::Pattern(pattern)).unwrap(), "abc");
        let absent = HttpCapture::Pattern("id=\"{value}\"".to_owned());
        assert_eq!(
            one(&page, absent),
            Err(HttpFailure::NotTold {
                name: "name".to_owned()
            })
        );
    }

    #[test]
    fn the_latest_cookie_of_a_name_is_kept_and_an_empty_one_ends_it() {
        let mut jar = Vec::new();
        keep_cookies(&mut jar, &answer("", &["a=1", "b=2; Secure"]));
        keep_cookies(&mut jar, &answer("", &["a=3", "b=; Max-Age=0"]));
        assert_eq!(jar, [("cookie:a".to_owned(), "3".to_owned())]);
    }
}
