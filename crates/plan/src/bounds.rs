//! How small and how large what a plan says may be; each bound stands here once.

use super::Nanos;

/// Most clients of a step, of all sites together: 100 times the largest run that is known to have
/// been made, and few enough that senders are numbered with 32 bits and a schedule of their starts
/// is gone through in seconds.
pub const MOST_CLIENTS: u64 = 100_000_000;
/// Most clients that one step adds.
pub const MOST_CLIENTS_A_STEP: u32 = 10_000_000;
/// Most samples of a closed loop's step. The ledger takes 40 bytes for each.
pub const MOST_SAMPLES: u32 = 100_000_000;
/// Most requests in flight.
pub const MOST_IN_FLIGHT: u32 = 1_000_000;
/// Most worker threads of a process; each has a ring of buffers.
pub const MOST_THREADS: u32 = 1024;
/// Most handshakes under way at once.
pub const MOST_HANDSHAKES: u32 = 100_000;
/// Most bytes of padding in a payload: the 16 MiB that servers take in a message (docs/protocol.md)
/// less 1 KiB for the dialect around it.
pub const MOST_PADDING: u32 = (16 << 20) - (1 << 10);
/// Fewest and most bytes of payload in a fragment. Shorter ones would be more header than payload.
pub const FRAGMENTS: (u32, u32) = (16, MOST_PADDING);
/// Lowest and highest rate, per second.
pub const RATES: (f64, f64) = (0.001, 10_000_000.0);
/// Longest time that anything may take: a day.
pub const LONGEST_NS: u64 = 24 * 3600 * 1_000_000_000;
/// How often a search may try each load when its ends are close.
pub const TRIES: (u32, u32) = (1, 99);
/// How near to each other the ends of a search may have to be, as a share.
pub const PRECISIONS: (f64, f64) = (0.001, 0.5);
/// Windows of compression that RFC 7692, 7.1.2, permits, as exponents of 2.
pub const WINDOWS: (u8, u8) = (8, 15);
/// Levels of zlib that compress.
pub const LEVELS: (u8, u8) = (1, 9);
/// Most deliveries of a watched step: messages times clients. The generator keeps four bytes for each.
pub const MOST_WATCHED: u64 = 50_000_000;
/// Most nodes of a server.
pub(super) const MOST_NODES: usize = 1000;
/// Most faults of a run.
pub(super) const MOST_FAULTS: usize = 1000;
pub(super) const MOST_PROXIES: usize = 16;
/// Most source addresses: a network of 16 bits, with some 28,000 ports each.
pub(super) const MOST_ADDRESSES: usize = 1 << 16;
/// Most populations of clients.
pub(super) const MOST_POPULATIONS: usize = 1000;
/// Largest weight of a population.
pub(super) const MOST_SHARE: u32 = 1_000_000;
/// Bytes per second of clients that read slowly; above them a client is as good as one that reads
/// all.
pub(super) const READING_RATES: (u32, u32) = (1, 1_000_000_000);
/// Bytes that a server may keep for a client: one, and a terabyte.
pub(super) const KEPT_BYTES: (u64, u64) = (1, 1 << 40);
/// Most rooms, and most clients of a room. Each worker keeps some 100 bytes for a room.
pub(super) const MOST_ROOMS: u32 = 1_000_000;
/// Exponents of Zipf's law. Beyond the highest, one room has all clients.
pub(super) const EXPONENTS: (f64, f64) = (0.0, 20.0);
/// Longest URL and header value. RFC 9110, 4.1, asks for 8,000 octets of every server.
pub(super) const LONGEST_TEXT: usize = 1 << 16;

/// Times that something may take.
pub(super) const TIMES: (Nanos, Nanos) = (Nanos(1), Nanos(LONGEST_NS));
/// Times that connections live, and mean times between attempts: below them a client does nothing but
/// connect.
pub(super) const STAYS: (Nanos, Nanos) = (Nanos::millis(1), Nanos(LONGEST_NS));
/// By how much a delay may be longer than the one before.
pub(super) const FACTORS: (f64, f64) = (1.0, 100.0);
/// Times that may also be none at all.
pub(super) const TIMES_OR_NONE: (Nanos, Nanos) = (Nanos(0), Nanos(LONGEST_NS));

/// Whether this is a percentile: above 0, at most 100.
pub fn is_percentile(value: f64) -> bool {
    value > 0.0 && value <= 100.0
}
