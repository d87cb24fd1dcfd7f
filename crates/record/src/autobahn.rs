//! What the Autobahn|Testsuite said of a server's framing.

use super::ServerIdentity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the format; raised when a reader must change.
const VERSION: u32 = 1;
/// Value of [`AutobahnRecord::format`].
pub const AUTOBAHN_FORMAT: &str = "websocket-shootout/autobahn";

/// The summary of one pass of the suite against one server's raw echo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AutobahnRecord {
    /// Always [`AUTOBAHN_FORMAT`].
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// The server whose raw echo it was. Variants with the same framing code are not tested again.
    pub server: ServerIdentity,
    /// Version of the suite.
    pub suite: String,
    /// When the pass ended, RFC 3339 in UTC.
    pub finished: String,
    /// Patterns of the cases that were asked for, like `6.*`.
    pub sections: Vec<String>,
    /// Cases that ran.
    pub cases: u32,
    /// Cases that behaved and closed as the suite wants.
    pub ok: u32,
    /// Cases with behaviour that the RFC allows but does not prefer.
    pub non_strict: u32,
    /// Cases that pass no judgement, and those whose offer of compression the server declined.
    pub informational: u32,
    /// Every other case, in the suite's order.
    pub failed: Vec<AutobahnCase>,
}

/// A case that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AutobahnCase {
    /// The suite's number of it, like `6.4.1`.
    pub id: String,
    /// The suite's word for what the server did with the messages.
    pub behavior: String,
    /// The suite's word for how the connection was closed.
    pub behavior_close: String,
}

impl AutobahnCase {
    fn is_of_compression(&self) -> bool {
        ["12.", "13."]
            .iter()
            .any(|section| self.id.starts_with(section))
    }
}

impl AutobahnRecord {
    /// A record of nothing yet.
    pub fn new(server: ServerIdentity, suite: &str, sections: &[&str], finished: String) -> Self {
        Self {
            format: AUTOBAHN_FORMAT.to_owned(),
            version: VERSION,
            server,
            suite: suite.to_owned(),
            finished,
            sections: sections.iter().map(|&section| section.to_owned()).collect(),
            cases: 0,
            ok: 0,
            non_strict: 0,
            informational: 0,
            failed: Vec::new(),
        }
    }

    /// Counts one case by the suite's two words for it.
    pub fn count(&mut self, case: AutobahnCase) {
        const BEST: &str = "OK";
        const ALLOWED: &str = "NON-STRICT";
        const UNJUDGED: &str = "INFORMATIONAL";
        const DECLINED: &str = "UNIMPLEMENTED";
        self.cases += 1;
        // A server may decline any offer of compression (RFC 7692, 5.1).
        let behavior = match case.behavior.as_str() {
            DECLINED if case.is_of_compression() => UNJUDGED,
            behavior => behavior,
        };
        let words = [behavior, case.behavior_close.as_str()];
        let known = [BEST, ALLOWED, UNJUDGED];
        if words.iter().any(|word| !known.contains(word)) {
            self.failed.push(case);
        } else if words.contains(&ALLOWED) {
            self.non_strict += 1;
        } else if words.contains(&UNJUDGED) {
            self.informational += 1;
        } else {
            self.ok += 1;
        }
    }

    /// In a line: "297 of 301 ok, 1 non-strict, 3 informational, 0 failed".
    pub fn tally(&self) -> String {
        format!(
            "{} of {} ok, {} non-strict, {} informational, {} failed",
            self.ok,
            self.cases,
            self.non_strict,
            self.informational,
            self.failed.len()
        )
    }
}
