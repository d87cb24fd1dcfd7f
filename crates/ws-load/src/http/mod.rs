//! Requests over HTTP beside the WebSocket connections: the steps of a client before it connects, and
//! publications. They run on a thread of their own, so that no worker waits for one.

mod capture;
mod dial;
mod exchange;
pub mod for_fuzzing;
mod publications;
mod sign;
mod steps;

pub(crate) use publications::{Answered, Letter};
pub(crate) use sign::{hmac_sha256, md5};
pub(crate) use steps::StepsDone;

use crate::dialect::AnswerTerms;
use crate::io::Waker;
use crate::net::{Offered, Origin, Target};
use dial::Way;
use plan::{DialectFile, Plan};
use publications::Publications;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The thread that makes requests, and the way to it. It ends with the last of its users.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    jobs: UnboundedSender<Job>,
    /// Publications of samples before this one are not sent any more.
    given_up: Arc<AtomicU64>,
}

/// The client that makes a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) slot: u32,
    /// Its number in the whole run.
    pub(crate) client: u64,
    /// The node of the server that it connects to.
    pub(crate) node: u32,
    pub(crate) local: Option<IpAddr>,
}

/// Where what came of a job goes: the mailbox of a worker, which is woken.
pub(crate) struct Reply<T> {
    mailbox: mpsc::Sender<T>,
    waker: Waker,
}

/// A worker's way to the service.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) service: Service,
    pub(crate) waker: Waker,
}

#[derive(Debug)]
enum Job {
    Steps(Caller, Reply<StepsDone>),
    Publish(Caller, Letter, Reply<Answered>),
}

/// What every request needs.
#[derive(Debug)]
struct Shared {
    plan: Arc<Plan>,
    target: Arc<Target>,
    /// What the answers to the steps must meet.
    step_terms: Vec<AnswerTerms>,
    publications: Option<Publications>,
    given_up: Arc<AtomicU64>,
}

impl Caller {
    /// A client of worker `number` of `workers`, which is one of the `threads` of this process.
    pub(crate) fn new(
        plan: &Plan,
        slot: u32,
        (number, workers): (u32, u32),
        (thread, threads): (u32, u32),
        node: u32,
    ) -> Self {
        let addrs = &plan.target.local_addrs;
        let place = u64::from(slot) * u64::from(threads) + u64::from(thread);
        let local = (!addrs.is_empty()).then(|| addrs[(place % addrs.len() as u64) as usize]);
        Self {
            slot,
            client: u64::from(slot) * u64::from(workers) + u64::from(number),
            node,
            local,
        }
    }
}

impl<T> std::fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reply")
    }
}

impl<T> Clone for Reply<T> {
    fn clone(&self) -> Self {
        Self {
            mailbox: self.mailbox.clone(),
            waker: self.waker.clone(),
        }
    }
}

impl<T> Reply<T> {
    fn send(&self, what: T) {
        // A worker that has ended waits for nothing.
        let _ = self.mailbox.send(what);
        self.waker.wake();
    }
}

impl Access {
    /// A mailbox, and the way into it.
    pub(crate) fn mailbox<T>(&self) -> (Reply<T>, mpsc::Receiver<T>) {
        let (sender, receiver) = mpsc::channel();
        let waker = self.waker.clone();
        let mailbox = sender;
        (Reply { mailbox, waker }, receiver)
    }
}

impl Service {
    /// Starts the thread, where the plan's dialect file has requests over HTTP.
    pub(crate) fn start(plan: &Arc<Plan>, target: &Arc<Target>) -> io::Result<Option<Self>> {
        let file = plan.message.definition.as_deref();
        let Some(file) = file.filter(|file| file.http_urls().next().is_some()) else {
            return Ok(None);
        };
        let given_up = Arc::new(AtomicU64::new(0));
        let shared = Arc::new(Shared {
            given_up: Arc::clone(&given_up),
            plan: Arc::clone(plan),
            target: Arc::clone(target),
            step_terms: file
                .open
                .http
                .iter()
                .map(|step| AnswerTerms::of_checked(&step.when))
                .collect(),
            publications: file.send.http.as_ref().map(Publications::new),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let (jobs, receiver) = unbounded_channel();
        std::thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || runtime.block_on(serve(shared, receiver)))?;
        Ok(Some(Self { jobs, given_up }))
    }

    /// Has a client make its steps.
    pub(crate) fn steps(&self, caller: Caller, reply: &Reply<StepsDone>) {
        self.take(Job::Steps(caller, reply.clone()));
    }

    /// Has a client publish.
    pub(crate) fn publish(&self, caller: Caller, letter: Letter, reply: &Reply<Answered>) {
        self.take(Job::Publish(caller, letter, reply.clone()));
    }

    /// What waits to be published of samples before this one is not sent.
    pub(crate) fn give_up_before(&self, sample: u64) {
        self.given_up.fetch_max(sample, Ordering::Relaxed);
    }

    fn take(&self, job: Job) {
        // The thread ends after the last of those that could send.
        let _ = self.jobs.send(job);
    }
}

async fn serve(shared: Arc<Shared>, mut jobs: UnboundedReceiver<Job>) {
    while let Some(job) = jobs.recv().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            match job {
                Job::Steps(caller, reply) => reply.send(steps::run(&shared, caller).await),
                Job::Publish(caller, letter, reply) => {
                    let Some(publications) = &shared.publications else {
                        return;
                    };
                    if let Some(answered) = publications.send(&shared, caller, letter).await {
                        reply.send(answered);
                    }
                }
            }
        });
    }
}

impl Shared {
    fn file(&self) -> Option<&DialectFile> {
        self.plan.message.definition.as_deref()
    }

    /// The way of a client to a server, and what the server is called; the target's own without a `base`.
    fn way(&self, base: Option<&str>, caller: Caller) -> (Way, &str) {
        let target = &self.target;
        let origin: Option<&Origin> = base.and_then(|base| target.origins.get(base));
        let asks = &target.asks;
        let (endpoint, tls, authority, tunnel) = match origin {
            Some(of) => (
                &of.endpoint,
                &of.tls,
                &of.authority,
                asks.tunnel_to(&of.destination, caller.client),
            ),
            None => (
                target.node(caller.node),
                &target.tls,
                &target.authority,
                asks.tunnel(caller.client),
            ),
        };
        let way = Way {
            endpoint: endpoint.clone(),
            local: caller.local,
            tunnel,
            tls: tls.clone(),
            offered: Offered::new(&self.plan),
        };
        (way, authority)
    }
}
