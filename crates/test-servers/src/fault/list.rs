//! The list of faults; `delivery` makes them.

use clap::ValueEnum;

/// One way to misbehave. "Count" is the number given to [`super::FaultServer::start`]; faults that
/// do not mention it ignore it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Fault {
    /// Reads the upgrade request and never answers it.
    NeverAnswers,
    /// Answers the upgrade with 200.
    Status200,
    /// Answers the upgrade with 404.
    Status404,
    /// Answers 101 with the accept key of another request.
    WrongAccept,
    /// Ends each connection right after the accept.
    ClosesAtOnce,
    /// Opens each connection and ends it at once, without a close frame.
    UpgradesThenCloses,
    /// Answers count requests, over all connections, and none after that; connections stay open.
    Freezes,
    /// In the broadcast of number count, when half of the listeners have got it, resets one other
    /// connection; goes on after that.
    Resets,
    /// Sends the broadcast of number count to one listener with a reserved bit set.
    MalformedFrame,
    /// Sends one listener half of the broadcast of number count and ends that connection.
    CutShort,
    /// Leaves out exactly count deliveries, one per broadcast.
    Drops,
    /// Makes exactly count deliveries twice, one per broadcast.
    Duplicates,
    /// Flips one bit of the padding in exactly count deliveries, one per broadcast.
    Corrupts,
    /// Swaps two successive broadcasts of one sender to one listener, exactly count times. Needs
    /// senders with two broadcasts in flight: the first is held back until the second comes.
    Reorders,
    /// Sends exactly count echoes to a client that did not ask for them. Needs two clients.
    Misdelivers,
    /// Answers each broadcast with its result first, and delivers 20 ms later.
    AcksFirst,
    /// Delivers each broadcast and never sends a result.
    NoResult,
    /// Resets exactly count connections, each when it is pinged.
    ResetsAtPing,
    /// Closes exactly count connections, each when it is pinged.
    ClosesAtPing,
    /// Does not answer exactly count pings.
    IgnoresPings,
    /// Answers exactly count pings with another payload.
    SpoilsPongs,
}
