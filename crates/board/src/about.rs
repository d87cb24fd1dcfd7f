//! What is said of a round beside its records: who measured it, who has measured it again, and
//! whether it is itself another round measured again.

use crate::records;
use serde::Deserialize;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The file in the directory of a round.
pub const FILE: &str = "round.toml";
/// Its longest, in bytes: the longest of a published round has 1,902. A reader takes some 80 times as
/// much memory, and shows the line of a mistake.
const LONGEST: usize = 16 << 10;

/// What the file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// How far its figures can be relied on.
    pub label: Label,
    /// What else is to be known of it, in a sentence or two.
    #[serde(default)]
    pub note: Option<String>,
    /// Name of the round of which it measures rows again. It has no ranking of its own: its figures
    /// say how far those of the other move.
    #[serde(default)]
    pub repeats: Option<String>,
}

/// Who has measured the figures of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// Its author alone; so is a round that does not say.
    #[default]
    SelfReported,
    /// The maintainers of this project have measured another's round again.
    ReproducedByUs,
    /// Another than its author and the maintainers has measured it again.
    ReproducedByAnother,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SelfReported => "self-reported: measured by its author, and by nobody else yet",
            Self::ReproducedByUs => {
                "reproduced by us: measured again by the maintainers of this project"
            }
            Self::ReproducedByAnother => "reproduced by another than its author",
        })
    }
}

/// A file that says nothing of a round.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct NoAbout {
    path: PathBuf,
    why: Unfit,
}

#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("has more than {} KiB, and no round needs as many", LONGEST >> 10)]
    Long,
    #[error(transparent)]
    Broken(#[from] toml::de::Error),
    #[error(transparent)]
    Unreadable(#[from] io::Error),
}

/// What is said of the round in a directory.
///
/// # Errors
/// With the file, when it says something else than this.
pub fn read(dir: &Path) -> Result<About, NoAbout> {
    let path = dir.join(FILE);
    let said = match records::beside(&path) {
        Ok(text) if text.len() > LONGEST => Err(Unfit::Long),
        Ok(text) => toml::from_str(&text).map_err(Unfit::Broken),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(About::default()),
        Err(error) => Err(Unfit::Unreadable(error)),
    };
    said.map_err(|why| NoAbout { path, why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn of(text: &str) -> Result<About, NoAbout> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(FILE), text).unwrap();
        read(dir.path())
    }

    #[test]
    fn a_round_says_it_shortly() {
        let long = format!("note = \"{}\"", "x".repeat(LONGEST));
        let error = of(&long).unwrap_err().to_string();
        assert!(error.contains("has more than 16 KiB"), "{error}");
    }

    #[test]
    fn a_round_says_who_measured_it_and_one_that_does_not_is_self_reported() {
        let silent = tempfile::tempdir().unwrap();
        assert_eq!(read(silent.path()).unwrap(), About::default());
        for (name, label) in [
            ("self-reported", Label::SelfReported),
            ("reproduced-by-us", Label::ReproducedByUs),
            ("reproduced-by-another", Label::ReproducedByAnother),
        ] {
            let about = of(&format!("label = \"{name}\"\nnote = \"Idle.\"\n")).unwrap();
            assert_eq!((about.label, about.note.as_deref()), (label, Some("Idle.")));
        }
    }

    #[test]
    fn a_round_that_measures_another_again_names_it() {
        let about = of("label = \"self-reported\"\nrepeats = \"2026-11\"\n").unwrap();
        assert_eq!(about.repeats.as_deref(), Some("2026-11"));
    }

    #[test]
    fn another_label_and_another_key_are_refused_with_the_file() {
        for text in [
            "label = \"certified\"",
            "label = \"self-reported\"\nby = \"me\"",
            "note = \"\"",
        ] {
            let words = of(text).unwrap_err();
            assert!(words.to_string().contains(FILE), "{words}");
        }
    }
}
