//! The site of a run on its own thread, as the conversation sees it.

use super::assignment::{Occupied, Taken};
use crate::LARGEST_COMMANDS;
use crate::broken_off::CoordinatorLost;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, oneshot};
use ws_load::cluster::{self, Command, Report};

/// Most bytes of reports that wait for a coordinator to read: those of a million samples.
pub(super) const MOST_WAITING: usize = 64 << 20;

/// A site at work. Without its `commands` it closes its connections and ends.
pub(super) struct Running {
    pub(super) commands: Option<Commands>,
    /// Its reports; closed when it has ended.
    pub(super) reports: Reports,
    /// Why it could not go on, in words, if so.
    pub(super) ended: oneshot::Receiver<Result<(), String>>,
}

/// The queue from the site: reports wait there until they are sent.
pub(super) struct Reports {
    told: UnboundedReceiver<(Report, usize)>,
    waiting_bytes: Arc<AtomicUsize>,
    overflow: Arc<Notify>,
}

impl Reports {
    /// The queue for `most` bytes, and what puts a report into it.
    fn new(most: usize) -> (Self, impl Fn(Report) + Send + Sync + 'static) {
        let (way, told): (UnboundedSender<(Report, usize)>, _) = unbounded_channel();
        let waiting_bytes = Arc::new(AtomicUsize::new(0));
        let overflow = Arc::new(Notify::new());
        let (waiting, overflows) = (Arc::clone(&waiting_bytes), Arc::clone(&overflow));
        let tell = move |report: Report| {
            let bytes = report.bytes();
            if waiting.fetch_add(bytes, Ordering::Relaxed) + bytes > most {
                // The run is lost with this report.
                overflows.notify_one();
                return;
            }
            // The receiver is gone when the coordinator is lost.
            let _ = way.send((report, bytes));
        };
        let queue = Self {
            told,
            waiting_bytes,
            overflow,
        };
        (queue, tell)
    }

    /// Takes at most `most` of the next reports; none when the site has ended.
    pub(super) async fn take(&mut self, batch: &mut Vec<Report>, most: usize) -> usize {
        let mut taken = Vec::new();
        let count = self.told.recv_many(&mut taken, most).await;
        for (report, bytes) in taken {
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            batch.push(report);
        }
        count
    }

    /// Told when more reports wait than the queue takes.
    pub(super) fn overflow(&self) -> Arc<Notify> {
        Arc::clone(&self.overflow)
    }
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
    /// When more wait than a coordinator has reason to send.
    pub(super) fn tell(&self, command: Command, bytes: usize) -> Result<(), CoordinatorLost> {
        let waiting = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if waiting > LARGEST_COMMANDS {
            return Err(CoordinatorLost::Flood(waiting));
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
    let (reports, tell) = Reports::new(MOST_WAITING);
    let (end, ended) = oneshot::channel();
    std::thread::Builder::new()
        .name("site".to_owned())
        .spawn(move || {
            let commands = told.into_iter().map_while(move |(command, bytes)| {
                waiting.fetch_sub(bytes, Ordering::Relaxed);
                (!is_abandoned.load(Ordering::Relaxed)).then_some(command)
            });
            let result = cluster::serve_at(
                &taken.plan,
                taken.share,
                &taken.addrs,
                commands,
                Box::new(tell),
            );
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::runtime::Builder;

    #[test]
    fn reports_that_nobody_reads_are_bounded_and_the_site_is_told() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let (mut reports, tell) = Reports::new(10 * Report::Opened.bytes());
        let overflow = reports.overflow();
        let (mut batch, mut count) = (Vec::new(), 0);
        // What was read makes room for as much.
        for _ in 0..3 {
            (0..10).for_each(|_| tell(Report::Opened));
            count += runtime.block_on(reports.take(&mut batch, 100));
        }
        assert_eq!((count, batch.len()), (30, 30));
        (0..100_000).for_each(|_| tell(Report::Opened));
        runtime.block_on(overflow.notified());
        batch.clear();
        assert_eq!(runtime.block_on(reports.take(&mut batch, 100)), 10);
    }
}
