//! Messages to send, in order. Adding one never blocks, so that the caller can wait for other events.

use std::collections::VecDeque;
use tokio::sync::mpsc;

/// Messages that wait here or in the channel; more make larger batches instead.
pub(crate) const DEPTH: usize = 4;
/// Most commands or reports in one message.
pub(crate) const BATCH: usize = 1024;

/// The sending half of a conversation.
#[derive(Debug)]
pub(crate) struct Outbox<M> {
    waiting: VecDeque<M>,
    channel: mpsc::Sender<M>,
}

/// The other side has ended the conversation.
#[derive(Debug)]
pub(crate) struct Gone;

impl<M> Outbox<M> {
    pub(crate) fn new(channel: mpsc::Sender<M>) -> Self {
        Self {
            waiting: VecDeque::new(),
            channel,
        }
    }

    pub(crate) fn push(&mut self, message: impl Into<M>) {
        self.waiting.push_back(message.into());
    }

    /// True when more messages come than the network takes.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= DEPTH
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
