//! What the server did, and when.

use record::Recorder;

/// What really happened, from a server's point of view.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// From the arrival of each request to the write of its answer; for a broadcast, to the write
    /// for the last listener. Nanoseconds.
    pub service: Recorder,
    /// Each request that was answered, in the order of the answers. Grows by 32 bytes a request.
    pub answers: Vec<Answer>,
    /// Each message that was written, in the order of the writes. Grows by 56 bytes a message.
    pub writes: Vec<Write>,
    /// The bytes of each answer to a heartbeat, which is no write.
    pub heartbeats: Vec<u64>,
    /// Reads without a stamp of the kernel: the time of the read stands for the arrival.
    pub unstamped: u64,
    /// Requests that came in one read with a later one, whose stamp stands for their arrival.
    pub shared_reads: u64,
    /// How long the freeze lasted, once it is over.
    pub frozen_ns: Option<u64>,
}

/// One request, in nanoseconds of the realtime clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Answer {
    /// When the request arrived.
    pub arrival_ns: u64,
    /// When its answer, or the last of its copies, was written.
    pub written_ns: u64,
    /// The stamp in its payload, where it has one: which request of the generator's it was.
    pub stamp: Option<u64>,
    /// It came in one read with a later one, whose stamp stands for its arrival.
    pub shared: bool,
}

/// One message that was written, in nanoseconds of the realtime clock. On loopback it arrived
/// between the two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Write {
    /// The stamp of the request that it answers.
    pub stamp: Option<u64>,
    /// The number of the connection, in the order of the accepts.
    pub connection: u64,
    /// The result for the sender, and not an answer or a copy.
    pub result: bool,
    /// Bytes of its frame.
    pub bytes: u64,
    /// The clock before the write.
    pub before_ns: u64,
    /// The clock after it was sent. A write is not sent at once when the socket is full or the
    /// other side has not acknowledged what came before; then it is the clock after the next write
    /// that found everything sent, or `u64::MAX`.
    pub after_ns: u64,
}

impl Truth {
    /// The requests in the order of their arrivals.
    pub fn by_arrival(&self) -> Vec<Answer> {
        let mut answers = self.answers.clone();
        answers.sort_unstable();
        answers
    }
}
