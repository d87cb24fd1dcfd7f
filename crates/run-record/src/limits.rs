//! What a plan may say at all.
//!
//! One rule for the command line and for a worker that takes plans from a network: what is outside
//! of it cannot be measured, or would cost a shared worker its memory, its processor or its life.
//! Pure: whether this machine has the memory, the files and the ports is found out elsewhere.

use crate::{Connecting, OpenLoop, Plan, Search, Workload};

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
/// Lowest and highest rate, per second.
pub const RATES: (f64, f64) = (0.001, 10_000_000.0);
/// Longest time that anything may take: a day.
pub const LONGEST_NS: u64 = 24 * 3600 * 1_000_000_000;
/// Most source addresses: a network of 16 bits, with some 28,000 ports each.
const MOST_ADDRESSES: usize = 1 << 16;
/// Longest URL and header value. RFC 9110, 4.1, asks for 8,000 octets of every server.
const LONGEST_TEXT: usize = 1 << 16;
/// Share of a peer's text that is shown.
const SHOWN: usize = 60;

/// A value that nothing can be measured with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A number, a time or a text that is too small, too large or not one at all.
    #[error("`{field}` is {value}; permitted: {permitted}")]
    OutOfRange {
        /// The plan's key, with its parents, like `connect.ping_interval_ns`.
        field: &'static str,
        /// What it was, escaped and cut.
        value: String,
        /// What it may be, in words.
        permitted: String,
    },
    /// Two keys that cannot be in one plan.
    #[error("`{field}` {reason}")]
    Contradiction {
        /// The plan's key.
        field: &'static str,
        /// Why it cannot stand beside another one.
        reason: &'static str,
    },
}

type Checked = Result<(), PlanError>;

/// Checks that a number is in a range.
///
/// # Errors
/// [`PlanError::OutOfRange`] when it is not; one that is not a number never is.
pub fn within<N: PartialOrd + std::fmt::Display>(
    field: &'static str,
    value: N,
    (least, most): (N, N),
) -> Checked {
    if value >= least && value <= most {
        return Ok(());
    }
    Err(PlanError::OutOfRange {
        field,
        value: value.to_string(),
        permitted: format!("{least} to {most}"),
    })
}

impl Plan {
    /// Checks that something can be measured with every value of the plan.
    ///
    /// # Errors
    /// [`PlanError`] for the first value with which nothing can be.
    pub fn validate(&self) -> Checked {
        self.validate_texts()?;
        self.validate_workload()?;
        within("threads", self.threads, (1, MOST_THREADS))?;
        within(
            "connect_concurrency",
            self.connect_concurrency,
            (1, MOST_HANDSHAKES),
        )?;
        let clients = (1, MOST_CLIENTS_A_STEP);
        within("initial_clients", self.initial_clients, clients)?;
        // 0: every step has as many clients.
        within("step_size", self.step_size, (0, MOST_CLIENTS_A_STEP))?;
        within("total_steps", self.total_steps.unwrap_or(1), (1, u32::MAX))?;
        within("payload_padding", self.payload_padding, (0, MOST_PADDING))?;
        within("local_addrs", self.local_addrs.len(), (0, MOST_ADDRESSES))?;
        percentile("limit.percentile", self.limit.percentile)?;
        within("limit.rtt_ns", self.limit.rtt_ns, (1, LONGEST_NS))?;
        let times = [
            ("timeouts.connect_ns", self.timeouts.connect_ns),
            ("timeouts.sample_ns", self.timeouts.sample_ns),
        ];
        times
            .into_iter()
            .try_for_each(|(field, ns)| within(field, ns, (1, LONGEST_NS)))
    }

    fn validate_texts(&self) -> Checked {
        let texts = [("url", Some(&self.url)), ("origin", self.origin.as_ref())];
        for (field, text) in texts {
            let Some(text) = text else { continue };
            within(field, text.len(), (1, LONGEST_TEXT)).map_err(|_| unfit_text(field, text))?;
            // A line break would end the header that holds it and begin another.
            if text.chars().any(char::is_control) || field == "origin" && !text.is_ascii() {
                return Err(unfit_text(field, text));
            }
        }
        Ok(())
    }

    fn validate_workload(&self) -> Checked {
        match (self.workload, &self.connect) {
            (Workload::Connect, None) => {
                return Err(contradiction(
                    "connect",
                    "is missing in a plan that connects",
                ));
            }
            (Workload::Echo | Workload::Broadcast, Some(_)) => {
                return Err(contradiction(
                    "connect",
                    "is for the workload connect alone",
                ));
            }
            (Workload::Connect, Some(connect)) => {
                if self.open_loop.is_some() || self.search.is_some() {
                    return Err(contradiction(
                        "connect",
                        "cannot stand beside open_loop or search",
                    ));
                }
                return connect.validate();
            }
            _ => {}
        }
        match &self.open_loop {
            Some(load) => load.validate()?,
            None => {
                within("concurrent", self.concurrent, (1, MOST_IN_FLIGHT))?;
                within("sample_size", self.sample_size, (1, MOST_SAMPLES))?;
            }
        }
        self.search.as_ref().map_or(Ok(()), Search::validate)
    }
}

impl OpenLoop {
    /// Checks that requests can be sent so.
    ///
    /// # Errors
    /// As [`Plan::validate`].
    pub fn validate(&self) -> Checked {
        within("open_loop.rate", self.rate, RATES)?;
        if let Some(ramp) = &self.ramp {
            within("open_loop.ramp.to", ramp.to, RATES)?;
            within("open_loop.ramp.over_ns", ramp.over_ns, (1, LONGEST_NS))?;
        }
        within("open_loop.duration_ns", self.duration_ns, (1, LONGEST_NS))?;
        within("open_loop.warm_up_ns", self.warm_up_ns, (0, LONGEST_NS))
    }
}

impl Connecting {
    fn validate(&self) -> Checked {
        if let Some(rate) = self.rate {
            within("connect.rate", rate, RATES)?;
        }
        within("connect.hold_ns", self.hold_ns, (0, LONGEST_NS))?;
        let interval_ns = self.ping_interval_ns;
        within("connect.ping_interval_ns", interval_ns, (1, LONGEST_NS))?;
        // One ping at most is on its way.
        within(
            "connect.ping_timeout_ns",
            self.ping_timeout_ns,
            (1, interval_ns),
        )
    }
}

impl Search {
    fn validate(&self) -> Checked {
        within("search.tries", self.tries, (1, 99))?;
        within("search.precision", self.precision, (0.001, 0.5))
    }
}

fn percentile(field: &'static str, value: f64) -> Checked {
    if value > 0.0 && value <= 100.0 {
        return Ok(());
    }
    Err(PlanError::OutOfRange {
        field,
        value: value.to_string(),
        permitted: "above 0, at most 100".to_owned(),
    })
}

const fn contradiction(field: &'static str, reason: &'static str) -> PlanError {
    PlanError::Contradiction { field, reason }
}

fn unfit_text(field: &'static str, text: &str) -> PlanError {
    let shown: String = text.chars().take(SHOWN).collect();
    PlanError::OutOfRange {
        field,
        value: format!("\"{}\", {} bytes", shown.escape_default(), text.len()),
        permitted: format!("1 to {LONGEST_TEXT} bytes on one line, without control characters"),
    }
}
