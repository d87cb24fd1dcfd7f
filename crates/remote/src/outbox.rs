//! Messages to send, in order. Adding one never blocks, so that the caller can wait for other events.

use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Messages that wait here or in the channel; more make larger batches instead.
pub(crate) const DEPTH: usize = 4;
/// Most commands or reports in one message.
pub(crate) const BATCH: usize = 1024;

/// Most messages that wait here. Answers come beside the batches, one for each question: of a peer that
/// asks and takes no answer they are no more than this.
pub(crate) const MOST: usize = 64;
/// How long a peer may take no message although one waits. A coordinator reads all the time.
pub(crate) const UNREAD: Duration = Duration::from_secs(10);

/// The sending half of a conversation.
#[derive(Debug)]
pub(crate) struct Outbox<M> {
    waiting: VecDeque<M>,
    channel: mpsc::Sender<M>,
    /// When one was handed on, or began to wait where none did.
    moved: Instant,
}

/// The other side has ended the conversation.
#[derive(Debug)]
pub(crate) struct Gone;

impl<M> Outbox<M> {
    pub(crate) fn new(channel: mpsc::Sender<M>) -> Self {
        Self {
            waiting: VecDeque::new(),
            channel,
            moved: Instant::now(),
        }
    }

    pub(crate) fn push(&mut self, message: impl Into<M>) {
        if self.waiting.is_empty() {
            self.moved = Instant::now();
        }
        self.waiting.push_back(message.into());
    }

    /// True when more messages come than the network takes.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= DEPTH
    }

    /// True when more messages wait than any conversation needs.
    pub(crate) fn overflows(&self) -> bool {
        self.waiting.len() > MOST
    }

    /// When the peer has taken no message for [`UNREAD`], if one waits.
    pub(crate) fn unread_at(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then(|| self.moved + UNREAD)
    }

    /// Hands one message on; waits for ever when there is none. Nothing is lost when it is dropped
    /// before it is done.
    pub(crate) async fn hand_on(&mut self) -> Result<(), Gone> {
        if self.waiting.is_empty() {
            std::future::pending::<()>().await;
        }
        let place = self.channel.reserve().await.map_err(|_| Gone)?;
        if let Some(message) = self.waiting.pop_front() {
            place.send(message);
            self.moved = Instant::now();
        }
        Ok(())
    }

    /// Hands everything on.
    pub(crate) async fn empty(&mut self) -> Result<(), Gone> {
        while !self.waiting.is_empty() {
            self.hand_on().await?;
        }
        Ok(())
    }
}
