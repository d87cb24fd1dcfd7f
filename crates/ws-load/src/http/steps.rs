//! The steps of a client before it connects.

use super::capture::{captured, keep_cookies};
use super::dial::dial;
use super::exchange::{Answer, Sender, Written, exchange};
use super::{Caller, Shared};
use crate::clock;
use crate::dialect::AnswerTerms;
use crate::net::{FieldPlace, HttpFailure, HttpUrl, StepValue, body_place, cookie_pairs};
use hyper::body::Bytes;
use plan::{HttpStep, media_type};
use std::collections::HashMap;
use std::time::Duration;

/// What came of the steps of a client.
#[derive(Debug)]
pub(crate) struct StepsDone {
    pub(crate) slot: u32,
    /// What they were told, with the cookies of the target.
    pub(crate) told: Vec<StepValue>,
    /// The steps that were made.
    pub(crate) took: Vec<Took>,
    /// Why the last of these is the last.
    pub(crate) failure: Option<HttpFailure>,
}

/// A step that was made.
#[derive(Debug)]
pub(crate) struct Took {
    pub(crate) status: Option<u16>,
    pub(crate) took_ns: u64,
}

/// A client on its way.
#[derive(Default)]
struct Walk<'a> {
    told: Vec<StepValue>,
    /// Cookies by host, of whatever port (RFC 6265, 8.5).
    jars: HashMap<String, Vec<StepValue>>,
    /// The connection of the step before.
    open: Option<(Option<&'a str>, Sender)>,
}

/// Makes the steps of a client, each of which has the plan's time.
pub(super) async fn run(shared: &Shared, caller: Caller) -> StepsDone {
    let mut walk = Walk::default();
    let mut done = StepsDone {
        slot: caller.slot,
        told: Vec::new(),
        took: Vec::new(),
        failure: None,
    };
    let steps = shared.file().map_or(&[][..], |file| &file.open.http);
    let patience = Duration::from_nanos(shared.plan.connection.timeout.ns());
    for (step, terms) in steps.iter().zip(&shared.step_terms) {
        let began_ns = clock::now_ns();
        let made = tokio::time::timeout(patience, walk.make(shared, caller, step)).await;
        let made = made.unwrap_or(Err(HttpFailure::TimedOut {
            seconds: patience.as_secs_f64(),
        }));
        let (status, failure) = match made {
            Ok(answer) => {
                let kept = walk.keep(shared, caller, (step, terms), &answer);
                (Some(answer.status), kept.err())
            }
            Err(failure) => (None, Some(failure)),
        };
        done.took.push(Took {
            status,
            took_ns: clock::now_ns() - began_ns,
        });
        if failure.is_some() {
            done.failure = failure;
            break;
        }
    }
    done.told = walk.told;
    let (_, target) = shared.way(None, caller);
    done.told
        .extend(walk.jars.remove(host_of(target)).unwrap_or_default());
    done
}

/// A host without its port.
fn host_of(authority: &str) -> &str {
    let port = authority
        .rsplit_once(':')
        .filter(|(_, port)| !port.contains(']'));
    port.map_or(authority, |(host, _)| host)
}

impl<'a> Walk<'a> {
    async fn make(
        &mut self,
        shared: &Shared,
        caller: Caller,
        step: &'a HttpStep,
    ) -> Result<Answer, HttpFailure> {
        let unwritable = |why: String| HttpFailure::Unwritable { why };
        let url = HttpUrl::new(&step.url).map_err(|error| unwritable(error.to_string()))?;
        let base = url
            .base
            .filter(|base| shared.target.origins.contains_key(*base));
        let asks = &shared.target.asks;
        let fill = |text: &str, place| asks.fill(text, place, caller.client, &self.told);
        let mut headers: Vec<(String, String)> = step
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), fill(value, FieldPlace::Header)))
            .collect();
        let (way, authority) = shared.way(base, caller);
        let jar = self.jars.get(host_of(authority));
        let jar = jar.map_or(&[][..], Vec::as_slice);
        let cookies: Vec<String> = cookie_pairs(jar).collect();
        if !cookies.is_empty() {
            headers.push(("Cookie".to_owned(), cookies.join("; ")));
        }
        let body = step.body.as_deref().map(|body| {
            let place = body_place(&step.headers, body);
            (
                Bytes::from(fill(body, place)),
                media_type(&step.headers, body),
            )
        });
        let request = Written {
            method: step.method(),
            path: &fill(url.path, FieldPlace::Url),
            authority,
            headers: &headers,
            body: body.as_ref().map(|(body, of)| (body.clone(), of.as_str())),
        }
        .request()?;
        let kept = self.open.take().filter(|(of, _)| *of == base);
        let kept = match kept {
            Some((_, mut sender)) => sender.ready().await.is_ok().then_some(sender),
            None => None,
        };
        let mut sender = match kept {
            Some(sender) => sender,
            None => dial(&way).await?,
        };
        let answer = exchange(&mut sender, request).await?;
        self.open = Some((base, sender));
        Ok(answer)
    }

    /// Keeps what an answer tells.
    fn keep(
        &mut self,
        shared: &Shared,
        caller: Caller,
        (step, terms): (&HttpStep, &AnswerTerms),
        answer: &Answer,
    ) -> Result<(), HttpFailure> {
        answer.check(step.takes(answer.status), terms)?;
        let base = HttpUrl::new(&step.url).ok().and_then(|url| url.base);
        let base = base.filter(|base| shared.target.origins.contains_key(*base));
        let (_, authority) = shared.way(base, caller);
        let jar = self.jars.entry(host_of(authority).to_owned());
        keep_cookies(jar.or_default(), answer);
        let told = captured(answer, &step.capture, &shared.target.asks)?;
        self.told
            .retain(|(name, _)| told.iter().all(|(of, _)| of != name));
        self.told.extend(told);
        Ok(())
    }
}
