//! Finds workers of this process that hang.
//!
//! The loop of an idle worker turns twenty times a second, and no turn takes seconds. Time is counted
//! in looks and not by the clock, so that no worker looks hung after the whole process was stopped.

use super::Progress;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Interval between two looks.
pub(crate) const TICK: Duration = Duration::from_millis(100);
/// Looks without a turn after which a worker is given up: 10 s, much longer than a busy scheduler keeps
/// a thread waiting.
const LOOKS: u32 = 100;
/// Looks without a turn after which a missing message is not the server's fault: 1 s.
const DOUBT: u32 = 10;

/// How long a worker that is given up had not turned, in words.
pub(crate) const SILENCE: &str = "10 s";

#[derive(Debug)]
pub(crate) struct Watchdog {
    progress: Arc<Progress>,
    workers: Vec<Watched>,
    looked: Instant,
}

#[derive(Clone, Debug, Default)]
struct Watched {
    turns: u64,
    /// Looks since it last turned.
    looks: u32,
}

impl Watchdog {
    pub(crate) fn new(progress: Arc<Progress>) -> Self {
        Self {
            workers: vec![Watched::default(); progress.workers()],
            progress,
            looked: Instant::now(),
        }
    }

    /// Looks, if it is time to. Returns a worker that has just been given up, each once.
    pub(crate) fn look(&mut self) -> Option<usize> {
        if self.looked.elapsed() < TICK {
            return None;
        }
        self.looked = Instant::now();
        self.count()
    }

    fn count(&mut self) -> Option<usize> {
        let mut hung = None;
        for (worker, watched) in self.workers.iter_mut().enumerate() {
            let turns = self.progress.turns(worker);
            if watched.looks >= LOOKS {
                continue;
            }
            if turns != watched.turns {
                *watched = Watched { turns, looks: 0 };
                continue;
            }
            // Others that are found by the same look are returned by the next.
            if watched.looks + 1 < LOOKS || hung.is_none() {
                watched.looks += 1;
            }
            if watched.looks == LOOKS {
                hung = Some(worker);
            }
        }
        hung
    }

    /// True for a worker that was given up.
    pub(crate) fn has_given_up(&self, worker: usize) -> bool {
        self.workers[worker].looks >= LOOKS
    }

    /// True while some worker that was not given up may hang.
    pub(crate) fn doubts(&self) -> bool {
        let mut looks = self.workers.iter().map(|watched| watched.looks);
        looks.any(|looks| (DOUBT..LOOKS).contains(&looks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_given_up_once_and_only_when_it_does_not_turn_at_all() {
        let progress = Arc::new(Progress::new(4));
        let mut watchdog = Watchdog::new(Arc::clone(&progress));
        let mut given_up = Vec::new();
        for look in 0..3 * LOOKS {
            progress.turned(0);
            // Seldom, as on a machine that is busy.
            if look % (LOOKS - 1) == 0 {
                progress.turned(2);
            }
            given_up.extend(watchdog.count().map(|worker| (worker, look)));
            assert_eq!(watchdog.doubts(), {
                let since = look % (LOOKS - 1);
                let busy = since >= DOUBT;
                busy || (DOUBT - 1..LOOKS).contains(&look)
            });
        }
        assert_eq!(given_up, [(1, LOOKS - 1), (3, LOOKS)]);
        let are = [0, 1, 2, 3].map(|worker| watchdog.has_given_up(worker));
        assert_eq!(are, [false, true, false, true]);
    }
}
