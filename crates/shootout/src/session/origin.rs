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
    sources: Prints,
    /// The same of each proxy.
    #[serde(default)]
    proxies: Prints,
}

impl Origin {
    /// That of a run of these rows, here and now.
    pub fn now(rows: &[Row], generator: &Path, kernel: &str) -> Self {
        let (mut sources, mut proxies) = (BTreeMap::new(), BTreeMap::new());
        for row in rows {
            if let Some(folder) = &row.proxy {
                proxies
                    .entry(folder.proxy.name.clone())
                    .or_insert_with(|| build::fingerprint(&folder.dir));
            }
            sources
                .entry(row.entry.name.clone())
                .or_insert_with(|| build::fingerprint(&row.entry.dir));
        }
        Self {
            tool: tool().version,
            generator: fingerprint(generator).ok(),
            kernel: kernel.to_owned(),
            sources,
            proxies,
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
        let mut changed = |what: String, files: Vec<&str>| {
            if !files.is_empty() {
                differences.push(format!(
                    "{what} changed since {} was measured (delete that to measure it again)",
                    files.join(", ")
                ));
            }
        };
        let files = |is_of: &dyn Fn(&str, &str) -> bool| -> Vec<&str> {
            let of = kept.iter().filter(|(server, file)| is_of(server, file));
            of.map(|(_, file)| file.as_str()).collect()
        };
        for server in others(&self.sources, &then.sources) {
            let of = files(&|name, _| name == server);
            changed(format!("the sources of {server} have"), of);
        }
        for proxy in others(&self.proxies, &then.proxies) {
            let of = files(&|_, file| file.contains(&format!("via-{proxy}.")));
            changed(format!("the folder of the proxy {proxy} has"), of);
        }
        differences
    }
}

type Prints = BTreeMap<String, Option<String>>;

/// Names of those whose fingerprint is another.
fn others<'a>(now: &'a Prints, then: &'a Prints) -> impl Iterator<Item = &'a str> {
    let is_other = |(name, print): &(&'a String, &'a Option<String>)| {
        then.get(*name).is_some_and(|then| then != *print)
    };
    now.iter().filter(is_other).map(|(name, _)| name.as_str())
}

fn fingerprint(file: &Path) -> io::Result<String> {
    let mut hash = Sha1::new();
    io::copy(&mut File::open(file)?, &mut hash)?;
    Ok(hash.finalize().iter().map(|b| format!("{b:02x}")).collect())
}
