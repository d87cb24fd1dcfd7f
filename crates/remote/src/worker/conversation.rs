//! A conversation with one coordinator: greeting, assignment, then commands in and reports out until
//! the run is over or the coordinator is lost.

use super::assignment::{self, Taken};
use super::site::{self, MOST_WAITING, Running};
use super::{Left, Shared, ended};
use crate::broken_off::CoordinatorLost;
use crate::dial::{Peer, words_of_status};
use crate::error::RemoteError;
use crate::outbox::{BATCH, Outbox, UNREAD};
use crate::wire::from_coordinator::Kind as Down;
use crate::wire::from_worker::Kind as Up;
use crate::wire::refused::Reason;
use crate::wire::{
    Accepted, Answer, Batch, Ended, FromCoordinator, FromWorker, Greeting, Probe, Refused,
};
use crate::{FAREWELL, SILENCE};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::time::{Instant, sleep_until, timeout};
use tonic::{Status, Streaming};
use ws_load::cluster::{Command, Report, clock_now_ns};

/// Holds a conversation from its beginning to its end.
///
/// # Errors
/// [`RemoteError`] when no run came of it.
pub(super) async fn hold(
    shared: &Arc<Shared>,
    mut peer: Peer<FromCoordinator, FromWorker>,
) -> Result<Left, RemoteError> {
    greet(&mut peer).await?;
    let assignment = tokio::select! {
        message = peer.next() => message?,
        () = ended(shared.ending.clone()) => return Ok(Left::Done),
    };
    let assignment = match assignment.kind {
        Some(Down::Assignment(assignment)) => assignment,
        Some(Down::Over(_)) => {
            return Err(RemoteError::Busy {
                peer: peer.name,
                reason: "it has all the workers that it wants".to_owned(),
            });
        }
        _ => return Err(peer.out_of_turn()),
    };
    let options = shared.options.clone();
    // Names are resolved, which may take seconds.
    let looking = tokio::task::spawn_blocking(move || assignment::take(&options, &assignment));
    let taken = match looking.await {
        Ok(taken) => taken,
        Err(error) => return Err(RemoteError::Runtime(error.into())),
    };
    let begun = taken.and_then(|taken| begin(shared, &peer.name, taken));
    let (running, words) = match begun {
        Ok(begun) => begun,
        Err(refused) => {
            peer.send(Up::Refused(refused.clone())).await?;
            return Err(refused.into_error(format!("this worker, asked by {},", peer.name)));
        }
    };
    (shared.tell)(&words);
    let mut conversation = Conversation {
        inbound: peer.inbound,
        outbox: Outbox::new(peer.outbound),
        running,
        over: false,
        deadline: Instant::now() + SILENCE,
    };
    conversation.outbox.push(Up::Accepted(Accepted {}));
    let left = conversation.converse(shared).await;
    if left == Left::Done {
        (shared.tell)("the run is over");
    }
    Ok(left)
}

async fn greet(peer: &mut Peer<FromCoordinator, FromWorker>) -> Result<(), RemoteError> {
    let Some(Down::Greeting(greeting)) = peer.next_soon().await?.kind else {
        return Err(peer.out_of_turn());
    };
    // The other side is to learn of another version, too.
    peer.send(Up::Greeting(Greeting::own())).await?;
    greeting.check(&peer.name)
}

/// Starts the site. Returns it with a message for the user.
fn begin(shared: &Arc<Shared>, peer: &str, taken: Taken) -> Result<(Running, String), Refused> {
    let occupied = shared.occupy(peer.to_owned())?;
    let words = format!(
        "a run for {peer}: {}, site {} of {}",
        plan::redacted_url(&taken.plan.target.url),
        taken.share.number + 1,
        taken.share.of
    );
    match site::start(taken, occupied) {
        Ok(running) => Ok((running, words)),
        Err(error) => Err(Refused {
            reason: Reason::Plan.into(),
            words: format!("cannot start a thread: {error}"),
        }),
    }
}

/// The worker's half of a run.
struct Conversation {
    inbound: Streaming<FromCoordinator>,
    outbox: Outbox<FromWorker>,
    running: Running,
    /// The coordinator has said that the run is over.
    over: bool,
    /// When the coordinator is taken for lost.
    deadline: Instant,
}

impl Conversation {
    async fn converse(mut self, shared: &Shared) -> Left {
        let talked = self.talk(shared).await;
        let commands = self.running.commands.take();
        if let (Err(_), Some(commands)) = (&talked, commands) {
            commands.abandon();
        }
        // Free again only when the connections are closed.
        let ended = timeout(FAREWELL, &mut self.running.ended).await;
        if let Err(left) = talked {
            if let Left::Lost(reason) = &left {
                self.outbox.push(ended_because(reason));
                let _ = timeout(FAREWELL, self.outbox.empty()).await;
            }
            return left;
        }
        let trouble = match ended {
            Ok(Ok(result)) => result.err(),
            _ => Some("its site has ended".to_owned()),
        };
        self.outbox
            .push(ended_because(trouble.as_deref().unwrap_or_default()));
        let _ = timeout(FAREWELL, self.outbox.empty()).await;
        trouble.map_or(Left::Done, Left::Lost)
    }

    /// Until the site has ended by itself or as told.
    async fn talk(&mut self, shared: &Shared) -> Result<(), Left> {
        let mut batch = Vec::new();
        let mut ending = Box::pin(ended(shared.ending.clone()));
        let overflow = self.running.reports.overflow();
        loop {
            let unread_at = self.outbox.unread_at();
            tokio::select! {
                biased;
                () = &mut ending => {
                    shared.interrupted.store(true, Ordering::Relaxed);
                    self.running.commands = None;
                    self.outbox.push(ended_because("it was ended by a signal"));
                    let _ = timeout(FAREWELL, self.outbox.empty()).await;
                    return Err(Left::Interrupted);
                }
                handed_on = self.outbox.hand_on() => {
                    handed_on.map_err(|_| Left::Lost("the connection to the coordinator broke".to_owned()))?;
                }
                () = overflow.notified() => {
                    return Err(Left::Lost(format!(
                        "the coordinator reads reports slower than they come: more than {} MiB wait",
                        MOST_WAITING >> 20
                    )));
                }
                // A child's coordinator may be stopped by its user.
                () = sleep_until(unread_at.unwrap_or(self.deadline)),
                    if unread_at.is_some() && !shared.options.is_child =>
                {
                    return Err(Left::Lost(format!(
                        "the coordinator has read nothing for {} s",
                        UNREAD.as_secs()
                    )));
                }
                count = self.running.reports.take(&mut batch, BATCH), if !self.outbox.is_full() => {
                    if count == 0 {
                        return Ok(());
                    }
                    self.say(&mut batch).map_err(Left::lost)?;
                }
                message = self.inbound.message() => self.receive(message).map_err(Left::lost)?,
                // A child is ended by the kernel when its coordinator has ended.
                () = sleep_until(self.deadline), if !shared.options.is_child => {
                    return Err(Left::Lost(format!(
                        "nothing was heard of the coordinator for {} s",
                        SILENCE.as_secs()
                    )));
                }
            }
        }
    }

    fn receive(
        &mut self,
        message: Result<Option<FromCoordinator>, Status>,
    ) -> Result<(), CoordinatorLost> {
        let message = message
            .map_err(|status| CoordinatorLost::Transport(words_of_status(&status)))?
            .ok_or(CoordinatorLost::Ended)?;
        if !self.over {
            self.deadline = Instant::now() + SILENCE;
        }
        match message.kind {
            Some(Down::Commands(commands)) => {
                for item in &commands.items {
                    let command: Command =
                        postcard::from_bytes(item).map_err(CoordinatorLost::Command)?;
                    if let Some(commands) = &self.running.commands {
                        commands.tell(command, item.len().max(size_of::<Command>()))?;
                    }
                }
            }
            Some(Down::Probe(probe)) => self.answer(probe)?,
            Some(Down::Over(_)) => {
                self.running.commands = None;
                self.over = true;
                self.deadline = Instant::now() + FAREWELL;
            }
            _ => return Err(CoordinatorLost::OutOfTurn),
        }
        Ok(())
    }

    fn answer(&mut self, probe: Probe) -> Result<(), CoordinatorLost> {
        if self.outbox.overflows() {
            return Err(CoordinatorLost::Unread);
        }
        let received_ns = clock_now_ns();
        self.outbox.push(Up::Answer(Answer {
            asked_ns: probe.asked_ns,
            received_ns,
            answered_ns: clock_now_ns(),
        }));
        Ok(())
    }

    fn say(&mut self, batch: &mut Vec<Report>) -> Result<(), CoordinatorLost> {
        let items = batch
            .drain(..)
            .map(|report| postcard::to_stdvec(&report))
            .collect::<Result<_, _>>()
            .map_err(CoordinatorLost::Report)?;
        self.outbox.push(Up::Reports(Batch { items }));
        Ok(())
    }
}

fn ended_because(trouble: &str) -> Up {
    Up::Ended(Ended {
        trouble: trouble.to_owned(),
    })
}
