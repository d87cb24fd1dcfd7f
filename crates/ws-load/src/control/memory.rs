//! Memory of the server, where it is on this machine, of the generator itself and of the kernel,
//! before the first connection and after each step.

use host_facts::{Side, Sockets, Tree, kernel, listeners, process};
use record::{KernelMemory, KernelUse, Memory, MemoryUse};
use std::net::SocketAddr;

/// One side whose memory is measured.
struct Party {
    tree: Tree,
    /// A process that does not count, although a process of this side may have started it.
    not: Option<u32>,
    sockets: Sockets,
    before: Memory,
}

/// Why nothing is known of the server's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnknownServer {
    #[error("no process that may be looked into listens for {0} on this machine")]
    NoListener(SocketAddr),
    #[error("the server is a part of this process")]
    Own,
    #[error("no process of it can be read any more: it has ended, or no open file is left")]
    Unreadable,
}

/// Both ends of the connections.
pub(super) struct Watch {
    generator: Party,
    server: Result<Party, UnknownServer>,
    /// Resident bytes of the server at earlier numbers of connections.
    looks: Vec<(u64, u64)>,
    kernel: Option<KernelMemory>,
}

impl Watch {
    /// Looks for the server of `target` and reads everything for the first time.
    pub(super) fn begin(target: SocketAddr) -> Self {
        let own = std::process::id();
        let listening = listeners(target);
        let server = if listening.is_empty() {
            Err(UnknownServer::NoListener(target))
        } else if listening.contains(&own) {
            Err(UnknownServer::Own)
        } else {
            Ok(Party::new(
                &listening,
                Some(own),
                target.port(),
                Side::Local,
            ))
        };
        Self {
            generator: Party::new(&[own], None, target.port(), Side::Remote),
            server,
            kernel: kernel_now(),
            looks: Vec::new(),
        }
    }

    /// Reads the server's memory while connections are opened: whether it grows with them.
    pub(super) fn look(&mut self, connections: u64) {
        if let Ok(party) = &mut self.server {
            self.looks.push((connections, party.now().resident_bytes));
        }
    }

    /// What so many connections have taken of this machine's kernel.
    pub(super) fn kernel(&self, connections: u64) -> Option<KernelUse> {
        Some(KernelUse::new(self.kernel?, kernel_now()?, connections))
    }

    /// What so many connections have taken of the generator's memory; `None` where it cannot be read.
    pub(super) fn generator(&mut self, connections: u64) -> Option<MemoryUse> {
        self.generator.used(connections)
    }

    /// What they have taken of the server's, or why it is not known. A figure that does not tell
    /// what connections take is left out, with the reason.
    pub(super) fn server(
        &mut self,
        connections: u64,
    ) -> Result<(MemoryUse, Option<String>), UnknownServer> {
        let party = self.server.as_mut().map_err(|reason| *reason)?;
        let used = party.used(connections);
        let mut used = used.ok_or(UnknownServer::Unreadable)?;
        let half_way = self
            .looks
            .iter()
            .min_by_key(|(seen, _)| (2 * seen).abs_diff(connections));
        let doubt = used.doubt(half_way.copied());
        if doubt.is_some() {
            used.process_bytes_per_connection = None;
        }
        self.looks.push((connections, used.after.resident_bytes));
        Ok((used, doubt))
    }
}

fn kernel_now() -> Option<KernelMemory> {
    Some(KernelMemory {
        slab_bytes: kernel::slab_bytes()?,
        tcp_buffers_bytes: kernel::tcp_buffers_bytes()?,
    })
}

impl Party {
    fn new(pids: &[u32], not: Option<u32>, port: u16, side: Side) -> Self {
        let mut party = Self {
            tree: Tree::new(pids),
            not,
            sockets: Sockets::new(port, side),
            before: Memory::default(),
        };
        party.before = party.now();
        party
    }

    /// `None` where nothing can be read any more.
    fn used(&mut self, connections: u64) -> Option<MemoryUse> {
        let after = self.now();
        (after.processes > 0).then(|| MemoryUse::new(self.before, after, connections))
    }

    fn now(&mut self) -> Memory {
        let living: Vec<i32> = self
            .tree
            .search()
            .iter()
            .filter(|kin| !kin.zombie)
            .map(|kin| kin.identity.pid)
            .filter(|pid| self.not.is_none_or(|not| *pid as u32 != not))
            .collect();
        let sum = |of: fn(i32) -> Option<u64>| {
            let known: Vec<u64> = living.iter().filter_map(|pid| of(*pid)).collect();
            (!known.is_empty()).then(|| known.iter().sum())
        };
        Memory {
            resident_bytes: sum(process::resident).unwrap_or(0),
            proportional_bytes: sum(process::proportional),
            sockets_bytes: self.sockets.bytes(),
            processes: living.len() as u32,
        }
    }
}
