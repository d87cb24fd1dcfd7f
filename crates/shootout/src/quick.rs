//! What `run --quick` measures, in which order, and how long it goes on.
//!
//! A first ranked table within five minutes, all over within ten: one server of each language, what
//! is installed before what is not, and the cheap before the dear. Pure: the time is handed in.

use project::ServerFolder;
use std::time::Duration;

/// No row is begun that would end after this time.
const END: Duration = Duration::from_secs(600);
/// The table is shown after the first row that ends later than this.
const FIRST_TABLE: Duration = Duration::from_secs(210);
/// From the build to the figure of a server whose toolchain is there.
const READY: Duration = Duration::from_secs(45);
/// The same for one whose toolchain is not, where its manifest does not say it.
const UNKNOWN: Duration = Duration::from_secs(240);

/// Of each language the server that is the quickest to its first figure, by its manifest; of those
/// that do not say it, the first. Folders whose manifest cannot be read stay. In the order of cost.
pub fn one_of_each_language(mut entries: Vec<ServerFolder>) -> Vec<ServerFolder> {
    entries.sort_by_cached_key(|entry| (cost(entry), entry.name.clone()));
    let mut languages: Vec<String> = Vec::new();
    entries.retain(|entry| match &entry.manifest {
        Err(_) => true,
        Ok(manifest) if languages.contains(&manifest.language) => false,
        Ok(manifest) => {
            languages.push(manifest.language.clone());
            true
        }
    });
    entries
}

/// From a machine without its toolchain to its figure.
pub fn cost(entry: &ServerFolder) -> Duration {
    let manifest = entry.manifest.as_ref().ok();
    manifest
        .and_then(|manifest| manifest.quick)
        .unwrap_or(UNKNOWN)
}

/// The time of a quick run, from the start of the project's script.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    table_was_shown: bool,
}

impl Budget {
    /// Nothing was shown yet.
    pub const fn new() -> Self {
        Self {
            table_was_shown: false,
        }
    }

    /// Whether a row is begun when so much time is gone. `to_install` is what its server costs
    /// where its toolchain is missing and will be installed. `is_first` rows are always begun.
    pub fn admits(self, gone: Duration, to_install: Option<Duration>, is_first: bool) -> bool {
        is_first || gone + to_install.unwrap_or(READY) <= END
    }

    /// Whether the table is due now that a row has ended; it is due once. `ready_is_done`: the next
    /// row has to be installed.
    pub fn table_is_due(&mut self, gone: Duration, ready_is_done: bool) -> bool {
        let due = !self.table_was_shown && (ready_is_done || gone >= FIRST_TABLE);
        self.table_was_shown |= due;
        due
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use project::manifest::Manifest;
    use std::path::Path;

    fn entry(name: &str, language: &str, more: &str) -> ServerFolder {
        let text = format!(
            "manifest = 1\nname = \"{name}\"\nlanguage = \"{language}\"\nlibrary = \"l\"\n\
             homepage = \"h\"\nclass = \"idiomatic\"\nsummary = \"s\"\njson = \"tree\"\n{more}\n\
             [run]\ncommand = [\"x\"]\npath = \"/\"\n\
             [version]\ncommand = [\"x\"]\nmatches = '(.)'\n\
             [supports]\ndialects = [\"text\"]\nworkloads = [\"broadcast\"]\n"
        );
        ServerFolder {
            name: name.into(),
            dir: "/x".into(),
            manifest: Manifest::parse(&text, Path::new("server.toml"), name),
        }
    }

    #[test]
    fn the_cheapest_of_each_language_is_taken_the_cheap_ones_first() {
        let broken = ServerFolder {
            manifest: Manifest::parse("manifest = 1", Path::new("server.toml"), "x-broken"),
            ..entry("x-broken", "X", "")
        };
        let entries = vec![
            entry("a-slow", "A", "quick-seconds = 200"),
            entry("a-swift", "A", "quick-seconds = 90"),
            entry("b-one", "B", ""),
            entry("b-two", "B", ""),
            entry("c-only", "C", "quick-seconds = 30"),
            broken,
        ];
        let names: Vec<String> = one_of_each_language(entries)
            .into_iter()
            .map(|entry| entry.name)
            .collect();
        assert_eq!(names, ["c-only", "a-swift", "b-one", "x-broken"]);
    }

    #[test]
    fn what_would_end_after_ten_minutes_is_not_begun() {
        let seconds = Duration::from_secs;
        let budget = Budget::new();
        assert!(budget.admits(seconds(555), None, false));
        assert!(!budget.admits(seconds(556), None, false));
        assert!(budget.admits(seconds(480), Some(seconds(120)), false));
        assert!(!budget.admits(seconds(481), Some(seconds(120)), false));
        assert!(budget.admits(seconds(2_000), Some(seconds(120)), true));
    }

    #[test]
    fn the_first_table_comes_when_the_ready_are_done_or_the_time_has_come_and_once() {
        let seconds = Duration::from_secs;
        let mut soon = Budget::new();
        assert!(!soon.table_is_due(seconds(20), false));
        assert!(soon.table_is_due(seconds(40), true));
        assert!(!soon.table_is_due(seconds(400), true));
        let mut late = Budget::new();
        assert!(late.table_is_due(seconds(210), false));
        assert!(!late.table_is_due(seconds(211), true));
    }
}
