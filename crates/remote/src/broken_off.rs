//! Why a conversation between a coordinator and a site ends before its time.

/// What a coordinator says of a site that it has lost.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SiteLost {
    #[error("its connection broke")]
    Connection,
    /// With the words of the transport.
    #[error("its connection broke ({0}); the worker or its machine has ended")]
    Transport(String),
    #[error("it ended the conversation in mid-run")]
    Ended,
    #[error(
        "nothing was heard of it for {0} s; its machine or the network between is down, or it was stopped"
    )]
    Silent(u64),
    /// Of a process of this machine: what has become of it.
    #[error("{0}")]
    Process(&'static str),
    #[error("a report of it cannot be read: {0}")]
    Report(postcard::Error),
    /// In its own words.
    #[error("{0}")]
    Trouble(String),
    #[error("it spoke out of turn")]
    OutOfTurn,
    #[error("a command cannot be written: {0}")]
    Command(postcard::Error),
}

/// What a site says of a coordinator that it has lost.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CoordinatorLost {
    #[error("the connection to the coordinator broke: {0}")]
    Transport(String),
    #[error("the coordinator has ended")]
    Ended,
    #[error("a command cannot be read: {0}")]
    Command(postcard::Error),
    #[error("the coordinator sends commands faster than they can be obeyed: {0} bytes wait")]
    Flood(usize),
    #[error("the coordinator spoke out of turn")]
    OutOfTurn,
    #[error("the coordinator asks for the time and does not read the answers")]
    Unread,
    #[error("a report cannot be written: {0}")]
    Report(postcard::Error),
}
