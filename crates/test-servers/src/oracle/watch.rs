//! Signs of life: which connections sent one, which were silent for too long, and what each was asked.

use super::Knows;
use super::ledger::{Ledger, Silent};
use super::lock;
use crate::threaded::{Asked, Peer, Speech, read, text_frame};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, VecDeque};
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
    /// What it was asked and has not answered.
    asked: VecDeque<Value>,
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
                let clients: Vec<_> = ended.iter().map(|id| ledger.client(*id)).collect();
                ledger.told.silenced.extend(clients);
            }
            self.lock().retain(|id, _| !ended.contains(id));
            std::thread::sleep(LOOK);
        }
    }

    /// A connection is open, or says that it lives.
    pub(super) fn lives(&self, peer: &Arc<Peer>, at_ns: u64) {
        let mut watched = self.lock();
        let new = || Watched {
            peer: Arc::clone(peer),
            at_ns,
            asked: VecDeque::new(),
        };
        watched.entry(peer.id).or_insert_with(new).at_ns = at_ns;
    }

    /// Asks a connection a question.
    fn ask(&self, id: u64, question: Value) {
        if let Some(watched) = self.lock().get_mut(&id) {
            watched.asked.push_back(question);
        }
    }

    /// Whether an answer repeats the oldest question that a connection has not answered. Nothing is known of
    /// one that was ended.
    fn is_right(&self, id: u64, answer: &Value) -> Option<bool> {
        let mut watched = self.lock();
        let due = watched.get_mut(&id)?.asked.pop_front();
        Some(due.is_some_and(|due| due == *answer))
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
    /// Takes a message that is no request: a heartbeat, which is answered, or the answer to a question.
    /// False of any other.
    pub(super) fn takes(&self, from: &Arc<Peer>, opcode: Opcode, message: &[u8]) -> bool {
        const ANSWER: &[u8] = br#"{"type":"answer","to":"#;
        if self.options.asks > 0 && message.starts_with(ANSWER) {
            let answer: Value = serde_json::from_slice(message).unwrap_or_default();
            let is_right = self.watch.is_right(from.id, &answer["to"]);
            let told = &mut lock(&self.ledger).told;
            told.right_answers += u64::from(is_right == Some(true));
            told.wrong_answers += u64::from(is_right == Some(false));
            return true;
        }
        const PUBACK: u8 = 0x40;
        if matches!(from.speech, Speech::Mqtt(_)) && message.first() == Some(&PUBACK) {
            lock(&self.ledger).told.acknowledged += 1;
            return true;
        }
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
                self.ask(from);
            }
        }
        true
    }

    /// Asks what each answer repeats, several things at once.
    fn ask(&self, of: &Arc<Peer>) {
        if self.options.asks == 0 || of.speech != Speech::Plain {
            return;
        }
        let mut frames = Vec::new();
        for _ in 0..self.options.asks {
            let number = {
                let told = &mut lock(&self.ledger).told;
                told.questions += 1;
                told.questions
            };
            let what = match number % 3 {
                0 => json!(number),
                1 => json!(format!("\"{number}\\ {{client}} \u{e9}\n")),
                _ => json!({"number": number, "of": [null, -1.5, true]}),
            };
            let question = json!({"type": "question", "what": what}).to_string();
            frames.extend(text_frame(&question));
            self.watch.ask(of.id, what);
        }
        of.send(&frames);
    }

    /// The answer to a heartbeat, where the message is one. Text has heartbeats where clients say which
    /// they are: `{"type":"heartbeat","client":7}`, answered with `{"type":"heard"}`.
    fn heartbeat(
        &self,
        from: &Arc<Peer>,
        opcode: Opcode,
        message: &[u8],
    ) -> Option<Result<Vec<u8>, Silent>> {
        let is_packet = matches!(from.speech, Speech::Mqtt(_));
        let names_it = || std::str::from_utf8(message).is_ok_and(|of| of.contains("heartbeat"));
        if !is_packet && !names_it() {
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
