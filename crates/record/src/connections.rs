//! What a step of a `connect` run has besides the figures of every step.

use super::{DropHow, Latency, Memory, Told};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connections that were opened and held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// Connections that this step was to add.
    pub planned: u64,
    /// Connections that were upgraded in time, of the planned ones.
    pub opened: u64,
    /// Why the first that failed was not upgraded, in words. Absent when none failed.
    pub first_failure: Option<Told>,
    /// Upgrades per second, from the first intended start to the last accepted upgrade.
    pub opened_per_second: f64,
    /// The TCP part of `completion`: from the intended start to the established connection.
    pub tcp: Option<Latency>,
    /// Time in nanoseconds that all were held after the last was open.
    pub held_ns: u64,
    /// The pings of this step, from the first connection's on.
    pub pings: Pings,
    /// Connections that ended in this step, whether this step or an earlier one opened them.
    pub drops: Drops,
    /// Messages that came although nothing asked for them, of a plan that names no dialect. Where it
    /// names one, what comes is verified by that.
    #[serde(default)]
    pub unasked_messages: u64,
    /// Memory of the server. Absent where it is not on this machine, or may not be read.
    pub server: Option<MemoryUse>,
    /// Why the memory of the server, or its figure per connection, is absent, in words.
    pub server_unknown: Option<Told>,
    /// Memory of the generator itself.
    pub generator: Option<MemoryUse>,
    /// Memory of this machine's kernel. It is that of both ends where the server is on this
    /// machine. Absent where other machines have the connections, and in earlier records.
    #[serde(default)]
    pub kernel: Option<KernelUse>,
}

/// What the kernel of a machine has taken, for any purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelMemory {
    /// Slab memory in bytes: sockets, files, tables.
    pub slab_bytes: u64,
    /// Buffers of all TCP sockets, in bytes.
    pub tcp_buffers_bytes: u64,
}

/// The kernel's memory before the first connection and at the end of a step. It contains whatever
/// else the machine did in between.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelUse {
    /// Before the first connection.
    pub before: KernelMemory,
    /// At the end of the step, all connections still open.
    pub after: KernelMemory,
    /// Growth of slab and buffers per connection, in bytes. Absent without a connection.
    pub bytes_per_connection: Option<f64>,
}

impl KernelUse {
    /// The growth from one reading to another, with so many connections in between.
    pub fn new(before: KernelMemory, after: KernelMemory, connections: u64) -> Self {
        let sum = |of: KernelMemory| of.slab_bytes as f64 + of.tcp_buffers_bytes as f64;
        let growth = sum(after) - sum(before);
        Self {
            before,
            after,
            bytes_per_connection: (connections > 0).then(|| growth / connections as f64),
        }
    }
}

/// Pings and what became of them. `sent` is `answered`, `unanswered` and `cut_off` together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pings {
    /// Pings sent.
    pub sent: u64,
    /// Answered in time by a pong with the same payload.
    pub answered: u64,
    /// Not answered in time.
    pub unanswered: u64,
    /// On their way when their connection ended.
    pub cut_off: u64,
    /// Pongs that answer no ping under way: RFC 6455, 5.5.3, allows them.
    pub unasked_pongs: u64,
    /// From the intended moment of a ping to the arrival of its pong.
    pub round_trip: Option<Latency>,
    /// From the intended moment of a ping to its write.
    pub send_lag: Option<Latency>,
}

/// Connections that ended and that the generator did not close, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drops {
    /// The server closed it: a close frame or the end of the stream.
    pub closed: u64,
    /// It was reset, or the network broke it.
    pub reset: u64,
    /// A ping was not answered in time.
    pub unanswered: u64,
    /// The server broke RFC 6455.
    pub broken: u64,
}

impl Drops {
    /// All together.
    pub const fn total(&self) -> u64 {
        self.closed + self.reset + self.unanswered + self.broken
    }

    /// Counts one.
    pub const fn note(&mut self, how: DropHow) {
        *match how {
            DropHow::Closed | DropHow::Other => &mut self.closed,
            DropHow::Reset => &mut self.reset,
            DropHow::Unanswered => &mut self.unanswered,
            DropHow::Broken => &mut self.broken,
        } += 1;
    }

    /// Adds the counts of another part of the same step.
    pub const fn merge(&mut self, other: &Self) {
        self.closed += other.closed;
        self.reset += other.reset;
        self.unanswered += other.unanswered;
        self.broken += other.broken;
    }
}

impl std::fmt::Display for Drops {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named: Vec<String> = [
            (self.closed, "closed"),
            (self.reset, "reset"),
            (self.unanswered, "ping unanswered"),
            (self.broken, "protocol broken"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
        if named.is_empty() {
            return f.write_str("none");
        }
        f.write_str(&named.join(", "))
    }
}

/// Memory before the first connection and at the end of a step, and what a connection takes of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUse {
    /// Before the first connection.
    pub before: Memory,
    /// At the end of the step, all connections still open.
    pub after: Memory,
    /// Connections open then.
    pub connections: u64,
    /// Growth of the resident size per connection, in bytes: user space alone. Absent without a
    /// connection, and where the growth does not tell what connections take.
    pub process_bytes_per_connection: Option<f64>,
    /// Growth of the kernel's socket memory per connection, in bytes. It counts all sockets of this
    /// machine on that side of the target's port: what is queued, and what is set aside for the
    /// queues. The fixed size of a socket, 2 to 3 KiB of slab memory, is not in it.
    pub socket_bytes_per_connection: Option<f64>,
}

impl MemoryUse {
    /// The growth from one reading to another, with so many connections in between.
    pub fn new(before: Memory, after: Memory, connections: u64) -> Self {
        let each = |before: u64, after: u64| {
            (connections > 0).then(|| (after as f64 - before as f64) / connections as f64)
        };
        Self {
            before,
            after,
            connections,
            process_bytes_per_connection: each(before.resident_bytes, after.resident_bytes),
            socket_bytes_per_connection: before
                .sockets_bytes
                .zip(after.sockets_bytes)
                .and_then(|(before, after)| each(before, after)),
        }
    }

    /// Why the growth does not tell what connections take, in words; `None` where it does.
    ///
    /// `half_way` is an earlier reading: so many connections, so many resident bytes. A process
    /// that has held connections before may serve new ones from memory that it never gave back:
    /// then it grows little, or only when that memory is used up.
    pub fn doubt(&self, half_way: Option<(u64, u64)>) -> Option<String> {
        if self.connections == 0 {
            return Some("no connection was open".to_owned());
        }
        let before = self.before.resident_bytes;
        let growth = self.after.resident_bytes.saturating_sub(before);
        let kib = |bytes: u64| format!("{:.0} KiB", bytes as f64 / 1024.0);
        if growth < SMALL_GROWTH_BYTES.max(before / 8) {
            return Some(format!(
                "it grew by {}, too little beside the {} from before: connections may be in memory \
                 that was freed earlier; start it anew, or open more connections",
                kib(growth),
                kib(before)
            ));
        }
        let (connections, resident) = half_way?;
        let grown = resident.saturating_sub(before);
        let due = growth as f64 * connections as f64 / self.connections as f64;
        let is_half =
            connections * 4 >= self.connections && connections * 4 <= self.connections * 3;
        (is_half && (grown as f64) < due / 3.0).then(|| {
            format!(
                "it grew by {} over the first {connections} connections and by {} over all {}: the \
                 first may be in memory that was freed earlier; start it anew",
                kib(grown),
                kib(growth),
                self.connections
            )
        })
    }
}

/// What a process may grow by without a connection: an arena of its allocator, the stack of a
/// thread.
const SMALL_GROWTH_BYTES: u64 = 512 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_named_in_words_and_added_up() {
        let mut drops = Drops {
            closed: 3,
            unanswered: 1,
            ..Drops::default()
        };
        assert_eq!(drops.to_string(), "3 closed, 1 ping unanswered");
        drops.merge(&Drops {
            closed: 1,
            reset: 2,
            unanswered: 3,
            broken: 4,
        });
        assert_eq!(drops.total(), 14);
        assert_eq!(Drops::default().to_string(), "none");
    }

    #[test]
    fn memory_per_connection_is_growth_and_may_be_negative() {
        let memory = |resident_bytes, sockets_bytes| Memory {
            resident_bytes,
            sockets_bytes,
            ..Memory::default()
        };
        let grown = MemoryUse::new(memory(1000, Some(10)), memory(2000, Some(20)), 10);
        assert_eq!(grown.process_bytes_per_connection, Some(100.0));
        assert_eq!(grown.socket_bytes_per_connection, Some(1.0));
        let shrunk = MemoryUse::new(memory(2000, None), memory(1000, Some(1)), 10);
        assert_eq!(shrunk.process_bytes_per_connection, Some(-100.0));
        assert_eq!(shrunk.socket_bytes_per_connection, None);
        let none = MemoryUse::new(memory(1000, Some(10)), memory(230_376, Some(20)), 0);
        assert_eq!(none.process_bytes_per_connection, None);
        assert_eq!(none.socket_bytes_per_connection, None);
    }

    #[test]
    fn growth_that_memory_freed_earlier_explains_is_doubted() {
        const KIB: u64 = 1024;
        let memory = |kib| Memory {
            resident_bytes: kib * KIB,
            ..Memory::default()
        };
        let doubt = |before, after, connections, half_way: Option<(u64, u64)>| {
            MemoryUse::new(memory(before), memory(after), connections)
                .doubt(half_way.map(|(connections, kib)| (connections, kib * KIB)))
                .unwrap_or_default()
        };
        // A new server, looked at half-way or not.
        assert_eq!(doubt(4000, 6300, 10_000, None), "");
        assert_eq!(doubt(4000, 6300, 10_000, Some((5000, 5100))), "");
        assert_eq!(doubt(4000, 6300, 10_000, Some((5000, 6300))), "");
        // One that was closed by as many connections just before, or by somewhat fewer.
        assert!(doubt(6300, 6580, 10_000, None).contains("it grew by 280 KiB"));
        assert!(doubt(6300, 6300, 10_000, None).contains("start it anew"));
        let used_up = doubt(6300, 8300, 20_000, Some((10_000, 6500)));
        assert!(
            used_up.contains("200 KiB over the first 10000"),
            "{used_up}"
        );
        // An early look tells nothing.
        assert_eq!(doubt(4000, 6300, 10_000, Some((100, 4000))), "");
        assert!(doubt(4000, 4300, 100, None).contains("open more connections"));
        assert!(doubt(80_000, 82_000, 1000, None).contains("too little beside the 80000 KiB"));
        assert_eq!(doubt(4000, 4224, 0, None), "no connection was open");
    }

    #[test]
    fn the_kernels_growth_is_that_of_slab_and_buffers() {
        let memory = |slab_bytes, tcp_buffers_bytes| KernelMemory {
            slab_bytes,
            tcp_buffers_bytes,
        };
        let used = KernelUse::new(memory(1000, 500), memory(3000, 400), 10);
        assert_eq!(used.bytes_per_connection, Some(190.0));
    }
}
