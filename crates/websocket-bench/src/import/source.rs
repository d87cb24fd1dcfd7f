//! The bytes of a capture's file: inflated where they are gzip, and without a byte order mark.

use super::error::ImportError;
use super::limits::MOST_BYTES;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// How files begin that are read as something else or not at all.
const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];
const GZIP: &[u8] = &[0x1F, 0x8B];
const ZIP: &[u8] = b"PK\x03\x04";
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];

/// A file that is read up to the bound.
pub(super) type Source = BufReader<std::io::Take<Box<dyn Read>>>;

/// Most bytes of the beginning, of which the kind of the file is told.
const HEAD: u64 = 64 << 10;

/// What files are that no capture is read from, and how they become one.
const ZIPPED: &str = "a ZIP archive: take the HAR file out of it, as with unzip -p FILE '*.har' > \
                      capture.har";
const COMPRESSED: &str = "compressed by zstd: inflate it, as with zstd -d FILE -o capture.har";
const UTF_16: &str = "UTF-16, and HAR is UTF-8: convert it, as with iconv -f UTF-16 -t UTF-8 FILE > \
                      capture.har";

/// Opens a capture. Beside it are the first bytes, which the source has too.
///
/// # Errors
/// With the file and a remedy.
pub(super) fn open(path: &Path) -> Result<(Vec<u8>, Source), ImportError> {
    let named = || path.to_owned();
    let unread = |source| ImportError::Unread {
        path: named(),
        source,
    };
    let file = File::open(path).map_err(unread)?;
    if file.metadata().map_err(unread)?.is_dir() {
        return Err(ImportError::kind(path, "a folder: name the file in it"));
    }
    let (head, whole) = peek(Box::new(file)).map_err(unread)?;
    let is_utf_16 = head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]);
    let mut whole = match head {
        head if head.starts_with(GZIP) => {
            let inflated: Box<dyn Read> = Box::new(MultiGzDecoder::new(BufReader::new(whole)));
            let inflated = peek(inflated).map_err(|source| ImportError::Uninflated {
                path: named(),
                source,
            })?;
            inflated.1
        }
        head if head.starts_with(ZIP) => return Err(ImportError::kind(path, ZIPPED)),
        head if head.starts_with(ZSTD) => return Err(ImportError::kind(path, COMPRESSED)),
        _ if is_utf_16 => return Err(ImportError::kind(path, UTF_16)),
        _ => whole,
    };
    let mut head = Vec::new();
    let read = whole.by_ref().take(HEAD).read_to_end(&mut head);
    read.map_err(|source| ImportError::Broken {
        path: named(),
        source,
    })?;
    let again: Box<dyn Read> = Box::new(std::io::Cursor::new(head.clone()).chain(whole));
    Ok((head, BufReader::new(again.take(MOST_BYTES + 1))))
}

/// The source of what a test wrote.
#[cfg(test)]
pub(super) fn of_bytes(bytes: Vec<u8>) -> Source {
    let whole: Box<dyn Read> = Box::new(std::io::Cursor::new(bytes));
    BufReader::new(whole.take(MOST_BYTES + 1))
}

/// True where more was there than is read.
pub(super) fn is_cut(source: Source) -> bool {
    source.into_inner().limit() == 0
}

/// The first bytes, and all bytes but those of a byte order mark.
fn peek(mut from: Box<dyn Read>) -> std::io::Result<(Vec<u8>, Box<dyn Read>)> {
    let mut head = Vec::new();
    from.by_ref().take(4).read_to_end(&mut head)?;
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head).to_vec();
    Ok((head, Box::new(std::io::Cursor::new(text).chain(from))))
}
