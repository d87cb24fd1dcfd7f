//! How a run against a faulty peer is to end: exit code, and the line that says what happened.

/// The end of a run, for each workload.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// Of `echo`.
    pub echo: End,
    /// Of `broadcast`.
    pub broadcast: End,
    /// Of `connect`.
    pub connect: End,
}

/// The end of a run.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// The expected exit codes; several where a race between the peer's bytes and the start of the
    /// step decides.
    pub codes: &'static [i32],
    /// A regular expression that one line of stderr matches.
    pub says: &'static str,
}

/// A run in which nothing was wrong.
const SERVED: &str =
    "carried within the limit: 3 clients; ended: the one planned step was measured";

impl End {
    /// Nothing was wrong.
    pub(super) const SERVED: Self = Self::new(&[0], SERVED);

    pub(super) const fn new(codes: &'static [i32], says: &'static str) -> Self {
        Self { codes, says }
    }

    /// No connection could be used.
    pub(super) const fn unopened(says: &'static str) -> Self {
        Self::new(&[1], says)
    }

    /// The server is at fault.
    pub(super) const fn invalid(says: &'static str) -> Self {
        Self::new(&[3], says)
    }

    /// For a peer that may act before or after the step has begun.
    pub(super) const fn early(says: &'static str) -> Self {
        Self::new(&[1, 3], says)
    }

    /// True when no connection can be used, and only the time-out says so.
    pub fn is_given_up(&self) -> bool {
        self.codes == [1] && self.says.contains("silent")
    }

    /// True when a run of this workload is not affected.
    pub fn is_served(&self) -> bool {
        self.codes == [0]
    }
}

impl Ends {
    /// The peer is within the rules.
    pub(super) const SERVED: Self = Self::all(End::SERVED);

    pub(super) const fn all(end: End) -> Self {
        Self {
            echo: end,
            broadcast: end,
            connect: end,
        }
    }

    /// No connection can be opened.
    pub(super) const fn unopened(says: &'static str) -> Self {
        Self::all(End::unopened(says))
    }

    /// Open connections come to grief.
    pub(super) const fn invalid(says: &'static str) -> Self {
        Self::all(End::invalid(says))
    }

    /// The same, maybe before the step begins.
    pub(super) const fn early(says: &'static str) -> Self {
        Self::all(End::early(says))
    }

    /// Another end for `connect`.
    pub(super) const fn connect(mut self, end: End) -> Self {
        self.connect = end;
        self
    }
}
