//! What the rows of a run were measured with: a resumed run must not mix builds or kernels.

use super::tool;
use crate::build;
use crate::rows::Row;
use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

/// Everything beside the options that decides what a row measures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Origin {
    /// Version of this program.
    tool: String,
    /// Fingerprint of the load generator's program file; absent when it could not be read.
    generator: Option<String>,
    /// Name and release.
    kernel: String,
    /// Fingerprint of each server's sources, by its name; absent when they could not be read.
    sources: BTreeMap<String, Option<String>>,
}

impl Origin {
    /// That of a run of these rows, here and now.
    pub fn now(rows: &[Row], generator: &Path, kernel: &str) -> Self {
        let mut sources = BTreeMap::new();
        for row in rows {
            sources
                .entry(row.entry.name.clone())
                .or_insert_with(|| build::fingerprint(&row.entry.dir));
        }
        Self {
            tool: tool().version,
            generator: fingerprint(generator).ok(),
            kernel: kernel.to_owned(),
            sources,
        }
    }

    /// The differences from the origin of rows that are kept, in words. `kept` has the server and
    /// the file of each.
    pub(super) fn differences(&self, then: &Self, kept: &[(String, String)]) -> Vec<String> {
        let mut differences = Vec::new();
        if self.tool != then.tool {
            differences.push(format!("shootout was {} and is {}", then.tool, self.tool));
        }
        if self.generator != then.generator {
            differences.push("the load generator is another build".to_owned());
        }
        if self.kernel != then.kernel {
            differences.push(format!(
                "the kernel was {} and is {}",
                then.kernel, self.kernel
            ));
        }
        for (server, now) in &self.sources {
            let changed = then.sources.get(server).is_some_and(|then| then != now);
            let files: Vec<&str> = kept
                .iter()
                .filter(|(of, _)| of == server)
                .map(|(_, file)| file.as_str())
                .collect();
            if changed && !files.is_empty() {
                differences.push(format!(
                    "the sources of {server} have changed since {} was measured (delete that to \
                     measure it again)",
                    files.join(", ")
                ));
            }
        }
        differences
    }
}

fn fingerprint(file: &Path) -> io::Result<String> {
    let mut hash = Sha1::new();
    io::copy(&mut File::open(file)?, &mut hash)?;
    Ok(hash.finalize().iter().map(|b| format!("{b:02x}")).collect())
}
