//! What can go wrong between a coordinator and its workers, each in one line with the remedy.

use crate::address::Address;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A distributed run that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// No transport thread, or no signal handlers.
    #[error("cannot set up the transport: {0}")]
    Runtime(io::Error),
    /// A token that cannot be used.
    #[error("the token in {place} {reason}; make one with `openssl rand -hex 32`")]
    Token {
        /// File or variable.
        place: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file of credentials that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file with a secret that cannot be read. Its path is not shown: it may be the secret.
    #[error(
        "{flag}: cannot read the file: {source}; give the path of a file that holds {holds}, and not what it holds"
    )]
    Secret {
        /// The flag that names it.
        flag: &'static str,
        /// What is to be in it.
        holds: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A file of credentials that does not hold what it should.
    #[error("{}: {reason}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A listener without credentials that other machines can reach.
    #[error(
        "{listener} on {address} is open to every host that can reach it: give --token-file FILE (or the variable WEBSOCKET_BENCH_TOKEN), or --tls-cert, --tls-key and --tls-ca; without any of them only a loopback address is possible"
    )]
    Exposed {
        /// A worker, or a coordinator that waits for workers.
        listener: &'static str,
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// A worker would obey any process that answers at this address.
    #[error(
        "the coordinator {address} is not on this machine's loopback: give --token-file FILE (or the variable WEBSOCKET_BENCH_TOKEN), or --tls-cert, --tls-key and --tls-ca"
    )]
    Unguarded {
        /// The coordinator.
        address: Address,
    },
    /// An address that cannot be listened on.
    #[error("cannot listen on {address}: {source}{}", listen_remedy(source))]
    Listen {
        /// The address.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// Nothing answers there.
    #[error("cannot reach {peer}: {reason}; {remedy}")]
    Unreachable {
        /// Coordinator or worker.
        peer: String,
        /// The cause.
        reason: String,
        /// What to look at.
        remedy: &'static str,
    },
    /// No TLS between the two.
    #[error(
        "no TLS with {peer}: {reason}; give both sides --tls-cert, --tls-key and --tls-ca, and the listener a certificate for the name that it is dialled by"
    )]
    Tls {
        /// Coordinator or worker.
        peer: String,
        /// The cause.
        reason: String,
    },
    /// The other side does not speak this protocol.
    #[error(
        "{peer} does not answer as websocket-bench does: {reason}; check the port, and that both sides use TLS or neither"
    )]
    Stranger {
        /// Coordinator or worker.
        peer: String,
        /// The cause.
        reason: String,
    },
    /// Wrong token, or none.
    #[error(
        "{peer} refuses: {reason}; give both sides the same --token-file or WEBSOCKET_BENCH_TOKEN"
    )]
    Denied {
        /// Coordinator or worker.
        peer: String,
        /// What it said.
        reason: String,
    },
    /// The two sides have different versions.
    #[error("{peer} runs {theirs}, this is {ours}: install one version on both sides")]
    Version {
        /// Coordinator or worker.
        peer: String,
        /// Its version and revision.
        theirs: String,
        /// This program's.
        ours: String,
    },
    /// It has a run already.
    #[error("{peer} is busy: {reason}; wait for its end or take another worker")]
    Busy {
        /// The worker.
        peer: String,
        /// What it is busy with.
        reason: String,
    },
    /// Not on its allow-list.
    #[error("{peer} refuses this destination: {reason}; add it to the worker's --allow")]
    Destination {
        /// The worker.
        peer: String,
        /// What it said.
        reason: String,
    },
    /// A plan that the worker cannot carry out.
    #[error("{peer} cannot carry out this run: {reason}")]
    Plan {
        /// The worker.
        peer: String,
        /// What it said.
        reason: String,
    },
    /// Gone between greeting and start.
    #[error("{peer} was lost before the run began: {reason}")]
    LostEarly {
        /// Coordinator or worker.
        peer: String,
        /// The cause.
        reason: String,
    },
    /// Fewer workers than wanted.
    #[error(
        "{joined} of {wanted} workers joined within {}: start the others, or raise --await-timeout",
        humane(*waited)
    )]
    Missing {
        /// Workers that have come.
        joined: u32,
        /// Workers that were awaited.
        wanted: u32,
        /// For so long.
        waited: Duration,
    },
    /// A process of this program that did not come up.
    #[error("cannot start process {number} of {of}: {reason}")]
    Child {
        /// Which.
        number: u32,
        /// Of how many.
        of: u32,
        /// Why not.
        reason: String,
    },
    /// Interrupted before the run began.
    #[error("interrupted while the workers were gathered")]
    Interrupted,
}

fn listen_remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::AddrInUse => {
            "; end what listens there (`ss -ltnp` names it) or choose another port"
        }
        io::ErrorKind::AddrNotAvailable => {
            "; it is not an address of this machine, see `ip address`"
        }
        io::ErrorKind::PermissionDenied => "; choose a port of 1024 or above",
        _ => "",
    }
}

fn humane(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// Longest text of a peer that is shown.
const SHOWN: usize = 1000;

/// Text of a peer, safe to print: on one line, cut, and without control characters.
pub(crate) fn shown(words: &str) -> String {
    let mut shown = String::new();
    for character in words.chars().take(SHOWN) {
        match character {
            control if control.is_control() => shown.extend(control.escape_default()),
            other => shown.push(other),
        }
    }
    if words.chars().nth(SHOWN).is_some() {
        shown.push_str(" ...");
    }
    shown
}

/// An error and its causes, each part once.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        cause = error.source();
    }
    words
}

/// The input-output error behind an error, if there is one.
pub(crate) fn io_kind<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a io::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<io::Error>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_peer_obey_no_terminal_and_have_an_end() {
        assert_eq!(shown("plain, \u{e4}"), "plain, \u{e4}");
        assert_eq!(shown("a\n\u{1b}[2J"), "a\\n\\u{1b}[2J");
        assert_eq!(shown(&"x".repeat(5000)), "x".repeat(1000) + " ...");
    }

    /// An error that has another as its source.
    #[derive(Debug, thiserror::Error)]
    #[error("{words}")]
    struct Wrapped {
        words: &'static str,
        source: io::Error,
    }

    fn wrapped(words: &'static str) -> Wrapped {
        let source = io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused");
        Wrapped { words, source }
    }

    #[test]
    fn a_chain_says_each_part_once_and_the_kind_behind_it_is_found() {
        let words = chain(&wrapped("transport error"));
        assert_eq!(words, "transport error: connection refused");
        let words = chain(&wrapped("tcp: connection refused"));
        assert_eq!(words, "tcp: connection refused");
        let error = wrapped("transport error");
        let found = io_kind(&error).map(io::Error::kind);
        assert_eq!(found, Some(io::ErrorKind::ConnectionRefused));
        let without = RemoteError::Interrupted;
        assert!(io_kind(&without).is_none());
    }

    #[test]
    fn an_address_that_cannot_be_listened_on_comes_with_its_remedy() {
        let words = |kind: io::ErrorKind| {
            let (address, source) = ("127.0.0.1:80".to_owned(), kind.into());
            RemoteError::Listen { address, source }.to_string()
        };
        for (kind, remedy) in [
            (io::ErrorKind::AddrInUse, "choose another port"),
            (io::ErrorKind::AddrNotAvailable, "see `ip address`"),
            (io::ErrorKind::PermissionDenied, "port of 1024 or above"),
        ] {
            let words = words(kind);
            assert!(words.contains("127.0.0.1:80"), "{words}");
            assert!(words.ends_with(remedy), "{words}");
        }
        assert!(!words(io::ErrorKind::OutOfMemory).contains(';'));
    }
}
