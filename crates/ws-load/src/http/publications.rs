//! Publications over HTTP, on connections that are kept.

use super::dial::dial;
use super::exchange::{Answer, Sender, Written, exchange};
use super::{Caller, Shared};
use crate::clock;
use crate::dialect::AnswerTerms;
use crate::net::{HttpFailure, HttpUrl};
use hyper::body::Bytes;
use plan::{HttpPublication, media_type};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// A publication as it is sent, and what its sender knows it by.
#[derive(Debug)]
pub(crate) struct Letter {
    /// The sample, and the first one of its step.
    pub(crate) index: u32,
    pub(crate) first_sample: u64,
    pub(crate) stamp: u64,
    /// In an open loop.
    pub(crate) due_ns: Option<u64>,
    pub(crate) handed_ns: u64,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// What came of a publication.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) slot: u32,
    pub(crate) letter: Letter,
    pub(crate) status: Option<u16>,
    pub(crate) failure: Option<HttpFailure>,
    /// When the answer came.
    pub(crate) at_ns: u64,
    /// How long it had waited here although a connection was free.
    pub(crate) lag_ns: u64,
}

/// The connections for publications.
#[derive(Debug)]
pub(super) struct Publications {
    terms: AnswerTerms,
    free: Semaphore,
    /// By node.
    idle: Mutex<HashMap<u32, Vec<Sender>>>,
}

impl Publications {
    pub(super) fn new(of: &HttpPublication) -> Self {
        Self {
            terms: AnswerTerms::of_checked(&of.when),
            free: Semaphore::new(of.connections as usize),
            idle: Mutex::default(),
        }
    }

    /// Sends a publication as soon as a connection is free. `None` where its step was given up by then.
    pub(super) async fn send(
        &self,
        shared: &Shared,
        caller: Caller,
        letter: Letter,
    ) -> Option<Answered> {
        let (permit, lag_ns) = match self.free.try_acquire() {
            Ok(permit) => (Ok(permit), clock::now_ns().saturating_sub(letter.handed_ns)),
            Err(_) => (self.free.acquire().await, 0),
        };
        if letter.first_sample < shared.given_up.load(Ordering::Relaxed) {
            return None;
        }
        let patience = Duration::from_nanos(shared.plan.limits.sample_timeout.ns());
        let made = tokio::time::timeout(patience, self.make(shared, caller, &letter)).await;
        drop(permit);
        let at_ns = clock::now_ns();
        let made = made.unwrap_or(Err(HttpFailure::TimedOut {
            seconds: patience.as_secs_f64(),
        }));
        let publication = shared.file().and_then(|file| file.send.http.as_ref());
        let (status, failure) = match made {
            Ok(answer) => {
                let has_status = publication.is_some_and(|of| of.takes(answer.status));
                let checked = answer.check(has_status, &self.terms);
                (Some(answer.status), checked.err())
            }
            Err(failure) => (None, Some(failure)),
        };
        Some(Answered {
            slot: caller.slot,
            letter,
            status,
            failure,
            at_ns,
            lag_ns,
        })
    }

    async fn make(
        &self,
        shared: &Shared,
        caller: Caller,
        letter: &Letter,
    ) -> Result<Answer, HttpFailure> {
        let unwritable = |why: &str| HttpFailure::Unwritable {
            why: why.to_owned(),
        };
        let of = shared.file().and_then(|file| file.send.http.as_ref());
        let of = of.ok_or_else(|| unwritable("there is no such request"))?;
        let url = HttpUrl::new(&of.url).map_err(|error| unwritable(&error.to_string()))?;
        let base = url
            .base
            .filter(|base| shared.target.origins.contains_key(*base));
        let (way, authority) = shared.way(base, caller);
        let media_type = media_type(&of.headers, &of.body);
        let written = Written {
            method: of.method(),
            path: &letter.path,
            authority,
            headers: &letter.headers,
            body: Some((letter.body.clone(), &media_type)),
        };
        let kept = self.take_idle(caller.node).await;
        let mut sender = match kept {
            Some(sender) => sender,
            None => dial(&way).await?,
        };
        let answer = exchange(&mut sender, written.request()?).await?;
        self.idle().entry(caller.node).or_default().push(sender);
        Ok(answer)
    }

    /// A connection that still takes requests.
    async fn take_idle(&self, node: u32) -> Option<Sender> {
        loop {
            let mut sender = self.idle().get_mut(&node)?.pop()?;
            if sender.ready().await.is_ok() {
                return Some(sender);
            }
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, HashMap<u32, Vec<Sender>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
