//! Faulty peers: servers that break the handshake, frames, TLS or the protocol, that flood, stall
//! or reset, and the end that a run of `websocket-bench` against each must come to.
//!
//! One table, [`behaviours`], split by family over the files of this folder. A row has the name of
//! a behaviour, what it does, how a run against it ends, and the function that runs on each
//! connection. Peers that make a known number of faults in single deliveries are in
//! [`crate::fault`].

mod conversation;
mod ends;
mod floods;
mod framing;
mod handshake;
mod lies;
mod resets;
mod streams;
mod tls;

pub use ends::{End, Ends};

use crate::listen::listen;
use crate::threaded::{Hub, PlainWire, Wire};
use crate::tls::TlsWire;
use conversation::Conversation;
use rustls::ServerConfig;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;

/// Enough for a read buffer on the heap and JSON of ordinary depth.
const STACK: usize = 256 * 1024;

/// What the peer does on one connection. An error ends the connection, as a return does.
type Play = fn(&mut Conversation) -> io::Result<()>;

/// One faulty behaviour, or an unusual one that the rules allow.
#[derive(Clone, Copy)]
pub struct Behaviour {
    /// Unique, in words and hyphens.
    pub name: &'static str,
    /// What the peer does, in one line.
    pub does: &'static str,
    /// Arguments of the client beside the usual ones.
    pub arguments: &'static str,
    /// Present when the peer listens for `wss://`, with the certificate that it shows.
    pub certificate: Option<Certificate>,
    /// Sends at full speed, so that only a few can run at the same time.
    pub busy: bool,
    /// How a run against it ends.
    pub ends: Ends,
    play: Play,
}

/// Behaviours that concern the same layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The answer to the upgrade.
    Handshake,
    /// Single frames.
    Framing,
    /// How frames follow one another and messages are made of them.
    Streams,
    /// Far more bytes than were asked for, or none taken.
    Floods,
    /// Below the WebSocket.
    Tls,
    /// Well-formed and untrue.
    Lies,
    /// How connections end.
    Resets,
}

/// A certificate for a peer on 127.0.0.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// Of an authority that the client trusts, as those below.
    Good,
    /// For another name, with escape bytes in it.
    WrongName,
    /// Its time is over.
    Expired,
    /// Of itself alone.
    SelfSigned,
}

impl Behaviour {
    const fn new(name: &'static str, does: &'static str, ends: Ends, play: Play) -> Self {
        Self {
            name,
            does,
            arguments: "",
            certificate: None,
            busy: false,
            ends,
            play,
        }
    }

    const fn with(mut self, arguments: &'static str) -> Self {
        self.arguments = arguments;
        self
    }

    const fn busy(mut self) -> Self {
        self.busy = true;
        self
    }

    const fn over_tls(mut self, certificate: Certificate) -> Self {
        self.certificate = Some(certificate);
        self
    }
}

impl fmt::Debug for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Behaviour").field(&self.name).finish()
    }
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Handshake,
        Self::Framing,
        Self::Streams,
        Self::Floods,
        Self::Tls,
        Self::Lies,
        Self::Resets,
    ];
}

/// The table: the behaviours of a family.
pub const fn behaviours(family: Family) -> &'static [Behaviour] {
    match family {
        Family::Handshake => handshake::BEHAVIOURS,
        Family::Framing => framing::BEHAVIOURS,
        Family::Streams => streams::BEHAVIOURS,
        Family::Floods => floods::BEHAVIOURS,
        Family::Tls => tls::BEHAVIOURS,
        Family::Lies => lies::BEHAVIOURS,
        Family::Resets => resets::BEHAVIOURS,
    }
}

/// A running faulty peer; dropping it ends it and all its connections.
pub struct FaultyPeer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the connections of a peer share.
struct Shared {
    behaviour: Behaviour,
    tls: Option<Arc<ServerConfig>>,
    hub: Arc<Hub>,
    stopping: AtomicBool,
    streams: Mutex<Vec<Weak<TcpStream>>>,
}

impl FaultyPeer {
    /// Starts one on a free port of 127.0.0.1. With `tls` it listens for `wss://`.
    ///
    /// # Errors
    /// When no port can be bound.
    pub fn start(behaviour: Behaviour, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        let listener = listen((Ipv4Addr::LOCALHOST, 0).into())?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared {
            behaviour,
            tls,
            hub: Arc::default(),
            stopping: AtomicBool::new(false),
            streams: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("accept".into())
            .spawn(move || accepting.accept_all(&listener))?;
        Ok(Self {
            addr,
            shared,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }
}

impl Drop for FaultyPeer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the accept call, which has no other way out.
        let _ = TcpStream::connect(self.addr);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let streams = self.shared.streams.lock();
        for stream in streams.unwrap_or_else(PoisonError::into_inner).iter() {
            if let Some(stream) = stream.upgrade() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }
}

impl fmt::Debug for FaultyPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FaultyPeer").field(&self.addr).finish()
    }
}

impl Shared {
    fn accept_all(self: &Arc<Self>, listener: &TcpListener) {
        for id in 0.. {
            let accepted = listener.accept();
            if self.stopping.load(Ordering::SeqCst) {
                return;
            }
            let Ok((stream, _)) = accepted else {
                std::thread::sleep(std::time::Duration::from_millis(1));
                continue;
            };
            let shared = Arc::clone(self);
            // A connection without a thread is closed, which the client reports.
            let _ = std::thread::Builder::new()
                .stack_size(STACK)
                .spawn(move || shared.serve(id, stream));
        }
    }

    fn serve(self: Arc<Self>, id: u64, stream: TcpStream) {
        // Most connections end with an error here: the client has gone.
        let _ = self.try_serve(id, stream);
    }

    fn try_serve(self: &Arc<Self>, id: u64, stream: TcpStream) -> io::Result<()> {
        let tls = match &self.tls {
            None => None,
            Some(config) => Some(Arc::new(TlsWire::new(
                stream.try_clone()?,
                Arc::clone(config),
            )?)),
        };
        let wire: Arc<dyn Wire> = match &tls {
            None => Arc::new(PlainWire::new(stream.try_clone()?)?),
            Some(tls) => Arc::clone(tls) as Arc<dyn Wire>,
        };
        // No time limit: some behaviours wait for a client that takes no bytes.
        stream.set_write_timeout(None)?;
        let stream = Arc::new(stream);
        let streams = self.streams.lock();
        let mut streams = streams.unwrap_or_else(PoisonError::into_inner);
        streams.push(Arc::downgrade(&stream));
        drop(streams);
        let mut conversation = Conversation::new(id, Arc::clone(self), stream, wire, tls);
        (self.behaviour.play)(&mut conversation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn there_are_seventy_behaviours_at_least_and_their_names_are_unique() {
        let all: Vec<_> = Family::ALL.into_iter().flat_map(behaviours).collect();
        assert!(all.len() >= 70, "{}", all.len());
        let names: HashSet<_> = all.iter().map(|behaviour| behaviour.name).collect();
        assert_eq!(names.len(), all.len());
    }
}
