//! What is measured of whom, and how much of it.

use crate::tools::{self, CLIENTS, Load, Workload};

/// Tools that do the same work in the same way.
pub(crate) struct Group {
    pub(crate) title: &'static str,
    /// What is counted.
    pub(crate) unit: &'static str,
    pub(crate) entries: Vec<Entry>,
}

/// One tool in a group.
pub(crate) struct Entry {
    pub(crate) tool: &'static str,
    pub(crate) load: Load,
    /// Samples of the two runs, of which the first is little.
    pub(crate) samples: [u64; 2],
    /// Messages that each sample counts for.
    pub(crate) messages: u64,
}

fn broadcast(tool: &'static str, dialect: &'static str, concurrent: u64, much: u64) -> Entry {
    Entry {
        tool,
        load: Load {
            workload: Workload::Broadcast,
            dialect,
            concurrent,
        },
        samples: [much / 10, much],
        messages: CLIENTS,
    }
}

fn echo(tool: &'static str, samples: [u64; 2], messages: u64) -> Entry {
    Entry {
        tool,
        load: Load {
            workload: Workload::Echo,
            dialect: "json",
            concurrent: 50,
        },
        samples,
        messages,
    }
}

/// The amounts make the larger run of each tool take some seconds.
pub(crate) fn groups() -> Vec<Group> {
    vec![
        Group {
            title: "broadcast, JSON, 4 in flight",
            unit: "delivery",
            entries: vec![
                broadcast(tools::BARE, "json", 4, 1000),
                broadcast(tools::OURS, "json", 4, 1000),
                broadcast(tools::ANCESTOR, "json", 4, 200),
                broadcast(tools::K6, "json", 4, 80),
            ],
        },
        Group {
            title: "broadcast, binary, 4 in flight",
            unit: "delivery",
            entries: vec![
                broadcast(tools::BARE, "binary", 4, 1000),
                broadcast(tools::OURS, "binary", 4, 1000),
                broadcast(tools::CPP_BENCH, "binary", 4, 1000),
                broadcast(tools::ANCESTOR, "binary", 4, 400),
            ],
        },
        Group {
            title: "broadcast, JSON, one at a time (to Artillery and tsung this program sends, 10 a second)",
            unit: "delivery",
            entries: vec![
                broadcast(tools::BARE, "json", 1, 500),
                broadcast(tools::OURS, "json", 1, 500),
                broadcast(tools::ARTILLERY, "json", 1, 150),
                broadcast(tools::TSUNG, "json", 1, 150),
            ],
        },
        Group {
            title: "echo, JSON, 50 in flight (Artillery and tsung: one for each client)",
            unit: "echo",
            entries: vec![
                echo(tools::BARE, [10_000, 100_000], 1),
                echo(tools::OURS, [10_000, 100_000], 1),
                echo(tools::ANCESTOR, [5_000, 50_000], 1),
                echo(tools::K6, [2_000, 22_000], 1),
                echo(tools::ARTILLERY, [1, 21], CLIENTS),
                echo(tools::TSUNG, [1, 41], CLIENTS),
            ],
        },
    ]
}
