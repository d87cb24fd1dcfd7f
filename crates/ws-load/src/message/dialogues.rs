//! A worker's part of what came of dialogues.

use plan::DialectFile;
use record::{Dialogues, KindTimes, Recorder};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Kinds of requests whose answers are timed.
const MOST_KINDS: u32 = 64;

/// Dialogues of a step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DialoguesPart {
    pub(crate) begun: u64,
    finished: u64,
    time: Recorder,
    /// By the place of the kind in the dialect file.
    kinds: BTreeMap<u32, Recorder>,
}

impl DialoguesPart {
    /// An answer to a request of this kind took so long.
    pub(crate) fn answered(&mut self, kind: u32, ns: u64) {
        if kind < MOST_KINDS {
            self.kinds.entry(kind).or_default().record(ns);
        }
    }

    /// A dialogue came to its end, and took so long.
    pub(crate) fn finished(&mut self, ns: u64) {
        self.finished += 1;
        self.time.record(ns);
    }

    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.begun += other.begun;
        self.finished += other.finished;
        self.time.merge(&other.time);
        for (kind, times) in &other.kinds {
            if *kind < MOST_KINDS {
                self.kinds.entry(*kind).or_default().merge(times);
            }
        }
    }

    /// The same for people.
    pub(crate) fn into_record(self, file: Option<&DialectFile>) -> Dialogues {
        let kinds = file.into_iter().flat_map(|file| &file.send.kinds);
        let answered = kinds
            .zip(0..MOST_KINDS)
            .filter(|(kind, _)| kind.answered)
            .map(|(kind, place)| {
                let times = self.kinds.get(&place);
                KindTimes {
                    kind: kind.name.clone(),
                    answers: times.map_or(0, Recorder::count),
                    time: times.and_then(Recorder::latency),
                }
            });
        Dialogues {
            begun: self.begun,
            finished: self.finished,
            unfinished: self.begun.saturating_sub(self.finished),
            time: self.time.latency(),
            kinds: answered.collect(),
        }
    }
}
