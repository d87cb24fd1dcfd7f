//! What is wrong in a manifest, as one line that names the file, the line and the column.
//!
//! Knows nothing of the manifest's keys.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One thing that is wrong in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The manifest, relative to the project.
    pub file: PathBuf,
    /// Line, from 1, and column in characters, from 1; absent when it concerns the whole file.
    pub place: Option<(usize, usize)>,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.message)
    }
}

/// Collects the problems of one file, turning byte ranges into places.
pub(super) struct Problems<'a> {
    file: &'a Path,
    text: &'a str,
    found: Vec<Problem>,
}

impl<'a> Problems<'a> {
    pub(super) fn new(file: &'a Path, text: &'a str) -> Self {
        Self {
            file,
            text,
            found: Vec::new(),
        }
    }

    pub(super) fn at(&mut self, span: Option<Range<usize>>, message: impl Into<String>) {
        self.found.push(Problem {
            file: self.file.to_owned(),
            place: span.map(|span| place(self.text, span.start)),
            message: message.into(),
        });
    }

    pub(super) fn into_vec(self) -> Vec<Problem> {
        self.found
    }
}

fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
    (line, column)
}

/// Problems, one a line.
pub fn lines(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// A list of more candidates is hard to look through.
const FEW: usize = 20;

/// `; did you mean "..."?` when some candidate is close to `word`, else the list of candidates. Of many
/// candidates those that have a part of it between hyphens, if there are any.
pub fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let nearest = candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), *candidate))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((score, candidate)) if score > 0.75 => format!("; did you mean \"{candidate}\"?"),
        Some(_) => match alike(word, &candidates)[..] {
            ref alike @ [_, ..] if candidates.len() > FEW => {
                format!("; did you mean one of {}?", alike.join(", "))
            }
            _ => format!("; known: {}", candidates.join(", ")),
        },
        None => String::new(),
    }
}

/// Those with the last part of a name such as `go-example`, or else with its first.
fn alike<'a>(word: &str, candidates: &[&'a str]) -> Vec<&'a str> {
    let Some((first, last)) = word.split_once('-') else {
        return Vec::new();
    };
    let of = |part: &str| -> Vec<&'a str> {
        let has = |candidate: &&&str| candidate.split('-').any(|one| one == part);
        candidates.iter().filter(has).copied().collect()
    };
    let alike = of(last);
    if alike.is_empty() { of(first) } else { alike }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one() {
        let text = "a = 1\nö = b\n";
        assert_eq!(place(text, 0), (1, 1));
        assert_eq!(place(text, text.find('b').unwrap()), (2, 5));
    }

    #[test]
    fn far_words_get_the_list() {
        assert_eq!(
            suggestion("varient", ["variant", "version"]),
            "; did you mean \"variant\"?"
        );
        assert_eq!(suggestion("zzz", ["run", "name"]), "; known: run, name");
    }

    #[test]
    fn a_part_of_a_name_leads_to_those_that_have_it() {
        let few = ["al-ws", "al-bun"];
        assert_eq!(suggestion("node-ws", few), "; known: al-ws, al-bun");
        let others: Vec<String> = (0..20).map(|number| format!("go-{number}")).collect();
        let many = || few.into_iter().chain(others.iter().map(String::as_str));
        assert_eq!(
            suggestion("node-ws", many()),
            "; did you mean one of al-ws?"
        );
        assert_eq!(
            suggestion("al-zzzzzzzzzz", many()),
            "; did you mean one of al-ws, al-bun?"
        );
        assert!(suggestion("zig-std", many()).starts_with("; known: al-ws, al-bun, go-0,"));
    }
}
