//! What a server used over the time of a measurement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rows at most: a longer measurement has longer intervals.
pub const MOST_SERVER_ROWS: usize = 600;
/// The shortest interval, in nanoseconds.
pub const SHORTEST_SERVER_INTERVAL_NS: u64 = 250_000_000;

/// What a server used over time, in intervals of equal length. The first begins when the server was
/// ready and had no clients, the last ends with the generator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerSeries {
    /// Length of an interval in nanoseconds: 250 ms, doubled until there are no more than 600 rows.
    pub interval_ns: u64,
    /// The intervals in order.
    pub rows: Vec<ServerRow>,
}

/// One interval. Memory is the largest sample within it, and that of the sample before where none
/// was taken: readings that cost much are made less often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerRow {
    /// CPU time of the process tree in this interval, in nanoseconds, as far as samples show it.
    pub cpu_ns: u64,
    /// Resident size of the process tree in bytes. Shared pages count in each process.
    pub resident_bytes: u64,
    /// Proportional size in bytes. Shared pages count once. Absent where the kernel does not tell.
    pub proportional_bytes: Option<u64>,
    /// Kernel memory of the server's TCP sockets, in bytes. Absent where the kernel does not tell.
    pub sockets_bytes: Option<u64>,
}

impl ServerSeries {
    /// The interval for a measurement of this length.
    pub fn interval_of(length_ns: u64) -> u64 {
        let mut interval = SHORTEST_SERVER_INTERVAL_NS;
        while length_ns.div_ceil(interval) > MOST_SERVER_ROWS as u64 {
            interval = interval.saturating_mul(2);
        }
        interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_as_long_as_the_number_of_rows_asks_for() {
        let minutes = |minutes: u64| ServerSeries::interval_of(minutes * 60_000_000_000);
        assert_eq!(minutes(0), 250_000_000);
        assert_eq!(ServerSeries::interval_of(150_000_000_000), 250_000_000);
        assert_eq!(ServerSeries::interval_of(150_000_000_001), 500_000_000);
        assert_eq!(minutes(60), 8_000_000_000);
        assert!(ServerSeries::interval_of(u64::MAX) > 0);
    }
}
