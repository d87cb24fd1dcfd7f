//! Files of a directory that a stranger may have made: no link is followed, nothing but a file is
//! read, and no more of it than a record has. docs/submitting.md names the bounds.

use flate2::read::MultiGzDecoder;
use memchr::{memchr_iter, memchr2};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Most entries of a directory: a run has a few for each row.
const MOST_ENTRIES: usize = 50_000;
/// Most directories within one: a round has 16 runs.
const MOST_DIRECTORIES: usize = 200;
/// Most bytes of a file when it is unpacked: the longest published record has 1.1 MB.
pub(super) const MOST_BYTES: u64 = 16 << 20;
/// Most numbers, texts and lists of a record: a published one has 15,400.
const MOST_VALUES: u64 = 250_000;
/// Longest text of a record, in bytes: the longest histogram of a published one has 12,708.
const LONGEST_TEXT: usize = 256 << 10;
/// Most bytes of all records of a directory when they are unpacked, which is what its readers keep of it
/// in memory at most: a published run has 38 MB. A record of a broadcast has 110 to 200 KB, so that one
/// workload of all 107 variants, six times, has 642 records and 71 to 128 MB.
const MOST_BYTES_IN_ALL: u64 = 256 << 20;
/// Most values of all records of a directory: a published run has 1.3 million. A report that keeps as
/// many takes some 430 MB.
const MOST_VALUES_IN_ALL: u64 = 8_000_000;

/// The texts of the records of one directory.
#[derive(Debug)]
pub(crate) struct Texts {
    bytes_left: AtomicU64,
    values_left: AtomicU64,
    spent: AtomicBool,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            bytes_left: MOST_BYTES_IN_ALL.into(),
            values_left: MOST_VALUES_IN_ALL.into(),
            spent: false.into(),
        }
    }
}

impl Texts {
    /// What a record's file holds, unpacked.
    ///
    /// # Errors
    /// Those of [`text`], and when this directory's records together are more than those of any run.
    pub(crate) fn text(&self, path: &Path) -> io::Result<String> {
        let together = || {
            refused(format!(
                "the records of this directory have more than {} MiB unpacked, or \
                 {MOST_VALUES_IN_ALL} values: make several runs of it",
                MOST_BYTES_IN_ALL >> 20
            ))
        };
        if self.is_spent() {
            return Err(together());
        }
        let text = text(path)?;
        let take = |from: &AtomicU64, much: u64| {
            let less = |left: u64| left.checked_sub(much);
            from.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
                .is_ok()
        };
        let bytes = text.len() as u64;
        if !take(&self.bytes_left, bytes) || !take(&self.values_left, values(&text)) {
            self.spent.store(true, Ordering::Relaxed);
            return Err(together());
        }
        Ok(text)
    }

    /// True when nothing more of the directory is read.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Relaxed)
    }
}

/// What a record's file in a directory holds, unpacked.
///
/// # Errors
/// When it cannot be read, is a link or no file, is no text, or is longer or has more values than a
/// record.
pub fn text(path: &Path) -> io::Result<String> {
    let text = unpacked(path, opened(path)?)?;
    shaped(text)
}

/// What a record's file holds that the user has named: it may be a link, or a pipe.
///
/// # Errors
/// As of [`text`].
pub(crate) fn named_text(path: &Path) -> io::Result<String> {
    shaped(unpacked(path, File::open(path)?)?)
}

/// What a file beside the records holds, such as `round.toml`.
///
/// # Errors
/// When it cannot be read, is a link or no file, is no text, or is longer than a record.
pub(crate) fn beside(path: &Path) -> io::Result<String> {
    bounded(opened(path)?)
}

/// The entries of a directory with what they are, in the order of their names.
///
/// # Errors
/// When it cannot be listed, or has more than any run.
pub(super) fn entries(dir: &Path) -> io::Result<Vec<(PathBuf, fs::FileType)>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if all.len() == MOST_ENTRIES {
            return Err(refused(format!(
                "it has more than {MOST_ENTRIES} entries: a run has a few for each row"
            )));
        }
        all.push((entry.path(), entry.file_type()?));
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}

/// The directories within one, in the order of their names.
///
/// # Errors
/// When it cannot be listed, has more than any round, or a link to a directory, which could lead
/// anywhere.
pub(crate) fn directories(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for (path, kind) in entries(dir)? {
        if kind.is_symlink() && path.is_dir() {
            return Err(refused(format!("{}: {LINK}", path.display())));
        }
        if kind.is_dir() {
            all.push(path);
        }
    }
    if all.len() > MOST_DIRECTORIES {
        return Err(refused(format!(
            "it has {} directories, and at most {MOST_DIRECTORIES} are read",
            all.len()
        )));
    }
    Ok(all)
}

/// What is wrong with a link.
const LINK: &str = "is a symbolic link, which is not followed: put what it leads to in its place";

fn refused(words: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, words)
}

/// A file, and nothing that only looks like one. A pipe is not waited for.
fn opened(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let opened = File::options().read(true).custom_flags(flags).open(path);
    let file = match opened {
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            return Err(refused(LINK.to_owned()));
        }
        opened => opened?,
    };
    let facts = file.metadata()?;
    match () {
        () if !facts.is_file() => Err(refused("is no file".to_owned())),
        () if facts.len() > MOST_BYTES => Err(too_long("")),
        () => Ok(file),
    }
}

fn unpacked(path: &Path, file: File) -> io::Result<String> {
    match path.extension().is_some_and(|ending| ending == "gz") {
        true => bounded(MultiGzDecoder::new(file)),
        false => bounded(file),
    }
}

fn bounded(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    let read = from.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    match read as u64 > MOST_BYTES {
        true => Err(too_long(" unpacked")),
        false => Ok(text),
    }
}

fn too_long(how: &str) -> io::Error {
    let most = MOST_BYTES >> 20;
    refused(format!(
        "has more than {most} MiB{how}, and no record of this project has"
    ))
}

fn shaped(text: String) -> io::Result<String> {
    let words = match () {
        () if values(&text) > MOST_VALUES => format!("more than {MOST_VALUES} values"),
        () if longest(&text) > LONGEST_TEXT => {
            format!("a text of more than {} KiB", LONGEST_TEXT >> 10)
        }
        () => return Ok(text),
    };
    Err(refused(format!(
        "has {words}, and no record of this project has"
    )))
}

/// At least as many as the values of a JSON text: each stands behind one of these characters.
fn values(text: &str) -> u64 {
    let count = |byte: u8| memchr_iter(byte, text.as_bytes()).count() as u64;
    [b',', b':', b'[', b'{'].map(count).iter().sum()
}

/// Bytes of the longest string of a JSON text, as it is written.
fn longest(text: &str) -> usize {
    let (mut longest, mut began, mut next) = (0, None, 0);
    let text = text.as_bytes();
    while let Some(further) = text.get(next..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        let at = next + further;
        next = at + 1;
        match (text[at], began) {
            (b'"', None) => began = Some(next),
            (b'"', Some(begin)) => {
                longest = longest.max(at - begin);
                began = None;
            }
            // What is escaped ends no string.
            (_, Some(_)) => next += 1,
            (_, None) => {}
        }
    }
    longest
}

#[cfg(test)]
mod tests;
