//! What each site of a run over several processes used, and how well their clocks are known.

use super::Told;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one site of a distributed run did in a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SiteUse {
    /// Name of the site: its address, or which process of this machine it is.
    pub name: Told,
    /// Its share of the clients.
    pub clients: u64,
    /// Messages that it received and verified.
    pub messages: u64,
    /// CPU time of its whole process in nanoseconds.
    pub cpu_ns: u64,
    /// CPU time of its busiest worker thread, as a share of the step's length.
    pub busiest_thread: f64,
    /// Longest time in nanoseconds that one of its worker loops spent on one round of events.
    pub largest_lag_ns: u64,
    /// Resident memory of its process at the end of the step, in bytes.
    pub resident_bytes: u64,
    /// Open loop: planned timed requests whose senders are its clients. Absent in a closed loop.
    pub samples_planned: Option<u64>,
    /// Open loop: those of them that went out within the planned time. Absent in a closed loop, and
    /// when the step was given up before that time was over.
    pub sent: Option<u64>,
    /// Open loop: 99th percentile of the time from when a request was due to when it was written,
    /// in nanoseconds. It is large where the machine lets the worker wait. Absent in a closed loop.
    #[serde(default)]
    pub send_lag_p99_ns: Option<u64>,
    /// Its monotonic clock minus the coordinator's, in nanoseconds. The times of the step were
    /// converted with it.
    pub clock_offset_ns: i64,
    /// How far off that may be in either direction, in nanoseconds. 0 for a site under the
    /// coordinator's kernel.
    pub clock_bound_ns: u64,
}

impl SiteUse {
    /// How far off, at most, the difference of two stamps may be that were made at different sites:
    /// both sites' clocks are known by way of the coordinator's, so that their bounds add up.
    pub fn clocks_bound_ns(sites: &[Self]) -> u64 {
        if sites.len() < 2 {
            return 0;
        }
        let mut bounds: Vec<u64> = sites.iter().map(|site| site.clock_bound_ns).collect();
        bounds.sort_unstable_by(|a, b| b.cmp(a));
        bounds[..2].iter().sum()
    }
}
