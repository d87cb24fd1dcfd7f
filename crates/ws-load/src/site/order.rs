//! What a coordinator and its sites tell each other. All times are of the site's own clock; the
//! coordinator converts them on both ways.

use crate::judge::Latencies;
use crate::ledger::Arrival;
use crate::series::{Counts, Rows};
use crate::worker::{HeldPart, OpenOrder};
use run_record::{Faults, OpenLoop};
use serde::{Deserialize, Serialize};

/// What a site is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Have your share of so many clients.
    Open {
        /// Clients of all sites together.
        clients: u64,
    },
    /// A `connect` run: have your share of so many connections, and ping those that you have.
    Connect(Connect),
    /// Hold the connections.
    Hold {
        /// Until this moment.
        until_ns: u64,
    },
    /// Begin a step.
    Begin(StepTerms),
    /// Closed loop: send these samples, whose senders are among your clients.
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
    /// Other sites have sent these samples.
    Sent(Vec<Started>),
    /// Give up what the step still waits for.
    GiveUp {
        /// Count it as missing.
        count: bool,
    },
    /// End the step and say what your part of it was.
    Finish,
    /// Close all connections and begin with new workers.
    Anew,
    /// Close all connections and end.
    Close,
}

/// What a site says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Word {
    /// So many of its clients are connected.
    Connected(u64),
    /// All clients of its share are ready.
    Opened,
    /// A client could not be connected, or was lost between steps.
    OpenFailed(Unable),
    /// It knows the step.
    Begun,
    /// The time of a hold has passed, and no ping is under way.
    Held,
    /// Samples that it has sent, and samples that none of its clients waits for any more.
    Samples {
        /// Sent since the last such word.
        sent: Vec<Started>,
        /// Settled at this site since then.
        done: Vec<Done>,
        /// Those that connections of this site take no bytes of at present.
        held_back: Vec<u32>,
    },
    /// Every client of one of its workers has been lost.
    AllLost,
    /// The first answers that it got were not of the dialect: what they were, in words.
    NotUnderstood(String),
    /// Its part of the step.
    Part(Box<SitePart>),
    /// It has begun with new workers.
    Renewed,
    /// It cannot go on: why, in words.
    Broken(String),
    /// It has closed all connections.
    Closed,
    /// One of its workers does not respond: that in words.
    Hung(String),
}

/// A step, as all sites have to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTerms {
    pub(crate) first_sample: u64,
    pub(crate) samples: u32,
    pub(crate) warm_up: u32,
    pub(crate) by_clock: bool,
    pub(crate) clients: u64,
}

/// Connections that are to be opened, as all sites have to know it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Connect(pub(crate) OpenOrder);

impl From<OpenOrder> for Connect {
    fn from(order: OpenOrder) -> Self {
        Self(order)
    }
}

/// A sample that a site has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    pub(crate) index: u32,
    pub(crate) sender: u32,
    pub(crate) due_ns: u64,
    pub(crate) at_ns: u64,
}

/// A sample that no client of a site waits for any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    pub(crate) index: u32,
    /// The last receipt.
    pub(crate) last_ns: u64,
    /// That receipt was not before this.
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

/// A site's part of a step: whole histograms, exact counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SitePart {
    pub(crate) latencies: Latencies,
    pub(crate) faults: Faults,
    pub(crate) first_malformed: Option<String>,
    pub(crate) first_disconnect: Option<String>,
    pub(crate) messages: u64,
    pub(crate) reads: u64,
    pub(crate) unstamped: u64,
    pub(crate) clock_steps: u64,
    /// CPU time of its busiest worker thread.
    pub(crate) busiest_cpu_ns: u64,
    pub(crate) largest_lag_ns: u64,
    /// CPU time of the whole process.
    pub(crate) process_cpu_ns: u64,
    pub(crate) resident_bytes: u64,
    pub(crate) counts: Counts,
    pub(crate) rows: Rows,
    /// Empty but in a `connect` run.
    pub(crate) held: HeldPart,
}

impl SitePart {
    /// Adds the part of another worker of the same process.
    pub(crate) fn merge(&mut self, other: Self) {
        self.latencies.merge(&other.latencies);
        self.faults.merge(&other.faults);
        self.first_malformed = self.first_malformed.take().or(other.first_malformed);
        self.first_disconnect = self.first_disconnect.take().or(other.first_disconnect);
        self.messages += other.messages;
        self.reads += other.reads;
        self.unstamped += other.unstamped;
        self.clock_steps += other.clock_steps;
        self.busiest_cpu_ns = self.busiest_cpu_ns.max(other.busiest_cpu_ns);
        self.largest_lag_ns = self.largest_lag_ns.max(other.largest_lag_ns);
        self.counts.add(other.counts);
        self.rows.merge(other.rows);
        self.held.merge(other.held);
    }
}

impl Order {
    /// The same with all its times moved by `by_ns`.
    pub(crate) fn shifted(mut self, by_ns: i64) -> Self {
        match &mut self {
            Self::Start { start_ns, .. } => shift(start_ns, by_ns),
            Self::Connect(Connect(order)) => {
                if let Some(by_clock) = &mut order.by_clock {
                    shift(&mut by_clock.start_ns, by_ns);
                }
            }
            Self::Hold { until_ns } => shift(until_ns, by_ns),
            Self::CountFrom { from_ns } => shift(from_ns, by_ns),
            Self::Sent(samples) => samples.iter_mut().for_each(|sample| sample.shift(by_ns)),
            _ => {}
        }
        self
    }
}

impl Word {
    /// The same with all its times moved by `by_ns`.
    pub(crate) fn shifted(mut self, by_ns: i64) -> Self {
        match &mut self {
            Self::Samples { sent, done, .. } => {
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

impl Done {
    /// The last receipt, as far as is known.
    pub(crate) const fn last(self) -> Arrival {
        Arrival {
            at_ns: self.last_ns,
            earliest_ns: self.earliest_ns,
        }
    }
}

impl Started {
    fn shift(&mut self, by_ns: i64) {
        shift(&mut self.due_ns, by_ns);
        shift(&mut self.at_ns, by_ns);
    }
}

const fn shift(time_ns: &mut u64, by_ns: i64) {
    *time_ns = time_ns.saturating_add_signed(by_ns);
}
