//! A conversation with one site while the run lasts: commands out, reports in, and every second a
//! probe that also compares the clocks.

use super::children::why_silent;
use crate::broken_off::SiteLost;
use crate::clocks::{Estimate, Exchange};
use crate::dial::{Peer, words_of_status};
use crate::error::shown;
use crate::outbox::{BATCH, Outbox};
use crate::wire::from_coordinator::Kind as Down;
use crate::wire::from_worker::Kind as Up;
use crate::wire::{Answer, Batch, FromCoordinator, FromWorker, Over, Probe};
use crate::{BEAT, FAREWELL, SILENCE};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use tonic::{Status, Streaming};
use ws_load::cluster::{ClockRelation, Command, NodeTransport, Report, clock_now_ns};

/// The transport to a site in another process.
pub(super) struct ProcessTransport {
    pub(super) commands: UnboundedSender<Command>,
    pub(super) clock: Arc<Mutex<Estimate>>,
}

impl NodeTransport for ProcessTransport {
    fn tell(&self, command: Command) {
        // A conversation that has ended has said why.
        let _ = self.commands.send(command);
    }

    fn clock(&self) -> ClockRelation {
        let estimate = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        estimate.at(clock_now_ns())
    }
}

/// The coordinator's half.
pub(super) struct Conversation {
    inbound: Streaming<FromWorker>,
    outbox: Outbox<FromCoordinator>,
    number: u32,
    reports: mpsc::Sender<(u32, Report)>,
    clock: Arc<Mutex<Estimate>>,
    /// The site has been told that the run is over.
    over: bool,
    /// The site's process, where it was started by this one.
    pub(super) child: Option<u32>,
    /// When the site is taken for lost.
    deadline: Instant,
}

impl Conversation {
    pub(super) fn new(
        peer: Peer<FromWorker, FromCoordinator>,
        number: u32,
        reports: mpsc::Sender<(u32, Report)>,
        clock: Arc<Mutex<Estimate>>,
    ) -> Self {
        Self {
            inbound: peer.inbound,
            outbox: Outbox::new(peer.outbound),
            number,
            reports,
            clock,
            over: false,
            child: None,
            deadline: Instant::now() + SILENCE,
        }
    }

    /// Goes on until the site has ended, is lost, or `commands` has no sender left and the site has
    /// had its time to end.
    pub(super) async fn hold(mut self, mut commands: UnboundedReceiver<Command>) {
        if let Err(reason) = self.converse(&mut commands).await
            && !self.over
        {
            self.say(Report::Lost(reason.to_string()));
        }
    }

    async fn converse(
        &mut self,
        commands: &mut UnboundedReceiver<Command>,
    ) -> Result<(), SiteLost> {
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut batch = Vec::new();
        loop {
            tokio::select! {
                // Sending comes first, so that a flood of reports does not delay commands and probes,
                // and a pause of this process does not make the site look silent.
                biased;
                _ = beat.tick(), if !self.outbox.is_full() => {
                    self.outbox.push(Down::Probe(Probe { asked_ns: clock_now_ns() }));
                }
                count = commands.recv_many(&mut batch, BATCH), if !self.over && !self.outbox.is_full() => {
                    self.send(&mut batch)?;
                    if count == 0 {
                        self.outbox.push(Down::Over(Over {}));
                        self.over = true;
                        self.deadline = Instant::now() + FAREWELL;
                    }
                }
                handed_on = self.outbox.hand_on() => {
                    handed_on.map_err(|_| SiteLost::Connection)?;
                }
                message = self.inbound.message() => {
                    if self.receive(message)? {
                        return Ok(());
                    }
                }
                () = sleep_until(self.deadline) => self.silent()?,
            }
        }
    }

    /// The deadline has passed: an error when the site is lost.
    fn silent(&mut self) -> Result<(), SiteLost> {
        let Some(child) = self.child.filter(|_| !self.over) else {
            return Err(SiteLost::Silent(SILENCE.as_secs()));
        };
        self.deadline = Instant::now() + SILENCE;
        why_silent(child).map_or(Ok(()), |reason| Err(SiteLost::Process(reason)))
    }

    /// True when the site has ended.
    fn receive(&mut self, message: Result<Option<FromWorker>, Status>) -> Result<bool, SiteLost> {
        let message = message
            .map_err(|status| SiteLost::Transport(words_of_status(&status)))?
            .ok_or(SiteLost::Ended)?;
        if !self.over {
            self.deadline = Instant::now() + SILENCE;
        }
        match message.kind {
            Some(Up::Reports(reports)) => {
                for item in &reports.items {
                    let report = postcard::from_bytes::<Report>(item);
                    self.say(report.map_err(SiteLost::Report)?);
                }
            }
            Some(Up::Answer(answer)) => self.learn(&answer),
            Some(Up::Ended(ended)) if ended.trouble.is_empty() => return Ok(true),
            Some(Up::Ended(ended)) => return Err(SiteLost::Trouble(shown(&ended.trouble))),
            _ => return Err(SiteLost::OutOfTurn),
        }
        Ok(false)
    }

    fn learn(&self, answer: &Answer) {
        let exchange = Exchange {
            asked_ns: answer.asked_ns,
            received_ns: answer.received_ns,
            answered_ns: answer.answered_ns,
            heard_ns: clock_now_ns(),
        };
        let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        clock.learn(exchange);
    }

    fn send(&mut self, batch: &mut Vec<Command>) -> Result<(), SiteLost> {
        if batch.is_empty() {
            return Ok(());
        }
        let items = batch
            .drain(..)
            .map(|command| postcard::to_stdvec(&command))
            .collect::<Result<_, _>>()
            .map_err(SiteLost::Command)?;
        self.outbox.push(Down::Commands(Batch { items }));
        Ok(())
    }

    fn say(&self, report: Report) {
        // The receiver is gone when the run is over.
        let _ = self.reports.send((self.number, report));
    }
}
