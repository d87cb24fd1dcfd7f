//! A request over HTTP that did not bring what it was made for.

use super::tls::{Offered, words};
use ws_proto::{ConnectRefusal, escaped};

/// What went wrong with a request over HTTP.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HttpFailure {
    /// Another status than one that the file goes on with.
    #[error("was answered {status}{}", said(line))]
    Status {
        /// The status.
        status: u16,
        /// The first line of the body.
        line: String,
    },
    /// A body that does not meet the conditions of the file.
    #[error("was answered {status}, but {}", escaped(why))]
    Unmet {
        /// The status.
        status: u16,
        /// The first condition that does not hold: what stands there.
        why: String,
    },
    /// The answer does not hold a value that is to be kept.
    #[error("got an answer without `{name}`")]
    NotTold {
        /// The name of the value.
        name: String,
    },
    /// It holds one that cannot stand where the plan has it.
    #[error("got a value for `{name}` that {why}")]
    Unfit {
        /// The name of the value.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// No answer in time.
    #[error("was not answered within {seconds} s")]
    TimedOut {
        /// The time that it had.
        seconds: f64,
    },
    /// The answer is too long to be read.
    #[error("got an answer of more than {most} bytes")]
    TooLong {
        /// The bound.
        most: usize,
    },
    /// It cannot be written: a value has no place in a URL or a header.
    #[error("cannot be written: {why}")]
    Unwritable {
        /// What is wrong with it.
        why: String,
    },
    /// A proxy opened no way to the server.
    #[error("did not get through the proxy: {0}")]
    Proxy(ConnectRefusal),
    /// TLS did not come about.
    #[error("failed: {}", words(source, *offered))]
    Tls {
        /// The cause.
        source: rustls::Error,
        /// What the server was offered.
        offered: Offered,
    },
    /// The connection could not be made, or broke.
    #[error("failed: {}", escaped(why))]
    Broken {
        /// What became of it.
        why: String,
    },
    /// This process may open no more files.
    #[error("found this process with no file left to open (RLIMIT_NOFILE)")]
    Files,
}

impl HttpFailure {
    /// What the peer said.
    pub(crate) fn words_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Status { line, .. } => vec![line],
            Self::Broken { why } | Self::Unwritable { why } | Self::Unmet { why, .. } => vec![why],
            Self::Proxy(source) => source.words_mut().collect(),
            _ => Vec::new(),
        }
    }

    /// What the user can do about it.
    pub(crate) fn remedy(&self) -> String {
        let remedy = match self {
            Self::Proxy(source) => return remedy_of_proxy(source),
            Self::Status {
                status: 301..=399, ..
            } => {
                "redirects are not followed: write that status in `status` if it is what is due, or \
                 the URL that it leads to"
            }
            Self::Status {
                status: 401 | 403, ..
            } => {
                "check what it shows the server: its headers, its body, the cookies of earlier steps"
            }
            Self::Status {
                status: 429 | 503, ..
            } => {
                "the server has too much to do: have fewer clients connect at once \
                 (connection.at_once, load.connect.rate)"
            }
            Self::Status { .. } => {
                "check its method, URL and body, or permit the status in `status`"
            }
            Self::Unmet { .. } => {
                "check what it shows the server, or change the conditions in its `when`"
            }
            Self::NotTold { .. } | Self::Unfit { .. } => "check its `capture`",
            Self::TimedOut { .. } => "raise connection.timeout if the server is only slow",
            Self::TooLong { .. } => "ask for a shorter page",
            Self::Unwritable { .. } => "check the values that stand in its URL and headers",
            Self::Broken { .. } => "check its URL, and that the server speaks HTTP/1.1 there",
            Self::Tls { .. } => "what the plan says of TLS is for such requests too",
            Self::Files => "raise it with `ulimit -n`",
        };
        remedy.to_owned()
    }
}

/// What to do when CONNECT was answered like this.
pub(super) fn remedy_of_proxy(source: &ConnectRefusal) -> String {
    match source {
        ConnectRefusal::Status {
            status: 407, says, ..
        } => format!(
            "it wants authorization{}: write its user and password before the host of target.proxy, or \
             give a Proxy-Authorization in connection.headers",
            says.as_ref()
                .map_or_else(String::new, |says| format!(" ({says})"))
        ),
        ConnectRefusal::Status {
            status: 403 | 405, ..
        } => "it forbids a way to this host and port: permit CONNECT to it".to_owned(),
        ConnectRefusal::Status { .. } => {
            "check that the proxy can reach the server, and permits CONNECT to it".to_owned()
        }
        _ => "check that target.proxy names an HTTP proxy".to_owned(),
    }
}

fn said(line: &str) -> String {
    match line {
        "" => String::new(),
        line => format!(": `{}`", escaped(line)),
    }
}
