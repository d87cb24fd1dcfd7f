//! Requests: sent in a closed loop when others are complete, or by the clock; every answer verified.

mod backlog;
mod dialogues;
mod publish;
mod rising;
mod send;
mod send_queue;

pub(crate) use backlog::BYTES_PER_WAITING_SAMPLE;

use super::writer::{Way, Writer};
use super::{Clients, CurrentStep, Deed, Scenario, Setting, Slot, follow_asides};
use crate::dialect::Returns;
use crate::figures::{Counts, Cutter, Interval};
use crate::message::{Command, DialoguesPart, Report, Samples, StepPart};
use crate::plan::{Schedule, Script, population_of};
use crate::verify::{Answers, Read, RoomConfirmed, Verifier};
use backlog::{Backlog, Request};
use plan::{Load, OpenLoop, Population, Reading, Workload};
use publish::Publisher;
use rising::Rising;
use send_queue::SendQueue;
use std::collections::VecDeque;
use std::sync::Arc;
use ws_proto::Opcode;

pub(super) struct Requests {
    setting: Setting,
    /// Number of this worker among all workers of the run, and how many there are.
    number: u32,
    workers: u32,
    step: Arc<CurrentStep>,
    verifier: Verifier,
    /// What the sender of a request gets.
    returns: Returns,
    /// Requests say their sequence.
    says_sequence: bool,
    /// Samples that this worker's clients are to send next.
    to_send: VecDeque<Request>,
    /// Where requests say their number: which of this worker's samples is sent next.
    rising: Option<Rising>,
    /// Samples whose connections take no bytes.
    backlog: Backlog,
    /// Samples that this worker sends by the clock.
    by_clock: SendQueue,
    /// Absent where clients do not wait for answers before their next requests.
    dialogues: Option<Box<DialoguesPart>>,
    writer: Writer,
    /// Absent where requests are messages.
    publisher: Option<Box<Publisher>>,
    /// Requests of the step that were written, and bytes of their frames.
    sent: u64,
    sent_bytes: u64,
    /// Bytes of frames that were received since the step began.
    received_bytes: u64,
    cutter: Cutter,
    /// What the controller is to be told of intervals that are over.
    interval: Option<Box<Interval>>,
}

impl Requests {
    pub(super) fn new(setting: Setting) -> Self {
        let (number, workers) = setting.worker();
        Self {
            number,
            workers,
            step: Arc::clone(&setting.step),
            verifier: setting.verifier(),
            returns: match setting.plan.workload() {
                Workload::Echo => Returns::BOTH,
                _ => setting.codec.returns(),
            },
            says_sequence: setting.codec.says_sequence(),
            to_send: VecDeque::new(),
            rising: (setting.codec.says_number()).then(|| Rising::new(number, workers)),
            backlog: Backlog::default(),
            by_clock: SendQueue::default(),
            dialogues: setting
                .plan
                .script()
                .filter(|file| file.is_dialogue())
                .map(|_| Box::default()),
            writer: Writer::new(&setting.plan),
            publisher: Publisher::new(&setting),
            sent: 0,
            sent_bytes: 0,
            received_bytes: 0,
            cutter: Cutter::default(),
            interval: None,
            setting,
        }
    }

    fn begin(&mut self, clients: &mut dyn Clients) {
        if let Some(ledger) = self.step.get() {
            self.verifier.open_step(ledger);
            self.verifier.visits_begin(clients.now_ns());
        }
        // The end of a warm-up is known when the load begins.
        let warms_up = matches!(&self.setting.plan.load, Load::Open(open) if open.warm_up.ns() > 0);
        let aged_from_ns = if warms_up { u64::MAX } else { 0 };
        self.verifier.begin_feeds(clients.now_ns(), aged_from_ns);
        self.rising.iter_mut().for_each(Rising::begin);
        clients.report(Report::Begun);
    }

    /// Begins to send by the clock.
    fn start(&mut self, load: OpenLoop, start_ns: u64) {
        let Some(ledger) = self.verifier.step().cloned() else {
            return;
        };
        if load.warm_up.ns() > 0 {
            self.verifier.age_feeds_from(start_ns + load.warm_up.ns());
        }
        let plan = &self.setting.plan;
        let schedule = Schedule::new(load, plan.generator.seed, ledger.first_sample)
            .with_script(Script::new(plan).as_ref(), ledger.clients());
        let (worker, workers) = (u64::from(self.number), u64::from(self.workers));
        let is_ours = move |client: u64| client % workers == worker;
        self.by_clock = SendQueue::new(schedule, start_ns, ledger, is_ours);
    }

    /// Samples of a closed loop whose senders are clients of this worker.
    fn queue(&mut self, samples: &[u32]) {
        let Some(ledger) = self.verifier.step() else {
            return;
        };
        for &index in samples {
            let released = Request::now(index, ledger.sender(index));
            let request = rising::in_turn(&mut self.rising, ledger, released);
            self.to_send.push_back(request);
        }
    }

    /// Sends nothing more of the step.
    fn forget_sends(&mut self) {
        self.to_send.clear();
        self.backlog.clear();
        self.by_clock = SendQueue::default();
        if let (Some(publisher), Some(step)) = (&self.publisher, self.verifier.step()) {
            publisher.give_up(step.first_sample + 1);
        }
    }

    fn counts(&self) -> Counts {
        Counts {
            sent: self.sent,
            received: self.verifier.tally.messages,
            sent_bytes: self.sent_bytes,
            received_bytes: self.received_bytes,
            faults: self.verifier.tally.faults.total(),
        }
    }

    /// An interval of the step is over.
    #[cold]
    fn cut(&mut self, now_ns: u64) {
        let counts = self.counts();
        let completion = &self.verifier.tally.latencies.completion;
        let interval = self.cutter.cut(now_ns, counts, completion);
        self.interval.get_or_insert_default().merge(&interval);
    }

    /// Follows up on clients that were lost, and on samples that they alone were waited for in. To be
    /// called before anything is sent.
    fn settle_lost(&mut self, clients: &mut dyn Clients) {
        while let Some((slot, deed)) = clients.take_done() {
            match deed {
                Deed::Left { at_ns } => {
                    self.verifier.visit_ends(slot, at_ns);
                    self.verifier.feed_ends(slot, at_ns);
                }
                Deed::LeavesRoom { room } => {
                    self.verifier.leaves_room(slot, room);
                    self.verifier.feed_stays(slot, clients.now_ns());
                }
                Deed::JoinsRoom { room } => self.verifier.joins_room(slot, room),
                Deed::WasNotAnswered => {
                    self.verifier.was_not_answered();
                    self.verifier.feed_ends(slot, clients.now_ns());
                }
            }
        }
        while let Some((slot, error)) = clients.take_lost() {
            self.send_elsewhere(slot);
            self.verifier.feed_ends(slot, clients.now_ns());
            if self.verifier.is_visiting(slot) {
                self.verifier
                    .visit_cut_short(slot, clients.now_ns(), &error);
                if clients.is_opening() {
                    clients.report(Report::OpenFailed(error.into()));
                }
                continue;
            }
            if self.verifier.is_unawaited(slot) {
                self.verifier.cut_off(&error);
                continue;
            }
            self.verifier.client_lost(slot);
            self.leave_dialogue(slot, clients.now_ns());
            if self.verifier.step().is_none() || clients.is_opening() {
                clients.report(Report::OpenFailed(error.into()));
                continue;
            }
            self.verifier.disconnected(&error);
            if self.verifier.listeners() == 0 {
                clients.report(Report::AllLost);
            }
        }
        self.verifier.settle_lost();
        if self.verifier.finished > 0 {
            self.release(clients);
        }
    }

    /// Releases the next sample for each one that was settled here.
    fn release(&mut self, clients: &mut dyn Clients) {
        let settled = std::mem::take(&mut self.verifier.finished);
        let Some(ledger) = self.verifier.step() else {
            return;
        };
        if ledger.is_shared() {
            let done = std::mem::take(&mut self.verifier.done);
            clients.report(Report::Samples(Samples {
                done,
                ..Samples::default()
            }));
            return;
        }
        for _ in 0..settled {
            let Some(ledger) = self.verifier.step() else {
                return;
            };
            match ledger.release() {
                Some((index, client)) => self.hand_over(index, client, clients),
                None if ledger.is_over() => clients.report(Report::AllSamples),
                None => {}
            }
        }
    }

    /// Gives a sample to the worker that owns the client which is to send it.
    fn hand_over(&mut self, index: u32, client: u64, clients: &mut dyn Clients) {
        let owner = client % u64::from(self.setting.threads);
        if owner == u64::from(self.setting.thread) {
            let released = Request::now(index, client);
            let request = match self.verifier.step() {
                Some(ledger) => rising::in_turn(&mut self.rising, ledger, released),
                None => released,
            };
            self.to_send.push_back(request);
        } else {
            clients.tell(owner as usize, Command::Send(vec![index]));
        }
    }

    #[cold]
    fn pass_on_confirmed(&mut self, clients: &mut dyn Clients) {
        for confirmed in std::mem::take(&mut self.verifier.movers.confirmed) {
            match confirmed {
                RoomConfirmed::Left { slot } => clients.has_left_room(slot),
                RoomConfirmed::Joined { slot, at_ns } => clients.has_joined_room(slot, at_ns),
            }
        }
    }

    /// Tells the end of a run whose answers are not of the dialect.
    fn heed_first_answers(&mut self, clients: &mut dyn Clients) {
        let plan = &self.setting.plan;
        let has_result = plan.workload() != Workload::Echo && self.returns.result;
        let due = match has_result {
            true => Answers::ALL,
            false => Answers::TOLD,
        };
        let now_ns = clients.now_ns();
        let Some(missing) = self.verifier.first_answers.missing(due, now_ns) else {
            return;
        };
        let first = self
            .verifier
            .tally
            .first
            .malformed
            .as_deref()
            .unwrap_or_default();
        let expected = self.verifier.codec().expects(plan.workload());
        let what = match (missing == due, missing == Answers::RESULT) {
            (true, _) => "no answer",
            (false, true) => "no result that a sender waits for",
            (false, false) => "no message to those who listen",
        };
        let remedy = match plan.message.has_own_definition() {
            true if has_result || plan.workload() == Workload::Echo => {
                ": the dialect file and the server disagree; change the rules of the file \
                 (docs/dialects.md), or the URL"
            }
            true => {
                ": the dialect file and the server disagree; change the rules of the file \
                 (docs/dialects.md), or the URL; if it tells a sender that the others were told, write \
                 `acknowledged = true` under [send] and a rule for it"
            }
            false => {
                " (docs/protocol.md): check message.dialect, and that the server speaks the protocol; \
                 a dialect file describes any other (docs/adding-a-dialect.md)"
            }
        };
        clients.report(Report::NotUnderstood(format!(
            "{what} could be understood; the first malformed message was {first}; expected was \
             {expected}{remedy}"
        )));
    }
}

impl Scenario for Requests {
    fn obey(&mut self, command: Command, clients: &mut dyn Clients) {
        match command {
            Command::Begin(_) => self.begin(clients),
            Command::Send(samples) => self.queue(&samples),
            Command::CountFrom { from_ns } => self.cutter.begin(from_ns),
            Command::Start { load, start_ns } => self.start(load, start_ns),
            Command::GiveUp { count } => {
                self.forget_sends();
                self.verifier.give_up_step(count, clients.now_ns());
            }
            _ => {}
        }
    }

    /// Sends the samples whose turn it is, and those that a failing send completes.
    fn turn(&mut self, clients: &mut dyn Clients) {
        if !self.verifier.first_answers.is_settled() {
            self.heed_first_answers(clients);
        }
        self.settle_lost(clients);
        if self.publisher.is_some() {
            self.heed_published(clients);
        }
        if let Some(interval) = self.interval.take() {
            clients.report(Report::Interval(interval));
        }
        while let Some(request) = self.to_send.pop_front() {
            self.send_sample(request, clients);
            self.settle_lost(clients);
        }
        if self.backlog.has_ready() {
            self.send_ready(clients);
            self.settle_lost(clients);
        }
        if !self.by_clock.is_empty() && self.by_clock.is_due(clients.now_ns()) {
            self.send_by_clock(clients);
        }
    }

    fn next_ns(&self, _: u64) -> u64 {
        if !self.to_send.is_empty() || self.backlog.has_ready() {
            return 0;
        }
        self.by_clock.next_ns()
    }

    fn upgraded(&mut self, slot: Slot) {
        self.verifier.forget_begun(slot);
    }

    fn ready(&mut self, slot: Slot, at_ns: u64, room: Option<u32>, _: u32) {
        let client = u64::from(slot) * u64::from(self.workers) + u64::from(self.number);
        let population = population_of(&self.setting.plan.populations, client);
        if let Some(room) = room {
            self.verifier
                .client_in_room(slot, room, population.is_awaited());
        }
        if population.reads == Reading::Full {
            self.verifier.feed_begins(slot, at_ns);
        }
        match (population.is_awaited(), population.leaves()) {
            (true, _) => self.verifier.client_ready(slot),
            (false, false) => self.verifier.slow_client_ready(slot),
            (false, true) => self.verifier.visit_begins(slot, at_ns),
        }
    }

    #[inline]
    fn read(&mut self, read: Read, received_bytes: u64) {
        self.received_bytes = received_bytes;
        if read.at_ns >= self.cutter.end_ns {
            self.cut(read.at_ns);
        }
        self.verifier.reading.read = read;
    }

    #[inline]
    fn message(&mut self, slot: Slot, opcode: Opcode, payload: &[u8], at_ns: u64, slack_ns: u64) {
        self.verifier.reading.slack_ns = slack_ns;
        self.verifier.message(slot, opcode, payload, at_ns);
    }

    #[inline]
    fn follow_up(&mut self, now_ns: u64, clients: &mut dyn Clients) {
        if let Some(mut asides) = self.verifier.asides.take() {
            let answered = std::mem::take(&mut asides.answered);
            follow_asides(*asides, self.verifier.codec().opcode(), clients);
            if !answered.is_empty() {
                self.continue_dialogues(answered);
            }
        }
        if !self.verifier.movers.confirmed.is_empty() {
            self.pass_on_confirmed(clients);
        }
        if self.verifier.finished > 0 {
            self.release(clients);
        }
        if self.by_clock.is_due(now_ns) {
            self.send_by_clock(clients);
        }
    }

    fn before_flush(&mut self, slot: Slot, now_ns: u64) {
        self.note_cut_as_sent(slot, now_ns);
    }

    fn after_flush(&mut self, slot: Slot, clients: &mut dyn Clients) {
        self.send_rest(slot, clients);
    }

    fn broke_protocol(&mut self, words: String) {
        if self.verifier.step().is_some() {
            self.verifier.malformed(words);
        }
    }

    fn reset(&mut self) {
        self.verifier.begin_messages();
        (self.sent, self.sent_bytes, self.received_bytes) = (0, 0, 0);
        self.cutter = Cutter::default();
        self.interval = None;
    }

    fn finish(&mut self, part: &mut StepPart, now_ns: u64) {
        self.forget_sends();
        self.verifier.visits_end(now_ns);
        self.verifier.close_step();
        part.feed = self.verifier.finish_feeds(now_ns);
        if let Some(publisher) = &mut self.publisher {
            part.http.get_or_insert_default().publications = std::mem::take(&mut publisher.part);
        }
        part.dialogues = self.take_dialogues();
        self.received_bytes = part.counts.received_bytes;
        let cutter = std::mem::take(&mut self.cutter);
        part.rows = cutter.finish(self.counts(), &self.verifier.tally.latencies.completion);
        (part.counts.sent, part.counts.sent_bytes) = (self.sent, self.sent_bytes);
        self.verifier.finish(part);
        let visits = self.verifier.take_visited();
        if self.setting.plan.populations.iter().any(Population::leaves) {
            part.churn.get_or_insert_default().visits = visits;
        }
    }

    fn caught_up(&mut self, part: &mut StepPart) {
        let mut slow = self.verifier.take_slow();
        // They belong to no time of the step.
        slow.messages = 0;
        part.slow.merge(slow);
    }
}
