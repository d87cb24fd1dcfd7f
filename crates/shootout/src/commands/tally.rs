//! How many variants are ok, and which are not: the last line of a command over several servers.

use crate::build::BuildError;
use crate::exit::Exit;
use project::contestant;

/// Counts variants.
#[derive(Default)]
pub(super) struct Tally {
    ok: usize,
    failed: Vec<String>,
    missing: Vec<String>,
    /// Something is wrong that the user could have avoided: see [`Tally::not_built`].
    fails: bool,
}

impl Tally {
    pub(super) fn ok(&mut self) {
        self.ok += 1;
    }

    pub(super) fn failed(&mut self, server: &str, variant: &str) {
        self.failed.push(contestant(server, variant));
        self.fails = true;
    }

    /// A variant that was not built. A missing requirement fails the command when the server was
    /// named by the user, or when a Debian package provides it. Otherwise it is only counted, so
    /// that a machine on which `setup` has installed everything that it can passes.
    pub(super) fn not_built(&mut self, server: &str, variant: &str, why: &BuildError, named: bool) {
        let BuildError::Missing(missing) = why else {
            self.failed(server, variant);
            return;
        };
        self.missing.push(contestant(server, variant));
        self.fails |= named || missing.iter().any(|what| !what.debian.is_empty());
    }

    /// A manifest that cannot be read.
    pub(super) fn unreadable(&mut self, count: usize) {
        self.fails |= count > 0;
    }

    /// Prints the last line of the command and says how it ends.
    pub(super) fn finish(&self) -> Exit {
        if let Some(line) = self.line() {
            say!("{line}");
        }
        if self.fails { Exit::Failed } else { Exit::Ok }
    }

    /// The counts in a line; nothing for a single variant, whose result was just told.
    fn line(&self) -> Option<String> {
        let all = self.ok + self.failed.len() + self.missing.len();
        if all < 2 {
            return None;
        }
        let mut line = format!("{all} variants: {} ok", self.ok);
        for (names, word) in [
            (&self.failed, "failed"),
            (&self.missing, "without what they need"),
        ] {
            if !names.is_empty() {
                line.push_str(&format!(", {} {word} ({})", names.len(), names.join(", ")));
            }
        }
        Some(line)
    }
}
