//! Signs of life: which connections sent one, which were silent for too long, and what each was asked.

use super::Knows;
use super::ledger::{Ledger, Silent};
use super::lock;
use crate::threaded::{Asked, Peer, Speech, read, text_frame};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use ws_proto::Opcode;

/// How often it is looked which connections are silent.
const LOOK: Duration = Duration::from_millis(20);

/// The open connections by their number.
#[derive(Default)]
pub(super) struct Watch {
    watched: Mutex<HashMap<u64, Watched>>,
    is_over: AtomicBool,
}

struct Watched {
    peer: Arc<Peer>,
    /// When it last said that it lives.
    at_ns: u64,
}

impl Watch {
    /// Ends connections that are silent for so long, from another thread.
    pub(super) fn start(
        silence: Option<Duration>,
        ledger: &Arc<Mutex<Ledger>>,
    ) -> io::Result<Arc<Self>> {
        let watch = Arc::new(Self::default());
        if let Some(silence) = silence {
            let (own, ledger) = (Arc::clone(&watch), Arc::clone(ledger));
            let thread = std::thread::Builder::new().name("watch".into());
            thread.spawn(move || own.end_silent(silence.as_nanos() as u64, &ledger))?;
        }
        Ok(watch)
    }

    fn end_silent(&self, silence_ns: u64, ledger: &Mutex<Ledger>) {
        while !self.is_over.load(Ordering::SeqCst) {
            let mut ended = HashSet::new();
            {
                let mut ledger = lock(ledger);
                let now_ns = ledger.now_ns();
                for (id, of) in self.lock().iter() {
                    if now_ns.saturating_sub(of.at_ns) > silence_ns {
                        of.peer.wire.end();
                        ended.insert(*id);
                    }
                }
                ledger.told.silenced += ended.len() as u64;
            }
            self.lock().retain(|id, _| !ended.contains(id));
            std::thread::sleep(LOOK);
        }
    }

    /// A connection is open, or says that it lives.
    pub(super) fn lives(&self, peer: &Arc<Peer>, at_ns: u64) {
        let peer = Arc::clone(peer);
        self.lock().insert(peer.id, Watched { peer, at_ns });
    }

    pub(super) fn forget(&self, id: u64) {
        self.lock().remove(&id);
    }

    /// Ends the thread.
    pub(super) fn stop(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Knows {
    /// Takes a message that is no request: a heartbeat, with its answer, of a connection that has them.
    /// False of any other.
    pub(super) fn takes(&self, from: &Arc<Peer>, opcode: Opcode, message: &[u8]) -> bool {
        let Some(answer) = self.heartbeat(from, opcode, message) else {
            return false;
        };
        let mut ledger = lock(&self.ledger);
        let (number, now_ns) = (ledger.told.beats, ledger.now_ns());
        match answer {
            Err(Silent) => ledger.told.wrong_beats += 1,
            Ok(answer) => {
                ledger.told.beats += 1;
                let unheard = self.options.unheard.hits(number);
                ledger.told.unheard += u64::from(unheard);
                drop(ledger);
                self.watch.lives(from, now_ns);
                if !unheard {
                    from.send(&answer);
                }
            }
        }
        true
    }

    /// The answer to a heartbeat, where the message is one. Text has heartbeats where clients say which
    /// they are: `{"type":"heartbeat","client":7}`, answered with `{"type":"heard"}`.
    fn heartbeat(
        &self,
        from: &Arc<Peer>,
        opcode: Opcode,
        message: &[u8],
    ) -> Option<Result<Vec<u8>, Silent>> {
        let text = std::str::from_utf8(message).ok()?;
        if !text.contains("heartbeat") {
            return None;
        }
        if from.speech != Speech::Plain {
            return match read(from.speaker(), opcode, message) {
                Ok(Asked::Heartbeat(answer)) => Some(Ok(answer)),
                _ => None,
            };
        }
        const BEGINS: &[u8] = br#"{"type":"heartbeat","client":"#;
        let client = message.strip_prefix(BEGINS)?;
        let known = lock(&self.ledger).client(from.id);
        let due = known.map(|client| format!("{client}}}"));
        Some(match due.is_some_and(|due| client == due.as_bytes()) {
            true => Ok(text_frame(r#"{"type":"heard"}"#)),
            false => Err(Silent),
        })
    }
}
