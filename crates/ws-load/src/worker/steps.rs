//! What clients do over HTTP before they first connect.

use super::Common;
use super::clients::{ClientTable, Session};
use super::opening::Attempt;
use crate::clock;
use crate::http::{Access, Caller, Reply, StepsDone};
use crate::io::{Token, Waker};
use crate::message::{HttpPart, RequestsPart};
use crate::net::{ConnectError, Connection, Phase, Stage, StepValue};
use std::sync::mpsc;

/// The steps of a worker's clients.
#[derive(Debug)]
pub(super) struct Steps {
    access: Access,
    reply: Reply<StepsDone>,
    done: mpsc::Receiver<StepsDone>,
    /// Figures since the last report.
    part: Vec<RequestsPart>,
}

impl Steps {
    /// `None` where the dialect has none.
    pub(super) fn new(common: &Common, waker: &Waker) -> Option<Box<Self>> {
        let file = common.plan.message.definition.as_deref()?;
        let service = common.http.clone().filter(|_| !file.open.http.is_empty())?;
        let access = Access {
            service,
            waker: waker.clone(),
        };
        let (reply, done) = access.mailbox();
        Some(Box::new(Self {
            access,
            reply,
            done,
            part: vec![RequestsPart::default(); file.open.http.len()],
        }))
    }

    /// The figures since they were last taken.
    pub(super) fn finish(&mut self) -> HttpPart {
        let none = vec![RequestsPart::default(); self.part.len()];
        HttpPart {
            steps: std::mem::replace(&mut self.part, none),
            ..HttpPart::default()
        }
    }
}

impl ClientTable {
    /// What the steps of a client were told.
    pub(super) fn told(&self, slot: Token) -> &[StepValue] {
        self.captured.of_steps(slot)
    }

    /// How a step of a client failed.
    fn step_error(&self, done: &mut StepsDone) -> Option<ConnectError> {
        let source = done.failure.take()?;
        let step = done.took.len();
        let file = self.common.plan.message.definition.as_deref()?;
        let of = file.open.http.get(step.checked_sub(1)?)?;
        let error = ConnectError::Step {
            step,
            method: of.method().to_owned(),
            url: plan::redacted_url(&of.url),
            source,
        };
        let client = self.client(done.slot);
        let told = done.told.iter().map(|(_, value)| value.as_str());
        let asks = &self.common.target.asks;
        Some(error.with_words(|words| asks.silent(client, told.clone(), words)))
    }
}

impl Session<'_> {
    /// Has a client make its steps, which begins its attempt.
    pub(super) fn begin_steps(&mut self, slot: Token, due_ns: u64) {
        let table = &mut *self.table;
        let at_ns = clock::now_ns();
        table.note_reading();
        table.choose_node(slot);
        table.add(Connection::asking());
        table.opening.note_started(slot, due_ns, at_ns);
        let caller = Caller::new(
            &table.common.plan,
            slot,
            (table.number, table.workers),
            (table.thread, table.peers.len() as u32),
            table.node(slot),
        );
        if let Some(steps) = &table.steps {
            steps.access.service.steps(caller, &steps.reply);
        }
    }

    /// Has the clients connect whose steps are made.
    pub(super) fn end_steps(&mut self) {
        while let Some(steps) = &self.table.steps
            && let Ok(mut done) = steps.done.try_recv()
        {
            let error = self.table.step_error(&mut done);
            self.count_steps(&done, error.as_ref());
            let slot = done.slot;
            self.table.get(slot).phase = Phase::Gone;
            match error {
                Some(error) => self.table.steps_failed(slot, error),
                None => self.connect_after(slot, done.told),
            }
        }
    }

    fn count_steps(&mut self, done: &StepsDone, error: Option<&ConnectError>) {
        let Some(steps) = &mut self.table.steps else {
            return;
        };
        let last = done.took.len().saturating_sub(1);
        for (at, (part, took)) in steps.part.iter_mut().zip(&done.took).enumerate() {
            let failure = error.filter(|_| at == last).map(ToString::to_string);
            part.note(took.status, took.took_ns, failure);
        }
    }

    fn connect_after(&mut self, slot: Token, told: Vec<StepValue>) {
        self.table.captured.keep_of_steps(slot, told);
        self.table.opening.note_connects(slot, clock::now_ns());
        if let Err(error) = self.connect(slot, Attempt::AfterSteps) {
            let error = self.table.explain(error, Stage::Connect, slot);
            self.table.steps_failed(slot, error);
        }
    }
}
