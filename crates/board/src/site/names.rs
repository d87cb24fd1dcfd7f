//! The names of pages: a file for each server and each workload.

use std::collections::{BTreeMap, HashMap, HashSet};

/// Longest name of a file without its ending.
const LONGEST: usize = 80;

/// Names of files by what they are of. Whatever a record calls a server, the name of its file has
/// letters, digits, `-`, `_` and `.` alone, and is the name of no other.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_name: BTreeMap<String, String>,
}

impl Names {
    /// The files of these, in order.
    pub(super) fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut all = Self::default();
        let mut taken = HashSet::new();
        // The number that a name was given last: those before it are taken.
        let mut numbers: HashMap<String, u64> = HashMap::new();
        for name in names {
            if all.by_name.contains_key(name) {
                continue;
            }
            let plain = plain(name);
            let mut file = plain.clone();
            while !taken.insert(file.clone()) {
                let number = numbers.entry(plain.clone()).or_insert(1);
                *number += 1;
                file = format!("{plain}-{number}");
            }
            all.by_name.insert(name.to_owned(), file);
        }
        all
    }

    /// The file without its ending; `None` of what has no page.
    pub(super) fn file(&self, name: &str) -> Option<&str> {
        self.by_name.get(name).map(String::as_str)
    }
}

/// Small letters, since some file systems take large ones for the same.
fn plain(name: &str) -> String {
    let safe = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') => c,
        _ => '-',
    };
    let plain: String = name.chars().take(LONGEST).map(safe).collect();
    match plain.trim_start_matches('.') {
        "" => "unnamed".to_owned(),
        rest => rest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_collide_have_numbers_and_each_is_looked_for_once() {
        // With a look through all names for each number, these would be billions.
        let hostile: Vec<String> = (1..20_000)
            .map(|spaces| " ".repeat(spaces % 80) + "x")
            .collect();
        let many: Vec<String> = (0..20_000_u32)
            .map(|number| {
                let bits = (0..20).map(|bit| if number >> bit & 1 == 0 { ' ' } else { '/' });
                bits.collect()
            })
            .collect();
        let all = hostile.iter().chain(&many).map(String::as_str);
        let names = Names::new(all);
        let files: HashSet<&String> = names.by_name.values().collect();
        assert_eq!(files.len(), names.by_name.len());
        assert_eq!(names.file(&many[1]), Some("---------------------2"));
    }

    #[test]
    fn a_file_stays_in_its_folder_and_is_that_of_one_name() {
        let hostile = ["../../etc/x", "a/b", "a b", "", "..", "A-B", "go-quick"];
        let names = Names::new(hostile);
        let files: Vec<&str> = hostile.iter().map(|n| names.file(n).unwrap()).collect();
        assert_eq!(
            files,
            [
                "-..-etc-x",
                "a-b",
                "a-b-2",
                "unnamed",
                "unnamed-2",
                "a-b-3",
                "go-quick"
            ]
        );
        assert_eq!(names.file("another"), None);
        assert!(
            Names::new(["é".repeat(500).as_str()])
                .by_name
                .values()
                .all(|f| f.len() <= LONGEST)
        );
    }
}
