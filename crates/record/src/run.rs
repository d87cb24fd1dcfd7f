//! The record of one run of the generator against one server.

use super::{
    Churn, CompressionUse, Connections, Dialogues, DropTimes, Environment, Faults, Feed,
    Heartbeats, HttpUse, InFlight, Latency, SiteUse, Streams, Throughput, TimeSeries, TlsUse, Told,
    Tool, VERSION, Verdict, Watched,
};
use plan::{Audience, DialectFile, Meaning, Measure, Plan, SearchOf};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::net::SocketAddr;

/// Value of `format` in a [`RunRecord`].
pub const RUN_FORMAT: &str = "websocket-shootout/run";

/// The record of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// Always `websocket-shootout/run`.
    #[schemars(extend("const" = RUN_FORMAT))]
    pub format: String,
    /// Version of this format.
    #[schemars(extend("const" = VERSION))]
    #[serde(deserialize_with = "super::format::of_now")]
    pub version: u32,
    /// The program that measured.
    pub tool: Tool,
    /// When the run began, RFC 3339 in UTC.
    pub started: String,
    /// When the run ended, RFC 3339 in UTC.
    pub ended: String,
    /// The command line.
    pub command: Vec<String>,
    /// What was planned.
    #[serde(serialize_with = "without_secrets")]
    #[schemars(with = "Plan")]
    pub plan: Plan,
    /// What of the messages was not checked, in words; absent where all of it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<Told>,
    /// The file of the lines that requests carried; absent where the plan names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_lines: Option<PayloadLines>,
    /// Where it was run.
    pub environment: Environment,
    /// What came before the first step; absent where the plan asks for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Box<WarmUp>>,
    /// Every step that was measured, in order. The step that broke the limit is one of them.
    pub steps: Vec<StepRecord>,
    /// How it ended.
    pub outcome: Outcome,
    /// The address of the server. If the name in the URL has several, it is the first that took a
    /// connection. Absent where other processes opened the connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<SocketAddr>,
}

fn without_secrets<S: Serializer>(plan: &Plan, serializer: S) -> Result<S::Ok, S::Error> {
    plan.redacted().serialize(serializer)
}

/// The file of `message.lines`, whose content is in no record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PayloadLines {
    /// Its name, without the folder.
    pub file: String,
    /// How many lines it has.
    pub lines: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-1 (FIPS 180-4), in lower-case hexadecimal digits.
    pub sha1: String,
}

/// Steps that were carried out before the first one, with its load, and decide nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// How many there were.
    pub steps: u32,
    /// From the beginning of the first to the end of the last, in nanoseconds.
    pub elapsed_ns: u64,
    /// The first of them: the server as it is just after its start.
    pub cold: StepRecord,
    /// Faults of the server in all of them.
    pub faults: Faults,
}

/// One step: so many clients, so many samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepRecord {
    /// Clients connected while the step was measured.
    pub clients: u64,
    /// Planned requests per second at the start of the step. Absent in a closed loop.
    pub rate: Option<f64>,
    /// Samples planned.
    pub samples_planned: u64,
    /// Samples that completed.
    pub samples: u64,
    /// Open loop: timed requests that went out within the planned time. Absent in a closed loop,
    /// and when the step was given up before that time was over.
    #[serde(default)]
    pub sent: Option<u64>,
    /// Length of the measurement in nanoseconds.
    pub elapsed_ns: u64,
    /// Time in nanoseconds that it took to open the clients that this step added.
    pub connecting_ns: u64,
    /// Broadcast: from the send to the receipt by the last listener. Echo: from the send to the
    /// answer. `connect` run: from the intended start of the TCP connect to the accepted upgrade,
    /// the dialect's subscription included.
    pub completion: Option<Latency>,
    /// From the send to the receipt by each listener. Absent for echo.
    pub delivery: Option<Latency>,
    /// From the send to the sender's result. Absent for echo.
    pub ack: Option<Latency>,
    /// Open loop: completion counted from when the request was really sent, where `completion`
    /// counts from the intended moment. A tool that waits for the server would have reported this.
    /// Absent in a closed loop, where both are the same.
    pub uncorrected: Option<Latency>,
    /// Open loop: from the intended moment of a send to the write of its request. `connect` run
    /// with a rate: from the intended start of a connection to its real start. Absent otherwise.
    pub send_lag: Option<Latency>,
    /// Requests that the server did not take in time. Absent when it took all.
    #[serde(default)]
    pub backpressure: Option<Backpressure>,
    /// The latency that the limit was applied to: at the limit's percentile, in nanoseconds.
    pub limited_ns: Option<u64>,
    /// The lower bound of `limited_ns` in nanoseconds, where some messages had no stamp of their
    /// own (see `generator.shared_stamps`). The true latency lies between the two. Absent where
    /// every message had its own stamp.
    #[serde(default)]
    pub limited_at_least_ns: Option<u64>,
    /// The lower bound of the distribution that the limit was applied to: each message without a
    /// stamp of its own is counted as early as it may have come. Every true percentile lies between
    /// that of this distribution and the reported one. Absent where every message had its own
    /// stamp.
    #[serde(default)]
    pub limited_at_least: Option<Latency>,
    /// `limited_ns` is above the limit.
    pub over_limit: bool,
    /// Some sample did not complete in time, and the step ended early.
    pub timed_out: bool,
    /// Messages and bytes, in all and per second. Absent in a `connect` run, and in records from
    /// before they were counted.
    #[serde(default)]
    pub throughput: Option<Throughput>,
    /// TCP segments with data that came to the clients, from before the first request until all was
    /// received. Absent in a `connect` run, where a connection came or went meanwhile, over Unix sockets,
    /// where a kernel does not tell, and in records from before.
    #[serde(default)]
    pub received_segments: Option<u64>,
    /// The step second by second. Absent where `throughput` is.
    #[serde(default)]
    pub series: Option<TimeSeries>,
    /// What compression did; absent where none was offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<CompressionUse>,
    /// TLS handshakes; absent where the server was loaded without TLS, and in records from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Box<TlsUse>>,
    /// Heartbeats of the clients; absent where the dialect has none, and in records from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeats: Option<Box<Heartbeats>>,
    /// Messages that the server sent by itself; absent where the dialect has no feed, and in records from
    /// before.
    #[serde(default)]
    pub feed: Option<Box<Feed>>,
    /// Requests over HTTP; absent where the dialect has none, and in records from before.
    #[serde(default)]
    pub http: Option<Box<HttpUse>>,
    /// Answers that came in parts; absent where the dialect has no rule for a part, and in records from
    /// before.
    #[serde(default)]
    pub streams: Option<Box<Streams>>,
    /// Dialogues; absent where no script has `after`, and in records from before.
    #[serde(default)]
    pub dialogues: Option<Box<Dialogues>>,
    /// Clients that read slowly; absent where all read everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_readers: Option<SlowReaders>,
    /// Clients that left during the step; absent where none may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub churn: Option<Box<Churn>>,
    /// Connections that ended although the generator did not close them, by how and when. Absent where
    /// none did, and in records from before.
    #[serde(default)]
    pub drops: Option<Box<DropTimes>>,
    /// What the server did wrong.
    pub faults: Faults,
    /// What the generator used and how late it was.
    pub generator: GeneratorUse,
    /// What a `connect` run has in addition.
    #[serde(default)]
    pub connections: Option<Box<Connections>>,
    /// What became of each message, of a load that is watched. Absent of any other.
    #[serde(default)]
    pub watched: Option<Box<Watched>>,
    /// Little's law. Absent where the step is not complete or has faults.
    #[serde(default)]
    pub in_flight: Option<InFlight>,
    /// A row for each site of a run over several processes. Empty where one process did it all.
    #[serde(default)]
    pub sites: Vec<SiteUse>,
    /// Closed loop over sites: the time until the next request goes out. It begins when the last
    /// site knows a broadcast or echo to be complete, and ends with the write of the request that
    /// this released, at any site. No latency contains it. Absent where one process did it all.
    #[serde(default)]
    pub release_delay: Option<Latency>,
    /// What the step says, and of whom.
    #[serde(default)]
    pub verdict: Verdict,
    /// The reasons of the verdict, in words. The reasons of a pass say why the server may be better
    /// than shown.
    #[serde(default)]
    pub verdict_reasons: Vec<Told>,
}

impl StepRecord {
    /// The distribution that a limit on `measure` is applied to. For an echo all three are one; of a
    /// watched load there is the delivery alone.
    pub fn measured(&self, measure: Measure) -> Option<&Latency> {
        let chosen = match measure {
            Measure::Completion => &self.completion,
            Measure::Delivery => &self.delivery,
            Measure::Ack => &self.ack,
        };
        chosen
            .as_ref()
            .or(self.completion.as_ref())
            .or(self.delivery.as_ref())
    }

    /// Those of its faults that the numbers of a feed showed.
    pub fn feed_faults(&self) -> Faults {
        let numbers = self.feed.as_ref().and_then(|feed| feed.numbers);
        numbers.map_or_else(Faults::default, |numbers| numbers.faults())
    }

    /// Those that the parts of answers showed.
    pub fn part_faults(&self) -> Faults {
        let streams = self.streams.as_ref();
        streams.map_or_else(Faults::default, |streams| streams.numbers.faults())
    }

    /// Both of these.
    pub fn numbered_faults(&self) -> Faults {
        let mut all = self.feed_faults();
        all.merge(&self.part_faults());
        all
    }

    /// True when every planned sample was taken; an interrupt or a time-out ends a step before.
    pub const fn is_complete(&self) -> bool {
        self.samples >= self.samples_planned
    }

    /// True when the step was completed within the limit and without faults, and nothing but the
    /// server decided that.
    pub fn passed(&self) -> bool {
        self.verdict == Verdict::Pass
            && self.is_complete()
            && !self.over_limit
            && !self.timed_out
            && self.faults.is_empty()
    }
}

/// Requests that could not be written when their turn came: the peer did not read, and the
/// connection's buffers were full. They are written when it reads again. Their latencies count from
/// the intended send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Backpressure {
    /// Timed requests that had not been taken in time. In an open loop the time ends with the
    /// schedule, in a closed loop with the step.
    pub late: u64,
    /// Those of them that were never taken. They were not sent, and are not counted as lost.
    pub unsent: u64,
}

/// Clients that read slowly. No sample waits for them, and they send nothing. What they take is
/// checked, but not whether it comes once and in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowReaders {
    /// How many there are among the clients of the step.
    pub clients: u64,
    /// Messages that they took during the step; they are among `generator.messages`.
    pub messages: u64,
    /// How many the server cut off since the step before. No fault: it is its defence.
    pub cut_off: u64,
    /// How the first of these connections ended, in words.
    pub first_cut_off: Option<Told>,
    /// What server and kernel had kept for the others when the step was over, in bytes of frames:
    /// what they got when they then read as fast as they could, for 25 seconds at most. Absent where
    /// the step was given up, or these clients were interrupted.
    #[serde(default)]
    pub kept_bytes: Option<u64>,
    /// The part of it that was kept for the client with the most.
    #[serde(default)]
    pub most_kept_bytes: Option<u64>,
}

/// What the generator itself used during a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorUse {
    /// CPU time of the whole process in nanoseconds, from the first send to the last receipt.
    pub cpu_ns: u64,
    /// CPU time of the busiest worker thread, as a share of the step's length.
    pub busiest_thread: f64,
    /// Longest time in nanoseconds that a worker loop spent on one round of events. Bytes that came
    /// while the operating system had taken the core away from the thread waited longer.
    pub largest_lag_ns: u64,
    /// How late the generator read what had arrived. With kernel stamps: from the stamp to the
    /// read; no latency contains it. Without them: from the wake-up of the loop to the read, which
    /// is the part of the lag that can be seen; every latency contains it.
    pub receive_lag: Option<Latency>,
    /// Reads without a stamp although stamps were on. The time of the read stands for the arrival.
    #[serde(default)]
    pub unstamped_reads: u64,
    /// Turns of a worker loop in which the realtime clock had been stepped. The time of the read
    /// stands for every arrival of such a turn.
    #[serde(default)]
    pub clock_steps: u64,
    /// Kernel stamps: how much earlier than its stamp a timed message may have arrived that came in
    /// one read with a later one, and so has no stamp of its own. It is the time from the later of
    /// two moments to the stamp: the read before on this connection, and the write of the message's
    /// own request. `count` is the number of such messages. Absent when every message had its own
    /// stamp, and with user stamps, which end every latency at the read.
    #[serde(default)]
    pub shared_stamps: Option<Latency>,
    /// Messages received and verified.
    pub messages: u64,
    /// Reads that brought them.
    pub reads: u64,
    /// Resident memory of the generator at the end of the step, in bytes.
    pub resident_bytes: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// A step was above the limit.
    OverLimit,
    /// All planned steps were measured.
    StepsDone,
    /// This machine or process could open no more connections.
    MachineLimit,
    /// The server refused, reset or did not answer a new connection.
    ConnectFailed,
    /// A sample did not complete in time.
    TimedOut,
    /// The first answers were not of the dialect, and nothing else came.
    NotUnderstood,
    /// What came contradicts the dialect file of the plan each time.
    DialectContradicted,
    /// Every connection was lost, or those that a sample needed.
    ServerLost,
    /// A search has found the edge.
    EdgeFound,
    /// The generator, and not the server, was the limit of a step.
    GeneratorLimited,
    /// A site of the run was lost.
    WorkerLost,
    /// The user ended it.
    Interrupted,
}

/// How a run ended and what it found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Why it ended.
    pub end: End,
    /// The reason in words, with place and remedy.
    pub detail: Told,
    /// Clients of the last step before the first that did not pass. Absent when the first step did
    /// not pass.
    pub carried_clients: Option<u64>,
    /// Both sides of the edge that a search has found. Absent without a search.
    pub edge: Option<Edge>,
    /// Loads that a search tried and that no step shows, since the server took too few connections,
    /// in the order of the tries. Each is a try that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<f64>,
}

/// Where a search has found that the server no longer holds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Edge {
    /// What was varied.
    pub of: SearchOf,
    /// Highest load that passed, in clients or in requests per second. Absent when none did.
    pub passed: Option<f64>,
    /// Lowest load that failed, in the same unit. Absent when the search ended before one did.
    pub failed: Option<f64>,
}

/// The keys of a dialect file that would have the same be no fault, in words. `feed` and `parts` are those
/// of the faults that the numbers of feeds and the parts of answers showed.
fn keys(
    file: &DialectFile,
    faults: Faults,
    [feed, parts]: [Faults; 2],
    audience: Audience,
) -> String {
    let faults = faults.without(&feed).without(&parts);
    let to_others = audience != Audience::Sender;
    let send = &file.send;
    let has = |means| file.open.receive.iter().any(|rule| rule.means == means);
    let is_told = has(match audience {
        Audience::Room(_) => Meaning::Subscribed,
        Audience::Everyone | Audience::Sender => Meaning::Ready,
    });
    let keys = [
        (
            faults.reordered > 0 && file.keeps_order,
            "where the server may deliver the broadcasts of one sender in any order, write \
             `keeps_order = false` in the file",
        ),
        (
            faults.lost > 0 && to_others && !is_told && file.open.ready_after.is_none(),
            "where a client hears nothing until the server has subscribed it, say in \
             [[open.receive]], or with `ready_after` under [open], when it is ready",
        ),
        (
            faults.misdirected > 0 && to_others && !send.reaches_sender,
            "where what a client sends comes back to it, leave `reaches_sender = false` out",
        ),
        (
            faults.unanswered > 0 && to_others && send.is_acknowledged() && send.http.is_none(),
            "where a sender gets no result, write `acknowledged = false` under [send]",
        ),
        (
            !feed.is_empty(),
            "where the numbers of the feed do not rise by 1 on each connection, name the sequences with \
             `key`, or change or leave out `sequence`, in the rule that means `feed`",
        ),
        (
            !parts.is_empty(),
            "where the parts of an answer are not numbered from 0 or 1 on, one by one, change or leave \
             out `part` in the rule that means `progress`, and `parts` in the one that means `echo`",
        ),
        (
            faults.malformed > 0 && to_others && !send.is_acknowledged(),
            "where a sender gets a result, write `acknowledged = true` under [send] and a rule for it",
        ),
    ];
    let of_faults = keys.into_iter().filter(|(is_so, _)| *is_so);
    of_faults.map(|(_, words)| format!("; {words}")).collect()
}

impl RunRecord {
    /// The clients of the last step of the unbroken row of passed steps; one that says nothing
    /// breaks no row.
    pub fn carried(steps: &[StepRecord]) -> Option<u64> {
        steps
            .iter()
            .filter(|step| !matches!(step.verdict, Verdict::Noisy | Verdict::Interrupted))
            .take_while(|step| step.passed())
            .last()
            .map(|step| step.clients)
    }

    /// True where the plan's own dialect file and the server disagree, and neither is known to be
    /// wrong.
    pub fn contradicts_dialect(&self) -> bool {
        let end = self.outcome.end;
        let is_of_file = matches!(end, End::DialectContradicted | End::NotUnderstood);
        is_of_file && self.plan.message.has_own_definition()
    }

    /// Who is at fault for what, in words. A dialect file of the user's own may be, unless connections
    /// were lost and nothing else was wrong.
    pub fn blame(&self) -> String {
        let faults = self.faults();
        let of_messages = Faults {
            disconnected: 0,
            ..faults
        };
        let file = self.plan.message.definition.as_deref();
        let file = file.filter(|_| self.plan.message.has_own_definition());
        let Some(file) = file.filter(|_| !of_messages.is_empty()) else {
            return format!("the server is at fault: {faults}");
        };
        let keys = keys(file, faults, self.numbered_faults(), self.plan.audience);
        format!("the server or the dialect file is at fault: {faults}{keys}")
    }

    /// Those of its faults that the numbers of feeds showed, and those that parts of answers did.
    fn numbered_faults(&self) -> [Faults; 2] {
        let cold = self.warm_up.iter().map(|warm_up| &warm_up.cold);
        let is_counted = |step: &&StepRecord| step.verdict != Verdict::GeneratorLimited;
        let steps = self.steps.iter().filter(is_counted).chain(cold);
        let mut all = [Faults::default(); 2];
        for step in steps {
            all[0].merge(&step.feed_faults());
            all[1].merge(&step.part_faults());
        }
        all
    }

    /// Faults of the server in all steps together, those of a warm-up included: what is missing from a step that the generator
    /// could not carry is not the server's.
    pub fn faults(&self) -> Faults {
        let warm_up = self.warm_up.as_ref();
        let mut all = warm_up.map_or_else(Faults::default, |warm_up| warm_up.faults);
        self.steps
            .iter()
            .filter(|step| step.verdict != Verdict::GeneratorLimited)
            .for_each(|step| all.merge(&step.faults));
        all
    }
}
