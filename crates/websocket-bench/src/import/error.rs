//! Why a capture makes no plan.

use super::limits::{
    LONGEST_PLAN, MOST_BYTES, MOST_CONNECTIONS, MOST_KINDS, MOST_SENDS, MOST_VARIABLES,
};
use std::io;
use std::path::{Path, PathBuf};

/// What is wrong with a capture, with the file where it is about one, and a remedy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImportError {
    #[error("cannot read the capture {}: {source}", path.display())]
    Unread { path: PathBuf, source: io::Error },
    #[error("cannot read the capture {}: {source}; export or copy it again", path.display())]
    Broken { path: PathBuf, source: io::Error },
    #[error("cannot inflate the capture {}: {source}; export or copy it again", path.display())]
    Uninflated { path: PathBuf, source: io::Error },
    /// It is of another kind, which can become a capture.
    #[error("{} is {what}", path.display())]
    Kind { path: PathBuf, what: &'static str },
    #[error(
        "{} has more than {} MiB, and no more is read: leave the other requests out, as with jq 'del(.log.entries[] | select(._webSocketMessages == null))'",
        path.display(),
        MOST_BYTES >> 20
    )]
    Long { path: PathBuf },
    /// It is a list of frames that cannot be read; with the line.
    #[error("{}, {why}", path.display())]
    List { path: PathBuf, why: String },
    #[error(
        "{} is no list of frames, and --url is for such a list: a HAR file has the URL of each connection; leave --url out, and give another URL to `run`",
        path.display()
    )]
    UrlOfHar { path: PathBuf },
    #[error(
        "{} is no HAR: {why}; export one from the browser's DevTools (Network, Export HAR) or with mitmproxy (save.har), or give a list of frames (docs/replay.md)",
        path.display()
    )]
    NoHar { path: PathBuf, why: String },
    #[error(
        "{} has {count} WebSocket connections, and {MOST_CONNECTIONS} is the most that is read: leave the other entries out, as with jq 'del(.log.entries[5000:])'",
        path.display()
    )]
    ManyConnections { path: PathBuf, count: usize },
    #[error(
        "{} has no WebSocket connection among its {entries} entries: open DevTools, then load the page, so that the handshake is in the capture",
        path.display()
    )]
    NoHandshake { path: PathBuf, entries: usize },
    #[error(
        "{} has {handshakes} WebSocket connections and no message of any: export it when messages have gone, with a Chrome of 2019 or later (`_webSocketMessages`)",
        path.display()
    )]
    NoMessages { path: PathBuf, handshakes: usize },
    #[error("there is no connection {entry}: the capture has {count}, counted from 1")]
    NoEntry { entry: usize, count: usize },
    #[error("the URL of connection {number} {why}: choose another connection (--entry)")]
    Url { number: usize, why: UrlFault },
    #[error(
        "message {message} of connection {number} {why}: take it out of the capture, or choose another connection (--entry)"
    )]
    Message {
        message: usize,
        number: usize,
        why: String,
    },
    #[error(
        "connection {number} has no message of the client to replay: choose another connection (--entry), or hold connections with `websocket-bench connect`"
    )]
    Silent { number: usize },
    #[error(
        "connection {number} has {sends} messages of the client; at most {MOST_SENDS} are taken: record a shorter session"
    )]
    ManySends { number: usize, sends: usize },
    #[error(
        "the client's messages have more than {MOST_VARIABLES} values that look secret, and no plan has as many variables: record a shorter session, or give --keep-values, which copies them"
    )]
    ManySecrets,
    #[error("the messages of the capture are more than a day apart: give --rate")]
    Apart,
    #[error(
        "the client has {0} different messages, and {MOST_KINDS} is the most that a plan has: record a shorter session"
    )]
    ManyKinds(usize),
    #[error("cannot write --data-out {}: {why}", path.display())]
    Data { path: PathBuf, why: String },
    #[error("this plan has no TOML file: {0}")]
    Unprintable(#[from] toml::ser::Error),
    #[error(
        "the plan would have more than {} MiB, and no plan has: record a shorter session",
        LONGEST_PLAN >> 20
    )]
    LongPlan,
    #[error(
        "the plan would hold what looks like a secret of the capture (`{0}`) in a place where no variable can stand: take it out of the capture, or give --keep-values, and keep the plan to yourself"
    )]
    Secret(String),
    #[error("{} makes no plan: {why}", path.display())]
    NoPlan { path: PathBuf, why: String },
}

/// What is wrong with a URL.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UrlFault {
    #[error("has no scheme")]
    NoScheme,
    #[error("is of no WebSocket")]
    OtherScheme,
    #[error("is none: {0}")]
    None(#[from] url::ParseError),
}

impl ImportError {
    /// A file of another kind.
    pub(super) fn kind(path: &Path, what: &'static str) -> Self {
        Self::Kind {
            path: path.to_owned(),
            what,
        }
    }
}
