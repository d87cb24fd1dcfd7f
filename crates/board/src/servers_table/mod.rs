//! The table of servers in servers/README.md, made from the manifests.
//!
//! The rest of the page is written by hand: the table stands between two marks.

use crate::conformance_table::{Compared, REMEDY};
use crate::report::markdown::escaped;
use project::Refusal;
use project::ServerFolder;
use project::manifest::{DEFAULT_VARIANT, Manifest};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const BEGIN: &str =
    "<!-- servers: made by `shootout verify --write-table` from the manifests -->\n";
const END: &str = "<!-- end of servers -->\n";

/// The page, seen from the folder of the project.
const PAGE: &str = "servers/README.md";

const HEAD: &str = "\
| folder | language | library | variants |
|---|---|---|---|
";

const LEGEND: &str = "
\\* needs something that no Debian package brings (Rust, which the tools need too, is one such thing); `./shootout doctor` says what and how to get it.
";

/// The page, where there is one.
pub struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    /// The page of the project at `root`; `None` where there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn new(root: &Path) -> Result<Option<Self>, Refusal> {
        let path = root.join(PAGE);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(Self { path, text })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Refusal::new(format!("{}: {error}", path.display()))),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the table of these servers into the page.
    ///
    /// # Errors
    /// When the page has no place for it, or cannot be written.
    pub fn write(&self, entries: &[ServerFolder]) -> Result<(), Refusal> {
        let (before, _, after) = self.parts()?;
        let text = format!("{before}{}{after}", render(entries));
        fs::write(&self.path, text)
            .map_err(|error| Refusal::new(format!("{}: {error}", self.path.display())))
    }

    /// Holds the table against the folders that it knows. A manifest that cannot be read is told
    /// elsewhere.
    ///
    /// # Errors
    /// When the page has no place for the table.
    pub fn compared(&self, entries: &[ServerFolder]) -> Result<Compared, Refusal> {
        let (_, table, _) = self.parts()?;
        let known: Vec<(&str, &str)> = table.lines().filter_map(named).collect();
        let mut found = Compared::default();
        for (name, line) in &known {
            match entries.iter().find(|entry| entry.name == *name) {
                None => found
                    .drift
                    .push(format!("{name}: {PAGE} has a line of no server")),
                Some(entry) => {
                    let of_manifest = entry.manifest.as_ref().ok().map(row);
                    if of_manifest.is_some_and(|row| row.trim_end() != *line) {
                        found.drift.push(format!(
                            "{name}: its line in {PAGE} is not that of its manifest"
                        ));
                    }
                }
            }
        }
        let is_known = |entry: &ServerFolder| known.iter().any(|(name, _)| entry.name == *name);
        let (old, new): (Vec<&ServerFolder>, Vec<&ServerFolder>) =
            entries.iter().partition(|e| is_known(e));
        let readable = |entry: &&ServerFolder| entry.manifest.is_ok();
        let unknown = new.into_iter().filter(readable);
        found
            .unknown
            .extend(unknown.map(|entry| entry.name.clone()));
        if found.drift.is_empty() && old.iter().all(readable) && table != render(old) {
            let what = "its table of servers is not what the manifests make";
            found.drift.push(format!("{PAGE}: {what}"));
        }
        Ok(found)
    }

    /// What is before the table, the table, and what is behind it; the marks are outside.
    fn parts(&self) -> Result<(&str, &str, &str), Refusal> {
        let found = self.text.split_once(BEGIN).and_then(|(before, rest)| {
            let (table, _) = rest.split_once(END)?;
            let from = before.len() + BEGIN.len();
            let to = from + table.len();
            Some((&self.text[..from], table, &self.text[to..]))
        });
        found.ok_or_else(|| {
            Refusal::new(format!(
                "{}: no place for the table of servers, which is between the lines {} and {}; \
                 `{REMEDY}` writes it there",
                self.path.display(),
                BEGIN.trim_end(),
                END.trim_end()
            ))
        })
    }
}

/// The table of these servers, those with a manifest that cannot be read left out.
fn render<'a>(entries: impl IntoIterator<Item = &'a ServerFolder>) -> String {
    let manifests = entries
        .into_iter()
        .filter_map(|entry| entry.manifest.as_ref().ok());
    let rows: String = manifests.map(row).collect();
    format!("{HEAD}{rows}{LEGEND}")
}

fn row(manifest: &Manifest) -> String {
    let name = &manifest.name;
    let is_hard = |variant: &str| {
        let mut needed = manifest.requires.iter();
        needed.any(|needed| needed.debian.is_empty() && needed.variants.covers(variant))
    };
    let all_hard = manifest
        .variants
        .iter()
        .all(|variant| is_hard(&variant.name));
    let starred = |is_hard| if is_hard { " \\*" } else { "" };
    let variants = manifest.variants.iter().map(|variant| &variant.name);
    let variants: Vec<String> = variants
        .filter(|variant| *variant != DEFAULT_VARIANT)
        .map(|variant| {
            let star = starred(is_hard(variant) && !all_hard);
            format!("{}{star}", escaped(variant))
        })
        .collect();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "| [{name}]({name}){} | {} | [{}]({}) | {} |",
        starred(all_hard),
        escaped(&manifest.language),
        escaped(&manifest.library),
        manifest.homepage,
        variants.join(", ")
    );
    text
}

/// The server that a line of the table is of, and the line.
fn named(line: &str) -> Option<(&str, &str)> {
    let (name, _) = line.strip_prefix("| [")?.split_once(']')?;
    Some((name, line))
}

#[cfg(test)]
mod tests;
