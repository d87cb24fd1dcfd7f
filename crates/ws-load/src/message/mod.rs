//! Commands to a worker thread, a process and a machine, and their reports.
//!
//! One vocabulary for all three: the controller sends the same commands to the threads of this
//! process and to processes elsewhere. All times are of the clock of the worker that takes the
//! command or makes the report; a coordinator converts them in both directions.

mod dialogues;
mod drops;
mod feed;
mod handshakes;
mod http;
mod part;
mod streams;
mod terms;
mod watch;

pub(crate) use dialogues::DialoguesPart;
pub(crate) use drops::DropsPart;
pub(crate) use feed::{AgesPart, FeedPart};
pub(crate) use handshakes::HandshakePart;
pub(crate) use http::{HttpPart, RequestsPart};
pub use part::StepPart;
pub(crate) use part::{
    ChurnPart, FirstFaults, HeartbeatPart, HeldPart, OfSender, RawPart, SegmentsPart, SlowPart,
    VisitsPart,
};
pub(crate) use streams::StreamsPart;
pub use terms::{OpenTerms, RawTerms, Share, StartByClock, StepTerms};
pub(crate) use watch::{NEVER, SentMessage, Stay, WatchPart, Watcher};

use crate::figures::{Arrival, Interval};
use plan::OpenLoop;
use serde::{Deserialize, Serialize};

/// A command to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Command {
    /// Connect your share of this many clients.
    Open {
        /// Clients of all workers together.
        clients: u64,
    },
    /// A `connect` run: open your share of this many connections, and ping those that are open.
    OpenAndHold(OpenTerms),
    /// Hold the connections, and report when the time has passed and no ping is under way.
    Hold {
        /// Until this moment.
        until_ns: u64,
    },
    /// Begin a step.
    Begin(StepTerms),
    /// Closed loop: send these samples of the step, whose senders are among your clients.
    Send(Vec<u32>),
    /// Count the seconds of the step.
    CountFrom {
        /// From this moment on.
        from_ns: u64,
    },
    /// Open loop: send your part of a schedule.
    Start {
        /// The load; the schedule is a function of it, the plan's seed and the step.
        load: OpenLoop,
        /// When it begins.
        start_ns: u64,
    },
    /// A watched step: publish your part of its messages, and report when the time for them is over.
    Watch {
        /// When the first message is due.
        start_ns: u64,
    },
    /// Other sites have sent these samples.
    Sent(Vec<SentSample>),
    /// Give up what the step still waits for.
    GiveUp {
        /// Count it as missing.
        count: bool,
    },
    /// End the step and report your part of it.
    Finish,
    /// Close all connections and begin with new workers.
    Renew,
    /// Close all connections and end.
    Close,
    /// Send packs to a raw echo over all connections, and give them up then.
    Raw(RawTerms),
    /// These samples are complete at all sites.
    Complete(Vec<CompleteSample>),
}

/// A report of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// Of a site: so many of its clients are connected.
    Connected(u64),
    /// All clients of its share are ready.
    Opened,
    /// A client could not be connected, or was lost between steps.
    OpenFailed(Unable),
    /// It knows the step and may receive its samples.
    Begun,
    /// The time of a hold has passed, and no ping is under way; or that of a watched step.
    Held,
    /// Of a site: samples that it sent, and samples that none of its clients waits for any more.
    Samples(Samples),
    /// What was counted and became complete since the report of this kind before it; about once a
    /// second.
    Interval(Box<Interval>),
    /// Every client of a worker thread has been lost that sends.
    AllLost,
    /// The first answers were not of the dialect: what they were, in words.
    NotUnderstood(String),
    /// Its part of the step.
    Part(Box<StepPart>),
    /// It has begun with new workers.
    Renewed,
    /// It cannot go on: why, in words.
    Broken(String),
    /// It has closed all connections.
    Closed,
    /// It no longer responds, or cannot be reached: why, in words.
    Lost(String),
    /// The last sample of the step is settled. Over sites only the coordinator knows it.
    AllSamples,
}

/// What became of samples at a site since it last said so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// Sent.
    pub(crate) sent: Vec<SentSample>,
    /// Settled at this site.
    pub(crate) done: Vec<Done>,
    /// Samples whose connections at this site take no bytes at present.
    pub(crate) held_back: Vec<u32>,
}

/// A sample that a site has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentSample {
    pub(crate) index: u32,
    pub(crate) sender: u32,
    pub(crate) due_ns: u64,
    pub(crate) at_ns: u64,
}

/// A sample that all clients have which it waited for, at whichever site they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompleteSample {
    pub(crate) index: u32,
    /// The last receipt.
    pub(crate) last_ns: u64,
}

/// A sample that no client of a site waits for any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    pub(crate) index: u32,
    /// The last receipt.
    pub(crate) last_ns: u64,
    /// The earliest time that this receipt can have.
    pub(crate) earliest_ns: u64,
    /// The read after which the site knew that.
    pub(crate) read_ns: u64,
    pub(crate) unread_ns: u64,
    /// The sender's result came last.
    pub(crate) by_result: bool,
    /// Something of it will never come, since a client of the site was lost.
    pub(crate) abandoned: bool,
}

/// Why a client could not be connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unable {
    pub(crate) words: String,
    /// The site's machine, and not the server, was the limit.
    pub(crate) machine_limit: bool,
}

impl Report {
    /// Bytes that it takes in memory, of those that come without a bound.
    pub fn bytes(&self) -> usize {
        let within = match self {
            Self::Samples(of) => {
                size_of_val(&of.sent[..])
                    + size_of_val(&of.done[..])
                    + size_of_val(&of.held_back[..])
            }
            _ => 0,
        };
        size_of::<Self>() + within
    }
}

impl Command {
    /// The same with all its times moved by `by_ns`.
    pub(crate) fn shifted(mut self, by_ns: i64) -> Self {
        match &mut self {
            Self::Start { start_ns, .. } | Self::Watch { start_ns } => shift(start_ns, by_ns),
            Self::OpenAndHold(terms) => {
                if let Some(by_clock) = &mut terms.by_clock {
                    shift(&mut by_clock.start_ns, by_ns);
                }
            }
            Self::Hold { until_ns } => shift(until_ns, by_ns),
            Self::CountFrom { from_ns } => shift(from_ns, by_ns),
            Self::Sent(samples) => samples.iter_mut().for_each(|sample| sample.shift(by_ns)),
            Self::Complete(samples) => {
                for sample in samples {
                    shift(&mut sample.last_ns, by_ns);
                }
            }
            _ => {}
        }
        self
    }
}

impl Report {
    /// The same with all its times moved by `by_ns`.
    pub(crate) fn shifted(mut self, by_ns: i64) -> Self {
        match &mut self {
            Self::Samples(Samples { sent, done, .. }) => {
                sent.iter_mut().for_each(|sample| sample.shift(by_ns));
                for sample in done {
                    shift(&mut sample.last_ns, by_ns);
                    shift(&mut sample.earliest_ns, by_ns);
                    shift(&mut sample.read_ns, by_ns);
                }
            }
            // 0 stands for never.
            Self::Part(part) if part.held.last_open_ns > 0 => {
                shift(&mut part.held.last_open_ns, by_ns);
            }
            _ => {}
        }
        self
    }
}

impl Samples {
    pub(crate) const fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.done.is_empty() && self.held_back.is_empty()
    }

    /// Adds the report of another worker.
    pub(crate) fn extend(&mut self, other: Self) {
        self.sent.extend(other.sent);
        self.done.extend(other.done);
        self.held_back.extend(other.held_back);
    }
}

impl Done {
    /// The last receipt, as far as is known.
    pub(crate) const fn last(self) -> Arrival {
        Arrival {
            at_ns: self.last_ns,
            earliest_ns: self.earliest_ns,
        }
    }
}

impl SentSample {
    fn shift(&mut self, by_ns: i64) {
        shift(&mut self.due_ns, by_ns);
        shift(&mut self.at_ns, by_ns);
    }
}

const fn shift(time_ns: &mut u64, by_ns: i64) {
    *time_ns = time_ns.saturating_add_signed(by_ns);
}
