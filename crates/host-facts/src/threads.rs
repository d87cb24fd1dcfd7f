//! How often the threads of processes gave up a core, and how often one was taken from them.
//!
//! The kernel counts per thread (/proc/PID/task/TID/status). When a thread ends, its count is gone from
//! there. So the last reading of each thread is kept: no sum decreases when a thread ends, but what the
//! thread counted after that reading is lost. A thread that begins and ends between two readings is
//! never seen.
//!
//! Two lines of each status are read and nothing else: a server may have thousands of threads, and a
//! parser of the whole took four times as long.

use super::{Identity, Kin};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// The threads of some processes, past and present.
#[derive(Debug, Default)]
pub struct Threads {
    /// The last reading of each.
    seen: BTreeMap<(Identity, i32), Switched>,
    /// Of threads whose number another one of their process has now.
    replaced: ThreadCounts,
}

/// What was counted of threads since they began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCounts {
    /// Times that one waited, and gave up its core.
    pub voluntary: u64,
    /// Times that the kernel gave the core of one to another.
    pub involuntary: u64,
    /// Threads that are there now.
    pub alive: u64,
    /// Threads that were seen and have ended.
    pub ended: u64,
}

/// One reading of one thread.
#[derive(Clone, Copy, Debug, Default)]
struct Switched {
    voluntary: u64,
    involuntary: u64,
}

impl Threads {
    /// Reads every thread of these processes; returns what was counted of all that were ever seen,
    /// and `None` when none was.
    pub fn read(&mut self, processes: &[Kin]) -> Option<ThreadCounts> {
        let (mut alive, mut text) = (0, String::new());
        for kin in processes {
            // Threads and processes end while they are read; their last reading is kept.
            let tasks = fs::read_dir(format!("/proc/{}/task", kin.identity.pid));
            for task in tasks.into_iter().flatten().flatten() {
                let name = task.file_name();
                let tid = name.to_str().and_then(|name| name.parse().ok());
                let now = switched(&task.path().join("status"), &mut text);
                if let (Some(tid), Some(now)) = (tid, now) {
                    alive += 1;
                    self.note((kin.identity, tid), now);
                }
            }
        }
        self.counts(alive)
    }

    fn note(&mut self, thread: (Identity, i32), now: Switched) {
        let seen = self.seen.entry(thread).or_default();
        // Counters that run backwards belong to a newer thread of the same number.
        if now.voluntary < seen.voluntary || now.involuntary < seen.involuntary {
            self.replaced.voluntary += seen.voluntary;
            self.replaced.involuntary += seen.involuntary;
            self.replaced.ended += 1;
        }
        *seen = now;
    }

    fn counts(&self, alive: u64) -> Option<ThreadCounts> {
        let sum = |of: fn(&Switched) -> u64| self.seen.values().map(of).sum::<u64>();
        (!self.seen.is_empty()).then(|| ThreadCounts {
            voluntary: self.replaced.voluntary + sum(|seen| seen.voluntary),
            involuntary: self.replaced.involuntary + sum(|seen| seen.involuntary),
            alive,
            ended: self.replaced.ended + (self.seen.len() as u64).saturating_sub(alive),
        })
    }
}

/// What the status of a thread says, read into `text`.
fn switched(status: &Path, text: &mut String) -> Option<Switched> {
    text.clear();
    File::open(status).ok()?.read_to_string(text).ok()?;
    let of = |name: &str| {
        let mut lines = text.lines().rev();
        let value = lines.find_map(|line| line.strip_prefix(name))?;
        value.trim().parse().ok()
    };
    Some(Switched {
        voluntary: of("voluntary_ctxt_switches:")?,
        involuntary: of("nonvoluntary_ctxt_switches:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tree;
    use std::sync::mpsc::channel;
    use std::thread;

    const PROCESS: Identity = Identity {
        pid: 100,
        started: 7,
    };

    fn reading(voluntary: u64, involuntary: u64) -> Switched {
        Switched {
            voluntary,
            involuntary,
        }
    }

    #[test]
    fn a_thread_that_has_ended_keeps_its_last_reading() {
        let mut threads = Threads::default();
        assert_eq!(threads.counts(0), None);
        threads.note((PROCESS, 100), reading(5, 1));
        threads.note((PROCESS, 101), reading(30, 2));
        let both = threads.counts(2).unwrap();
        assert_eq!((both.voluntary, both.involuntary), (35, 3));
        assert_eq!((both.alive, both.ended), (2, 0));
        threads.note((PROCESS, 100), reading(6, 1));
        let one = threads.counts(1).unwrap();
        assert_eq!((one.voluntary, one.involuntary), (36, 3));
        assert_eq!((one.alive, one.ended), (1, 1));
    }

    #[test]
    fn a_thread_that_was_passed_over_once_is_not_counted_twice() {
        let mut threads = Threads::default();
        threads.note((PROCESS, 101), reading(30, 2));
        assert_eq!(threads.counts(0).unwrap().voluntary, 30);
        threads.note((PROCESS, 101), reading(31, 2));
        assert_eq!(threads.counts(1).unwrap().voluntary, 31);
    }

    #[test]
    fn a_reused_number_is_another_thread_and_takes_nothing_away() {
        let mut threads = Threads::default();
        threads.note((PROCESS, 101), reading(30, 2));
        threads.note((PROCESS, 101), reading(4, 0));
        let counts = threads.counts(1).unwrap();
        assert_eq!((counts.voluntary, counts.involuntary), (34, 2));
        assert_eq!((counts.alive, counts.ended), (1, 1));
    }

    #[test]
    fn a_real_thread_that_waits_is_counted_and_kept_when_it_has_ended() {
        let kin = Tree::new(&[std::process::id()]).search();
        let mut threads = Threads::default();
        let (ask, asked) = channel::<()>();
        let (answer, answered) = channel();
        let thread = thread::spawn(move || {
            let tid = rustix::thread::gettid().as_raw_pid();
            while asked.recv().is_ok() {
                answer.send(tid).unwrap();
            }
        });
        let voluntary_of = |threads: &mut Threads| {
            ask.send(()).unwrap();
            let tid = answered.recv().unwrap();
            let all = threads.read(&kin).unwrap();
            let (_, own) = threads.seen.iter().find(|((_, of), _)| *of == tid).unwrap();
            (own.voluntary, all)
        };
        // It waits for most of the questions, not for one that comes before it asks for the next.
        let mut questions = 0..100_000;
        assert!(questions.any(|_| voluntary_of(&mut threads).0 >= 20));
        let (own, alive) = voluntary_of(&mut threads);
        assert!(alive.voluntary >= own && alive.alive >= 2);
        drop(ask);
        thread.join().unwrap();
        // A thread that was joined may be listed for a moment more.
        let mut readings = (0..100_000).map(|_| threads.read(&kin).unwrap());
        let is_known = |counts: ThreadCounts| {
            assert!(counts.voluntary >= alive.voluntary);
            assert!(counts.involuntary >= alive.involuntary);
            counts.ended > alive.ended
        };
        assert!(readings.any(is_known));
    }
}
