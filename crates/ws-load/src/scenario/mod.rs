//! What the clients of a worker do once they are connected: send requests, be held, be watched, echo raw
//! frames.
//!
//! A scenario gets the events of its worker's connections and decides what is sent on them. It knows no
//! socket and no event loop, and its clock comes with the clients, so that its tests run in virtual
//! time.

mod hold;
mod raw_echo;
mod requests;
#[cfg(test)]
mod virtual_time;
mod watch;
mod writer;

pub(crate) use requests::BYTES_PER_WAITING_SAMPLE;

use crate::dialect::{Codec, Stamps, Told};
use crate::http::Access;
use crate::message::{Command, Report, Share, StepPart};
use crate::net::{Asks, ConnectError, Endpoint};
use crate::verify::{Asides, Read, StepLedger, Understanding, Verifier};
use plan::{Load, Plan};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use ws_proto::Opcode;

/// A client of the worker, by the number of its connection there.
pub(crate) type Slot = u32;

/// What a scenario may do with the clients of its worker.
pub(crate) trait Clients {
    /// Nanoseconds of the clock that all times are of.
    fn now_ns(&self) -> u64;
    /// Connections that there ever were; slots are below this.
    fn slots(&self) -> Slot;
    /// True for a client that is connected and ready.
    fn is_ready(&self, slot: Slot) -> bool;
    /// How many are.
    fn ready_count(&self) -> u32;
    /// True while clients are being connected.
    fn is_opening(&self) -> bool;
    /// True while the socket of a connection takes no bytes.
    fn is_blocked(&self, slot: Slot) -> bool;
    /// Puts the compressed payload of a message in the place of what `out` holds. It must be sent, and
    /// before any later one. False where no compression was negotiated.
    fn deflate(&mut self, _slot: Slot, _message: &[u8], _out: &mut Vec<u8>) -> bool {
        false
    }
    /// Appends what a variable of messages stands for with this client.
    fn write_variable(&self, slot: Slot, name: &str, out: &mut Vec<u8>);
    /// Words of the server in which it has not told the secrets of this client.
    fn silent(&self, _slot: Slot, words: &str) -> String {
        words.to_owned()
    }
    /// A message in which variables stand is written whole. Returns its sequence, if it says one.
    fn end_message(&mut self, _slot: Slot) -> Option<u64> {
        None
    }
    /// Sends bytes. True when the kernel has taken all of them; `None` when the connection is
    /// broken or gone. What the kernel has not taken follows by itself.
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> Option<bool>;
    /// Answers a ping, or a keep-alive of the dialect. While the peer does not read, only the answer to
    /// the most recent is kept (RFC 6455, 5.5.3).
    fn send_latest(&mut self, slot: Slot, opcode: Opcode, payload: &[u8]);
    /// Answers a question of the server, behind what was sent before. A server that asks on and reads no
    /// answer is left.
    fn answer(&mut self, slot: Slot, opcode: Opcode, payload: &[u8]) {
        self.send_latest(slot, opcode, payload);
    }
    /// The server has told a client values, by name, for its later messages.
    fn keep_told(&mut self, _slot: Slot, _values: Vec<Told>) {}
    /// Leaves a server that asks a client for more than is answered.
    fn end_flooded(&mut self, _slot: Slot) {}
    /// True where the kernel has all that was sent, but for answers to questions and pings.
    fn has_gone(&self, slot: Slot) -> bool {
        !self.is_blocked(slot)
    }
    /// Ends a connection.
    fn end(&mut self, slot: Slot, error: ConnectError);
    /// A client that was ready and is lost, with the reason. Each is returned once.
    fn take_lost(&mut self) -> Option<(Slot, ConnectError)>;
    /// What a client has done by plan. Each is returned once, in their order, and before an answer to
    /// it can come.
    fn take_done(&mut self) -> Option<(Slot, Deed)>;
    /// The node of the server that a client connected to last, from 0.
    fn node(&self, _slot: Slot) -> u32 {
        0
    }
    /// The server has confirmed that a client has left its room.
    fn has_left_room(&mut self, slot: Slot);
    /// It has confirmed at `at_ns` that the client is in the next one.
    fn has_joined_room(&mut self, slot: Slot, at_ns: u64);
    /// The answer to its heartbeat has reached a client at `at_ns`.
    fn heartbeat_answered(&mut self, _slot: Slot, _at_ns: u64) {}
    /// 64 random bits, different in every draw of a run.
    fn draw(&mut self) -> u64;
    /// Tells the controller.
    fn report(&mut self, report: Report);
    /// Tells another worker of this process.
    fn tell(&mut self, worker: usize, command: Command);
}

/// What a client does by plan besides sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It was ready and has left, or begins to leave its room.
    Left { at_ns: u64 },
    /// It has asked to leave that room.
    LeavesRoom { room: u32 },
    /// It has asked to enter that room.
    JoinsRoom { room: u32 },
    /// It was not answered in time, and has ended its connection.
    WasNotAnswered,
}

/// What the clients of a worker do.
pub(crate) trait Scenario: Send {
    /// Obeys a command, of those that are about more than opening and closing connections.
    fn obey(&mut self, command: Command, clients: &mut dyn Clients);

    /// Does what is due. Called before each wait of the loop.
    fn turn(&mut self, clients: &mut dyn Clients);

    /// When `turn` is to be called even if no event comes; 0 for at once.
    fn next_ns(&self, now_ns: u64) -> u64;

    /// A client is ready since `at_ns`, in this room if there are rooms, connected to this node of the
    /// server. What it has read behind that is told after this.
    fn ready(&mut self, slot: Slot, at_ns: u64, room: Option<u32>, node: u32);

    /// A client has another connection, on which nothing has been said.
    fn upgraded(&mut self, _slot: Slot) {}

    /// Bytes have been read, `received_bytes` of frames since the step began.
    fn read(&mut self, _read: Read, _received_bytes: u64) {}

    /// A message has come. It arrived at `at_ns`, or up to `slack_ns` before where it shares its
    /// stamp with a later one.
    fn message(&mut self, slot: Slot, opcode: Opcode, payload: &[u8], at_ns: u64, slack_ns: u64);

    /// A pong has come.
    fn pong(&mut self, _slot: Slot, _payload: &[u8], _at_ns: u64) {}

    /// True of a scenario that takes the bytes of its connections as they come, in place of
    /// messages and pongs.
    fn takes_bytes(&self) -> bool {
        false
    }

    /// Bytes have come, of a scenario that takes them.
    fn bytes(&mut self, _slot: Slot, _bytes: &[u8], _read_ns: u64) {}

    /// Follows up on what has come, with the last event at `now_ns`.
    fn follow_up(&mut self, now_ns: u64, clients: &mut dyn Clients);

    /// Bytes that wait for a connection are about to be written.
    fn before_flush(&mut self, _slot: Slot, _now_ns: u64) {}

    /// They were written, as far as the kernel took them.
    fn after_flush(&mut self, _slot: Slot, _clients: &mut dyn Clients) {}

    /// The stream broke a rule of the protocol, in words; the connection ends with it.
    fn broke_protocol(&mut self, _words: String) {}

    /// Begins to count anew: a step begins.
    fn reset(&mut self);

    /// Ends the step: adds what this scenario knows of it to the part, which has the traffic.
    fn finish(&mut self, part: &mut StepPart, now_ns: u64);

    /// Clients that read slowly have caught up with the step that was finished last. Adds what was
    /// seen of them since.
    fn caught_up(&mut self, _part: &mut StepPart) {}
}

/// What a scenario is made for.
pub(crate) struct Setting {
    pub(crate) work: Work,
    pub(crate) plan: Arc<Plan>,
    /// The server.
    pub(crate) addr: Endpoint,
    /// What the clients show it.
    pub(crate) asks: Asks,
    pub(crate) codec: Arc<dyn Codec>,
    pub(crate) stamps: Stamps,
    /// The part of the run that this process has.
    pub(crate) share: Share,
    /// Number of the worker among those of its process, and how many these are.
    pub(crate) thread: u32,
    pub(crate) threads: u32,
    pub(crate) step: Arc<CurrentStep>,
    pub(crate) understanding: Arc<Understanding>,
    /// Bytes of raw echoes that came back.
    pub(crate) bytes: Arc<AtomicU64>,
    /// Absent where the dialect has no requests over HTTP.
    pub(crate) http: Option<Access>,
}

impl Setting {
    /// Number of the worker among all workers of the run, and how many there are.
    pub(crate) const fn worker(&self) -> (u32, u32) {
        self.share.worker(self.thread, self.threads)
    }

    fn verifier(&self) -> Verifier {
        let (worker, workers) = self.worker();
        let codec = Arc::clone(&self.codec);
        let understanding = Arc::clone(&self.understanding);
        let limited = self.plan.limited();
        let mut verifier =
            Verifier::new(codec, self.stamps, limited, worker, workers, understanding);
        verifier.asks = self.asks.clone();
        verifier.follow_feeds(&self.addr);
        verifier
    }
}

/// What the clients are there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// What the plan's load says.
    Plan,
    /// Packs of frames over a raw echo, which no plan asks for.
    RawEcho,
}

/// The scenario of a plan, or that of a raw echo.
pub(crate) fn scenario(setting: Setting) -> Box<dyn Scenario> {
    if setting.work == Work::RawEcho {
        return Box::new(raw_echo::RawEcho::new(&setting));
    }
    match setting.plan.load {
        Load::Closed(_) | Load::Open(_) => Box::new(requests::Requests::new(setting)),
        Load::Connect(terms) => Box::new(hold::Hold::new(terms, &setting)),
        Load::Watch(terms) => Box::new(watch::Watch::new(terms, setting)),
    }
}

/// Follows up on what the last read brought besides answers to requests, if it did.
#[cold]
fn follow_asides(asides: Asides, opcode: Opcode, clients: &mut dyn Clients) {
    if let Some((slot, answer)) = asides.keep_alive {
        clients.send_latest(slot, opcode, &answer);
    }
    for (slot, values) in asides.renewed {
        clients.keep_told(slot, values);
    }
    for (slot, answer) in asides.questions {
        clients.answer(slot, opcode, &answer);
    }
    if let Some(slot) = asides.flooded {
        clients.end_flooded(slot);
    }
    for (slot, at_ns) in asides.heartbeats {
        clients.heartbeat_answered(slot, at_ns);
    }
}

/// The ledger of the step under way, for all workers of a process.
#[derive(Debug, Default)]
pub(crate) struct CurrentStep(std::sync::Mutex<Option<Arc<StepLedger>>>);

impl CurrentStep {
    /// The ledger, if a step has begun.
    pub(crate) fn get(&self) -> Option<Arc<StepLedger>> {
        let step = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        step.clone()
    }

    /// A step begins.
    pub(crate) fn set(&self, ledger: Arc<StepLedger>) {
        let mut step = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        *step = Some(ledger);
    }
}
