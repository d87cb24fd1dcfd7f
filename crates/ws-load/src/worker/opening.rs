//! Opening clients: a bounded number of handshakes at once, each within its time.

use super::clients::{Bytes, Stamp, watch};
use super::hold::Starts;
use super::{Core, Report};
use crate::connection::{Phase, Upgrade};
use crate::error::{ConnectError, Stage};
use crate::io::{Control, Token};
use crate::transport::Transport;
use crate::{clock, dialect};
use run_record::{Environment, FileLimit, Plan};
use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use ws_proto::{UpgradeRequest, encode_key, parse_response};

/// So many that a schedule which cannot be kept up with keeps nobody from reading.
const STARTS_AT_ONCE: usize = 64;

/// How many clients are wanted and which attempts are under way.
pub(super) struct Opening {
    wanted: usize,
    at_once: usize,
    pub(super) under_way: usize,
    /// When further attempts are to be started, whatever became of the others; absent when each
    /// waits for an earlier one.
    starts: Option<Starts>,
    next_start_ns: u64,
    /// How long an attempt may take.
    patience_ns: u64,
    /// Attempts in the order of their start, each with the time at which it is given up.
    deadlines: VecDeque<(u64, Token)>,
    /// All wanted clients have been reported as ready.
    reported: bool,
    /// This machine's limit, told once the attempts under way have ended.
    exhausted: Option<Box<ConnectError>>,
}

impl Opening {
    pub(super) fn new(plan: &Plan, workers: u32) -> Self {
        Self {
            wanted: 0,
            at_once: plan.connection.at_once.div_ceil(workers).max(1) as usize,
            under_way: 0,
            starts: None,
            next_start_ns: u64::MAX,
            patience_ns: plan.connection.timeout.ns(),
            deadlines: VecDeque::new(),
            reported: true,
            exhausted: None,
        }
    }

    pub(super) fn want(&mut self, clients: usize) {
        self.wanted = clients;
        self.reported = false;
    }

    /// Has the next attempts started at these moments.
    pub(super) fn by_clock(&mut self, mut starts: Starts) {
        self.next_start_ns = starts.next().unwrap_or(u64::MAX);
        self.starts = Some(starts);
    }

    /// When the next attempt is to be started by the clock; far in the future when none is.
    pub(super) const fn next_start_ns(&self) -> u64 {
        self.next_start_ns
    }

    /// The moment that was meant for the start of an attempt, if one may be made now.
    fn take_start(&mut self) -> Option<u64> {
        let now_ns = clock::now_ns();
        let Some(starts) = &mut self.starts else {
            return (self.under_way < self.at_once).then_some(now_ns);
        };
        if now_ns < self.next_start_ns {
            return None;
        }
        let due_ns = self.next_start_ns;
        self.next_start_ns = starts.next().unwrap_or(u64::MAX);
        Some(due_ns)
    }

    /// When the attempt of a client that is not ready yet was meant to start. Slots are used in
    /// turn, so that the attempts stand in their order.
    pub(super) fn intended_ns(&self, slot: Token) -> Option<u64> {
        let (_, first) = self.deadlines.front()?;
        let at = slot.checked_sub(*first)? as usize;
        let (deadline_ns, _) = self.deadlines.get(at)?;
        Some(deadline_ns - self.patience_ns)
    }

    /// True when nothing more is to be opened.
    pub(super) const fn is_done(&self) -> bool {
        self.reported
    }

    pub(super) fn stop(&mut self) {
        self.wanted = 0;
        self.next_start_ns = u64::MAX;
        self.reported = true;
    }

    /// True when this machine has allowed no further client.
    pub(super) const fn is_exhausted(&self) -> bool {
        self.exhausted.is_some()
    }

    /// True while some wanted client is not ready.
    pub(super) const fn is_wanting(&self, ready: u32) -> bool {
        !self.reported && (ready as usize) < self.wanted
    }
}

impl Core {
    /// Starts attempts up to the bound, gives up those whose time is over, and reports the end.
    pub(super) fn open_more<C: Control>(&mut self, control: &mut C) {
        self.give_up_late(control);
        let most = match self.opening.starts {
            Some(_) => STARTS_AT_ONCE,
            None => usize::MAX,
        };
        for _ in 0..most {
            if self.clients.len() >= self.opening.wanted {
                break;
            }
            let Some(due_ns) = self.opening.take_start() else {
                break;
            };
            if let Err(error) = self.open_one(control, due_ns) {
                let slot = self.clients.len() as Token;
                let error = self.explain(error, Stage::Connect, slot);
                if let Some(hold) = &mut self.hold
                    && !error.is_machine_limit()
                {
                    hold.failed(&error);
                    self.judge.faults.refused += 1;
                    self.clients.add_gone();
                    self.opening.deadlines.push_back((due_ns, slot));
                    continue;
                }
                self.opening.stop();
                if error.is_machine_limit() {
                    self.opening.exhausted = Some(Box::new(error));
                } else {
                    self.report(Report::OpenFailed(Box::new(error)));
                }
                break;
            }
        }
        if self.opening.under_way == 0
            && let Some(error) = self.opening.exhausted.take()
        {
            self.report(Report::OpenFailed(error));
        }
        let wanted = self.opening.wanted;
        let all = match self.hold {
            Some(_) => self.opening.under_way == 0 && self.clients.len() >= wanted,
            None => self.judge.alive_count() as usize >= wanted,
        };
        if !self.opening.reported && all {
            self.opening.reported = true;
            self.report(Report::Opened);
        }
    }

    fn open_one<C: Control>(&mut self, control: &mut C, due_ns: u64) -> io::Result<()> {
        let at_ns = clock::now_ns();
        let local = self.local_addr(self.clients.len() as Token);
        let transport = Transport::connect(&self.target, local)?;
        let raw = transport.raw();
        control.connecting(self.clients.len() as Token, raw)?;
        let slot = self.clients.add(transport);
        let deadline = due_ns + self.opening.patience_ns;
        self.opening.deadlines.push_back((deadline, slot));
        self.opening.under_way += 1;
        if let Some(hold) = &mut self.hold
            && self.opening.starts.is_some()
        {
            hold.started(at_ns);
            let lag_ns = at_ns.saturating_sub(due_ns);
            self.judge.latencies.send_lag.record(lag_ns);
        }
        Ok(())
    }

    /// Source addresses are dealt out in turn over all clients of this process.
    fn local_addr(&self, slot: Token) -> Option<IpAddr> {
        let client = u64::from(slot) * self.peers.len() as u64 + u64::from(self.thread);
        let addrs = &self.plan.target.local_addrs;
        (!addrs.is_empty()).then(|| addrs[(client % addrs.len() as u64) as usize])
    }

    fn give_up_late<C: Control>(&mut self, control: &mut C) {
        if self.opening.deadlines.is_empty() {
            return;
        }
        let now = clock::now_ns();
        while let Some(&(deadline, slot)) = self.opening.deadlines.front() {
            let connection = self.clients.get(slot);
            if connection.is_opening() && deadline > now {
                return;
            }
            let late = connection.is_opening().then(|| connection.stage());
            self.opening.deadlines.pop_front();
            if let Some(stage) = late {
                let error = ConnectError::TimedOut {
                    addr: self.target.addr,
                    stage,
                    seconds: self.plan.connection.timeout.ns() as f64 / 1e9,
                };
                let error = match stage {
                    Stage::Connect => self.after_others(error),
                    _ => error,
                };
                self.lose(control, slot, error);
            }
        }
    }

    /// The TCP connection attempt has ended.
    pub(super) fn on_connected<C: Control>(&mut self, control: &mut C, slot: Token) {
        // Before the request leaves: the answer may be here before this thread is on its core again.
        let connected_ns = clock::now_ns();
        let key = encode_key(self.draw_nonce());
        let codec = self.judge.codec();
        let mut request = Vec::new();
        UpgradeRequest {
            authority: &self.target.authority,
            target: &self.target.path,
            key: &key,
            origin: self.plan.connection.origin.as_deref().or(codec.origin()),
            subprotocol: codec.subprotocol(),
        }
        .encode(&mut request);
        let connection = self.clients.get(slot);
        let Some(transport) = &mut connection.transport else {
            return;
        };
        let asked = transport
            .connected()
            .and_then(|()| transport.send(&request))
            .and_then(|_| control.established(slot, transport.raw(), transport.wants_write()));
        match asked {
            Ok(()) => {
                if let Some(hold) = &mut self.hold
                    && let Some(intended_ns) = self.opening.intended_ns(slot)
                {
                    hold.established(connected_ns.saturating_sub(intended_ns));
                }
                connection.phase = Phase::Upgrading(Box::new(Upgrade {
                    key,
                    response: Vec::new(),
                }));
            }
            Err(error) => self.on_failed(control, slot, error),
        }
    }

    /// Bytes of the answer to an upgrade, and whatever follows it at once.
    pub(super) fn on_upgrade_data<C: Control>(
        &mut self,
        control: &mut C,
        slot: Token,
        bytes: &[u8],
    ) {
        let subprotocol = self.judge.codec().subprotocol();
        let connection = self.clients.get(slot);
        let (Some(transport), Phase::Upgrading(upgrade)) =
            (&mut connection.transport, &mut connection.phase)
        else {
            return;
        };
        let was_waiting = transport.wants_write();
        let received = transport
            .receive(bytes, |plain, _| {
                upgrade.response.extend_from_slice(plain);
                Ok::<_, io::Error>(())
            })
            .and_then(|has_ended| {
                watch(control, slot, transport, was_waiting)?;
                Ok(has_ended)
            });
        let has_ended = match received {
            Ok(has_ended) => has_ended,
            Err(error) => {
                self.on_failed(control, slot, error);
                return;
            }
        };
        match parse_response(&upgrade.response, &upgrade.key, subprotocol) {
            Ok(None) => {}
            Ok(Some(head)) => {
                let rest = upgrade.response.split_off(head);
                connection.phase = Phase::Subscribing;
                let opening = self.judge.codec().open();
                self.on_opening(control, slot, opening);
                if !rest.is_empty() {
                    let stamp = Stamp {
                        at_ns: clock::now_ns(),
                        stamped: false,
                    };
                    self.on_frames(control, slot, Bytes::Plain(&rest), stamp);
                }
            }
            Err(source) => {
                let addr = self.target.addr;
                self.lose(control, slot, ConnectError::Handshake { addr, source });
            }
        }
        if has_ended {
            self.on_end(control, slot);
        }
    }

    /// The dialect's next move for a client that is not ready yet.
    pub(super) fn on_opening<C: Control>(
        &mut self,
        control: &mut C,
        slot: Token,
        opening: dialect::Opening,
    ) {
        let Some(transport) = &self.clients.get(slot).transport else {
            return;
        };
        match opening {
            dialect::Opening::Await => {}
            dialect::Opening::Send(_) if transport.unsent() > 0 => {
                let words = "it asks again and does not read what it was answered".to_owned();
                let addr = self.target.addr;
                self.lose(control, slot, ConnectError::Turned { addr, words });
            }
            dialect::Opening::Send(message) => {
                let opcode = self.judge.codec().opcode();
                self.send_frame(control, slot, opcode, message.as_bytes());
            }
            dialect::Opening::Refused(words) => {
                let addr = self.target.addr;
                self.lose(control, slot, ConnectError::Turned { addr, words });
            }
            dialect::Opening::Ready => {
                self.clients.get(slot).phase = Phase::Ready;
                self.opening.under_way -= 1;
                self.judge.client_ready(slot);
                self.note_connected(1);
                self.note_opened(slot);
            }
        }
    }

    /// The kernel's word for a failure, with what the user can do about it.
    pub(super) fn explain(&self, error: io::Error, stage: Stage, slot: Token) -> ConnectError {
        let addr = self.target.addr;
        let error = match error.downcast::<rustls::Error>() {
            Ok(source) => {
                return ConnectError::Tls {
                    addr,
                    stage,
                    source,
                };
            }
            Err(error) => error,
        };
        match error.raw_os_error() {
            Some(libc::ECONNREFUSED) => self.after_others(ConnectError::Refused { addr }),
            Some(libc::EMFILE | libc::ENFILE) => ConnectError::Files {
                limit: FileLimit::current().soft,
            },
            Some(libc::EADDRNOTAVAIL) => self.explain_address(slot),
            Some(libc::ECONNRESET | libc::EPIPE) => ConnectError::Closed {
                addr,
                stage,
                reset: true,
                close: None,
            },
            _ => {
                let error = ConnectError::Io {
                    addr,
                    stage,
                    source: error,
                };
                match stage {
                    Stage::Connect => self.after_others(error),
                    _ => error,
                }
            }
        }
    }

    /// An address that does not open, where it is the last of several.
    fn after_others(&self, last: ConnectError) -> ConnectError {
        let passed_over = &self.target.passed_over;
        if passed_over.is_empty() {
            return last;
        }
        let others: Vec<String> = passed_over.iter().map(ToString::to_string).collect();
        ConnectError::Unreachable {
            last: Box::new(last),
            others: others.join(", "),
        }
    }

    /// "Cannot assign address" means two things: not ours, or no port left on it.
    fn explain_address(&self, slot: Token) -> ConnectError {
        let local = self.local_addr(slot);
        if let Some(local) = local
            && std::net::UdpSocket::bind((local, 0)).is_err()
        {
            return ConnectError::NotLocal { local };
        }
        let (first, last) = Environment::collect().local_ports.unwrap_or((1, u16::MAX));
        let sources = match self.plan.target.local_addrs.len() {
            0 | 1 => "the source address".to_owned(),
            several => format!("the {several} source addresses"),
        };
        ConnectError::Ports {
            sources,
            first,
            last,
        }
    }

    fn draw_nonce(&mut self) -> [u8; 16] {
        let halves = [self.draw(), self.draw()];
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&halves[0].to_ne_bytes());
        nonce[8..].copy_from_slice(&halves[1].to_ne_bytes());
        nonce
    }
}
