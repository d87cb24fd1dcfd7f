//! The messages of `proto/remote.proto`, and what both sides do with them.
//!
//! Public for programs that are to talk to this one, of which the tests have several.

#[allow(missing_docs, clippy::all)]
mod generated {
    include!("../proto/remote.rs");
}

pub use generated::*;

use crate::clocks;
use crate::error::{RemoteError, shown};
use crate::revision::REVISION;
use from_coordinator::Kind as Down;
use from_worker::Kind as Up;

impl From<Down> for FromCoordinator {
    fn from(kind: Down) -> Self {
        Self { kind: Some(kind) }
    }
}

impl From<Up> for FromWorker {
    fn from(kind: Up) -> Self {
        Self { kind: Some(kind) }
    }
}

impl Greeting {
    /// The greeting of this process.
    pub fn own() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            revision: REVISION,
            host: host(),
            pid: std::process::id(),
            kernel: clocks::kernel(),
        }
    }

    /// Whether the two can work together; `peer` is named in the error.
    pub(crate) fn check(&self, peer: &str) -> Result<(), RemoteError> {
        let own = Self::own();
        if (&self.version, self.revision) == (&own.version, own.revision) {
            return Ok(());
        }
        Err(RemoteError::Version {
            peer: peer.to_owned(),
            theirs: self.program(),
            ours: own.program(),
        })
    }

    /// True when both have one clock, as far as they know.
    pub(crate) fn same_kernel(&self) -> bool {
        !self.kernel.is_empty() && self.kernel == clocks::kernel()
    }

    fn program(&self) -> String {
        let version = shown(&self.version);
        format!("websocket-bench {version} (protocol {})", self.revision)
    }
}

impl Refused {
    /// For the user of either side; `peer` is the worker that refused.
    pub(crate) fn into_error(self, peer: String) -> RemoteError {
        let reason = shown(&self.words);
        match self.reason() {
            refused::Reason::Busy => RemoteError::Busy { peer, reason },
            refused::Reason::Destination => RemoteError::Destination { peer, reason },
            _ => RemoteError::Plan { peer, reason },
        }
    }
}

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "unknown".to_owned(), |name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha1::{Digest as _, Sha1};

    #[test]
    fn the_generated_code_is_of_this_proto_file() {
        let digest = format!("{:x}", Sha1::digest(include_str!("../proto/remote.proto")));
        let code = include_str!("../proto/remote.rs");
        assert!(
            code.lines().next().unwrap().ends_with(&digest),
            "proto/remote.proto has changed: \
             `cargo run --manifest-path crates/remote/proto/generate/Cargo.toml`"
        );
    }

    #[test]
    fn another_version_and_another_revision_are_both_named() {
        let other = |version: &str, revision| Greeting {
            version: version.to_owned(),
            revision,
            ..Greeting::own()
        };
        assert!(Greeting::own().check("neptune:4000").is_ok());
        for (greeting, words) in [
            (other("99.0.0", REVISION), "websocket-bench 99.0.0"),
            (other(&Greeting::own().version, 77), "(protocol 77)"),
        ] {
            let error = greeting.check("neptune:4000").unwrap_err().to_string();
            for word in ["neptune:4000", words, &Greeting::own().program()] {
                assert!(error.contains(word), "{error}");
            }
        }
    }

    #[test]
    fn a_refusal_becomes_the_error_of_its_reason_with_words_that_obey_no_terminal() {
        let error = |reason: i32| {
            let words = "because \u{1b}[2J".to_owned();
            Refused { reason, words }.into_error("neptune:4000".to_owned())
        };
        let busy = error(refused::Reason::Busy.into());
        assert!(matches!(busy, RemoteError::Busy { .. }), "{busy}");
        let elsewhere = error(refused::Reason::Destination.into());
        assert!(matches!(elsewhere, RemoteError::Destination { .. }));
        let plan = error(refused::Reason::Plan.into());
        assert!(matches!(plan, RemoteError::Plan { .. }), "{plan}");
        // No version of this program sends this number.
        let unknown = error(99);
        assert!(matches!(unknown, RemoteError::Plan { .. }), "{unknown}");
        for error in [busy, elsewhere, plan, unknown] {
            let words = error.to_string();
            assert!(words.contains("neptune:4000") && words.contains("because \\u{1b}[2J"));
        }
    }
}
