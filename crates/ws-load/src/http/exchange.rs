//! One request over HTTP, and its whole answer.

use crate::dialect::AnswerTerms;
use crate::net::HttpFailure;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::{HeaderMap, Request};
use std::error::Error as _;

/// The sending side of a connection.
pub(super) type Sender = SendRequest<Full<Bytes>>;

/// Longest body of an answer in bytes.
const LONGEST_BODY: usize = 1 << 20;
/// Most characters of a body that are shown.
const SHOWN: usize = 200;

/// A request as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) authority: &'a str,
    pub(super) headers: &'a [(String, String)],
    /// With its media type, where `headers` do not say it.
    pub(super) body: Option<(Bytes, &'a str)>,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Written<'_> {
    /// The request for the library.
    pub(super) fn request(&self) -> Result<Request<Full<Bytes>>, HttpFailure> {
        let unwritable = |why: String| HttpFailure::Unwritable { why };
        let body = self.body.as_ref().map(|(body, _)| body.clone());
        let mut request = Request::builder()
            .method(self.method)
            .uri(self.path)
            .body(Full::new(body.unwrap_or_default()))
            .map_err(|error| unwritable(error.to_string()))?;
        let headers = request.headers_mut();
        for (name, value) in self.headers {
            let name: HeaderName = name.parse().map_err(|_| unwritable(name.clone()))?;
            let value = HeaderValue::from_str(value);
            headers.append(
                &name,
                value.map_err(|error| unwritable(format!("{name}: {error}")))?,
            );
        }
        let mut otherwise = |name: HeaderName, value: &str| {
            if let (false, Ok(value)) = (headers.contains_key(&name), value.parse()) {
                headers.insert(name, value);
            }
        };
        otherwise(HOST, self.authority);
        otherwise(USER_AGENT, "websocket-bench");
        if let Some((_, media_type)) = &self.body {
            otherwise(CONTENT_TYPE, media_type);
        }
        Ok(request)
    }
}

/// Sends a request and reads its answer to the end.
pub(super) async fn exchange(
    sender: &mut Sender,
    request: Request<Full<Bytes>>,
) -> Result<Answer, HttpFailure> {
    let answer = sender.send_request(request).await;
    let (head, body) = answer.map_err(|error| broken(&error))?.into_parts();
    let body = Limited::new(body, LONGEST_BODY).collect().await;
    let body = body.map_err(|error| match error.is::<LengthLimitError>() {
        true => HttpFailure::TooLong { most: LONGEST_BODY },
        false => HttpFailure::Broken {
            why: error.to_string(),
        },
    })?;
    Ok(Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        body: body.to_bytes(),
    })
}

fn broken(error: &hyper::Error) -> HttpFailure {
    let cause = error.source().map(|cause| format!(": {cause}"));
    HttpFailure::Broken {
        why: format!("{error}{}", cause.unwrap_or_default()),
    }
}

impl Answer {
    /// Whether the answer is the one that is due: its status is, and its body meets these terms.
    pub(super) fn check(&self, has_status: bool, terms: &AnswerTerms) -> Result<(), HttpFailure> {
        if !has_status {
            return Err(self.refusal());
        }
        let status = self.status;
        match terms.unmet(&self.body) {
            Some(why) => Err(HttpFailure::Unmet { status, why }),
            None => Ok(()),
        }
    }

    fn refusal(&self) -> HttpFailure {
        let text = String::from_utf8_lossy(&self.body);
        let mut lines = text.lines().map(str::trim);
        let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
        HttpFailure::Status {
            status: self.status,
            line: line.chars().take(SHOWN).collect(),
        }
    }
}
