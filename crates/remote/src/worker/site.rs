//! The site of a run on its own thread, as the conversation sees it.

use super::assignment::{Occupied, Taken};
use crate::LARGEST_COMMANDS;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;
use ws_load::cluster::{self, Command, Report};

/// A site at work. Without its `commands` it closes its connections and ends.
pub(super) struct Running {
    pub(super) commands: Option<Commands>,
    /// Its reports; closed when it has ended.
    pub(super) reports: UnboundedReceiver<Report>,
    /// Why it could not go on, in words, if so.
    pub(super) ended: oneshot::Receiver<Result<(), String>>,
}

/// The queue to the site: commands wait there until they are obeyed.
pub(super) struct Commands {
    way: mpsc::Sender<(Command, usize)>,
    waiting_bytes: Arc<AtomicUsize>,
    abandoned: Arc<AtomicBool>,
}

impl Commands {
    /// Passes on a command that arrived in this many bytes.
    ///
    /// # Errors
    /// In words, when more wait than a coordinator has reason to send.
    pub(super) fn tell(&self, command: Command, bytes: usize) -> Result<(), String> {
        let waiting = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if waiting > LARGEST_COMMANDS {
            return Err(format!(
                "the coordinator sends commands faster than they can be obeyed: {waiting} bytes wait"
            ));
        }
        // A site that has ended takes none, and its last report is on its way.
        let _ = self.way.send((command, bytes));
        Ok(())
    }

    /// Has the site end without obeying what still waits.
    pub(super) fn abandon(self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }
}

/// Starts the site; the worker's place is free again when it has ended.
pub(super) fn start(taken: Taken, occupied: Occupied) -> std::io::Result<Running> {
    let (way, told) = mpsc::channel();
    let waiting_bytes = Arc::new(AtomicUsize::new(0));
    let waiting = Arc::clone(&waiting_bytes);
    let abandoned = Arc::new(AtomicBool::new(false));
    let is_abandoned = Arc::clone(&abandoned);
    let (say, reports) = unbounded_channel();
    let (end, ended) = oneshot::channel();
    std::thread::Builder::new()
        .name("site".to_owned())
        .spawn(move || {
            let report = Box::new(move |report| {
                // The receiver is gone when the coordinator is lost.
                let _ = say.send(report);
            });
            let commands = told.into_iter().map_while(move |(command, bytes)| {
                waiting.fetch_sub(bytes, Ordering::Relaxed);
                (!is_abandoned.load(Ordering::Relaxed)).then_some(command)
            });
            let result =
                cluster::serve_at(&taken.plan, taken.share, &taken.addrs, commands, report);
            drop(taken);
            drop(occupied);
            let _ = end.send(result.map_err(|error| error.to_string()));
        })?;
    Ok(Running {
        commands: Some(Commands {
            way,
            waiting_bytes,
            abandoned,
        }),
        reports,
        ended,
    })
}
