//! Says whether anything that goes into a build has changed since the last one that worked.
//!
//! What goes in: the folder's files that git would keep (build outputs are ignored by rule of
//! docs/adding-a-server.md), and what the probes said of the tools.

use ignore::WalkBuilder;
use project::Project;
use sha1::{Digest as _, Sha1};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A fingerprint of texts and files, in their order.
#[derive(Clone, Default)]
pub(crate) struct Print(Sha1);

/// The fingerprint of a folder's files.
pub(super) struct Sources(Option<Print>);

/// The fingerprint of all that goes into a variant, and the file that remembers it.
pub(super) struct Stamp {
    file: PathBuf,
    fingerprint: Option<String>,
}

impl Print {
    pub(crate) fn add(&mut self, text: &str) {
        self.add_bytes(text.as_bytes());
    }

    pub(crate) fn add_file(&mut self, file: &Path) -> io::Result<()> {
        self.add_bytes(&fs::read(file)?);
        Ok(())
    }

    pub(crate) fn text(self) -> String {
        let hash = self.0.finalize();
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }
}

impl Sources {
    pub(super) fn new(dir: &Path) -> Self {
        Self(files(dir))
    }

    /// The fingerprint as text; `None` when a file cannot be read.
    pub(super) fn text(&self) -> Option<String> {
        self.0.clone().map(Print::text)
    }

    /// The stamp in `file` of a variant that is built with these tools.
    pub(super) fn with<'t>(
        &self,
        tools: impl IntoIterator<Item = &'t str>,
        file: PathBuf,
    ) -> Stamp {
        let fingerprint = self.0.clone().map(|mut print| {
            for tool in tools {
                print.add(tool);
            }
            print.text()
        });
        Stamp { file, fingerprint }
    }
}

/// Where it is kept of what sources a variant was built last.
pub(super) fn file(project: &Project, server: &str, variant: &str) -> PathBuf {
    let name = format!("{server}.{variant}");
    project.cache().join("stamps").join(name)
}

impl Stamp {
    pub(super) fn is_current(&self) -> bool {
        self.fingerprint.is_some() && fs::read_to_string(&self.file).ok() == self.fingerprint
    }

    /// Without a stamp the next build is only slower: failure to write it is no error.
    pub(super) fn write(&self) {
        let Some(fingerprint) = &self.fingerprint else {
            return;
        };
        if let Some(parent) = self.file.parent() {
            let _ = fs::create_dir_all(parent);
        }
        let _ = fs::write(&self.file, fingerprint);
    }
}

/// Names and contents; the same in each checkout.
fn files(dir: &Path) -> Option<Print> {
    let mut print = Print::default();
    let files = WalkBuilder::new(dir)
        .hidden(false)
        .require_git(false)
        .sort_by_file_path(Path::cmp)
        .build();
    for file in files {
        let file = file.ok()?;
        if !file.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let name = file.path().strip_prefix(dir).ok()?;
        print.add_bytes(name.as_os_str().as_encoded_bytes());
        print.add_file(file.path()).ok()?;
    }
    Some(print)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_tools_count_and_ignored_outputs_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        write("main.c", "one");
        write(".gitignore", "*.o\n");
        let fingerprint = |tool| {
            Sources::new(dir.path())
                .with([tool], PathBuf::new())
                .fingerprint
        };
        let first = fingerprint("gcc 12");
        assert!(first.is_some());
        write("main.o", "output");
        assert_eq!(fingerprint("gcc 12"), first);
        assert_ne!(fingerprint("gcc 13"), first);
        write("main.c", "two");
        assert_ne!(fingerprint("gcc 12"), first);
    }
}
