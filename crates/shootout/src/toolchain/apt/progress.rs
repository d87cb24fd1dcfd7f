//! How far apt-get is, from what it writes to its log (in English: LC_ALL=C).

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Often enough to see that it lives, seldom enough for a log of CI.
const INTERVAL: Duration = Duration::from_secs(10);

/// Reads a log as it grows.
pub(super) struct Progress {
    log: PathBuf,
    read: u64,
    rest: String,
    counts: Counts,
    told: Counts,
    looked: Instant,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    wanted: usize,
    fetched: usize,
    unpacked: usize,
    set_up: usize,
}

impl Progress {
    /// Follows what is written to `log` from now on.
    pub(super) fn new(log: &Path) -> Self {
        Self {
            log: log.to_owned(),
            read: log.metadata().map_or(0, |data| data.len()),
            rest: String::new(),
            counts: Counts::default(),
            told: Counts::default(),
            looked: Instant::now(),
        }
    }

    /// How far it is, every ten seconds, when it has got further.
    pub(super) fn due(&mut self) -> Option<String> {
        if self.looked.elapsed() < INTERVAL {
            return None;
        }
        self.looked = Instant::now();
        self.look();
        if self.counts == self.told {
            return None;
        }
        self.told = self.counts;
        self.counts.line()
    }

    fn look(&mut self) {
        let mut bytes = Vec::new();
        let read = File::open(&self.log).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.read_to_end(&mut bytes)
        });
        self.read += read.unwrap_or(0) as u64;
        self.rest.push_str(&String::from_utf8_lossy(&bytes));
        let whole = self.rest.rfind('\n').map_or(0, |end| end + 1);
        let rest = self.rest.split_off(whole);
        for line in self.rest.lines() {
            self.counts.count(line);
        }
        self.rest = rest;
    }
}

impl Counts {
    fn count(&mut self, line: &str) {
        if line.starts_with("Get:") {
            self.fetched += 1;
        } else if line.starts_with("Unpacking ") {
            self.unpacked += 1;
        } else if line.starts_with("Setting up ") {
            self.set_up += 1;
        } else if let Some((before, _)) = line.split_once(" newly installed") {
            let upgraded = line.split(' ').next().and_then(|n| n.parse().ok());
            let new = before.rsplit(' ').next().and_then(|n| n.parse().ok());
            self.wanted = upgraded.unwrap_or(0) + new.unwrap_or(0);
        }
    }

    /// Nothing before apt-get has said how many packages it wants.
    fn line(&self) -> Option<String> {
        let all = self.wanted;
        if all == 0 {
            return None;
        }
        let (done, what) = match (self.set_up, self.unpacked) {
            (0, 0) => (self.fetched, "fetched"),
            (0, unpacked) => (unpacked, "unpacked"),
            (set_up, _) => (set_up, "set up"),
        };
        Some(format!("{done} of {all} packages {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn lines_are_counted_as_they_come() {
        let mut log = tempfile::NamedTempFile::new().unwrap();
        log.write_all(b"Get:1 of an earlier command\n").unwrap();
        let mut progress = Progress::new(log.path());
        let mut after = |text: &str| {
            log.write_all(text.as_bytes()).unwrap();
            progress.look();
            progress.counts.line()
        };
        assert_eq!(after("Reading package lists...\n"), None);
        let said = after("2 upgraded, 3 newly installed, 0 to remove.\nGet:1 x\nGet:2");
        assert_eq!(said.as_deref(), Some("1 of 5 packages fetched"));
        assert_eq!(after(" y\n").as_deref(), Some("2 of 5 packages fetched"));
        let said = after("Unpacking x (1) ...\nSetting up x (1) ...\n");
        assert_eq!(said.as_deref(), Some("1 of 5 packages set up"));
    }
}
