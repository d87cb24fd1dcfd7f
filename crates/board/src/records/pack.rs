//! Records made small for a repository, without a loss.

use super::{PACKED, Record, beside, name, parse, text};
use plan::Plan;
use record::MEASUREMENT_FORMAT;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use toml::Table;
use zopfli::{Format, Options};

/// How the name of a row's plan ends, which begins like that of its record.
const PLAN: &str = "plan.toml";
/// Passes over a record. More of them take longer and gain a thousandth of its bytes.
const PASSES: u64 = 1;

/// What was made small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// Files.
    pub files: usize,
    /// Their bytes before.
    pub before: u64,
    /// Their bytes now.
    pub after: u64,
    /// Plans of rows that their records repeat, and that are removed.
    pub plans: usize,
}

/// Packs each record of a directory that is not packed yet, and the certificate with them. A file is
/// removed when what was packed has been read back and is the same. The plan of a row is removed when
/// its record has the same. `goes_on` is told the number of each record, from 0, and of all.
///
/// # Errors
/// When a file cannot be read or written, or `goes_on` is false. What was packed until then stays so.
pub fn pack(dir: &Path, mut goes_on: impl FnMut(usize, usize) -> bool) -> io::Result<Packed> {
    let mut packed = Packed::default();
    let files = super::files(dir)?;
    let all = files.len();
    for (number, path) in files.into_iter().enumerate() {
        if !goes_on(number, all) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let plan = path.with_file_name(name(&path)).with_extension(PLAN);
        if plan.exists() && is_repeated(&plan, &text(&path)?)? {
            fs::remove_file(&plan)?;
            packed.plans += 1;
        }
        if name(&path) != path.file_name().unwrap_or_default().to_string_lossy() {
            continue;
        }
        let plain = beside(&path)?.into_bytes();
        let after = written(&path, &plain)?;
        if text(&after)?.as_bytes() != plain {
            let words = format!("{}: does not read back as it was", after.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, words));
        }
        fs::remove_file(&path)?;
        packed.files += 1;
        packed.before += plain.len() as u64;
        packed.after += fs::metadata(&after)?.len();
    }
    Ok(packed)
}

/// Whether a record has the plan of this file. The address of the server is the record's, and so is
/// what the generator chose where the file says nothing.
fn is_repeated(plan: &Path, record: &str) -> io::Result<bool> {
    let Ok(Some(Record::Measurement(measured))) = parse(record, &[MEASUREMENT_FORMAT]) else {
        return Ok(false);
    };
    let written = beside(plan)?;
    let (table, written) = (
        toml::from_str::<Table>(&written),
        toml::from_str::<Plan>(&written),
    );
    let (Some(run), Ok(table), Ok(mut written)) = (&measured.run, table, written) else {
        return Ok(false);
    };
    let is_given = |key| {
        let generator = table.get("generator");
        generator.is_some_and(|generator| generator.get(key).is_some())
    };
    written.target.url.clone_from(&run.plan.target.url);
    if !is_given("io") {
        written.generator.io = run.plan.generator.io;
    }
    if !is_given("timestamps") {
        written.generator.timestamps = run.plan.generator.timestamps;
    }
    Ok(written == run.plan)
}

/// The packed file, under its name when it is complete. It depends on nothing but the bytes: no time
/// and no name stand in it.
fn written(path: &Path, plain: &[u8]) -> io::Result<PathBuf> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(PACKED);
    let target = path.with_file_name(&name);
    name.push(".tmp");
    let temporary = path.with_file_name(&name);
    let options = Options {
        iteration_count: PASSES.try_into().expect("it is not zero"),
        ..Options::default()
    };
    let mut out = File::create(&temporary)?;
    zopfli::compress(options, Format::Gzip, plain, &mut out)?;
    out.sync_all()?;
    fs::rename(&temporary, &target)?;
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, GzBuilder};
    use std::io::Write as _;

    fn in_a_directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    #[test]
    fn packed_records_are_read_as_they_were_and_other_files_stay() {
        let long = "0123456789".repeat(10_000);
        let dir = in_a_directory(&[
            ("a.json", &long),
            ("session.json", "{}"),
            ("report.md", "text"),
        ]);
        let packed = pack(dir.path(), |_, _| true).unwrap();
        assert_eq!((packed.files, packed.before), (1, 100_000));
        assert!(packed.after < 1_000, "{}", packed.after);
        let files = super::super::files(dir.path()).unwrap();
        assert_eq!(files, [dir.path().join("a.json.gz")]);
        assert_eq!(name(&files[0]), "a.json");
        assert_eq!(text(&files[0]).unwrap(), long);
        assert!(dir.path().join("session.json").exists());
        assert!(dir.path().join("report.md").exists());
        assert_eq!(pack(dir.path(), |_, _| true).unwrap(), Packed::default());
    }

    #[test]
    fn the_same_bytes_are_packed_to_the_same_bytes() {
        let of = |name: &str| {
            let dir = in_a_directory(&[(name, "{\"a\": 1}")]);
            pack(dir.path(), |_, _| true).unwrap();
            fs::read(dir.path().join(format!("{name}.gz"))).unwrap()
        };
        assert_eq!(of("a.json"), of("b.json"));
    }

    #[test]
    fn a_file_that_expands_without_end_and_one_that_is_cut_short_are_refused() {
        let dir = in_a_directory(&[]);
        let path = dir.path().join("a.json.gz");
        let mut out = GzBuilder::new().write(File::create(&path).unwrap(), Compression::best());
        let block = vec![b' '; 1 << 20];
        for _ in 0..17 {
            out.write_all(&block).unwrap();
        }
        out.finish().unwrap();
        assert!(fs::metadata(&path).unwrap().len() < 1 << 20);
        let refused = text(&path).unwrap_err().to_string();
        assert!(refused.contains("more than 16 MiB"), "{refused}");

        fs::write(dir.path().join("b.json"), "0123456789".repeat(100)).unwrap();
        pack(dir.path(), |_, _| true).unwrap();
        let whole = fs::read(dir.path().join("b.json.gz")).unwrap();
        fs::write(dir.path().join("b.json.gz"), &whole[..whole.len() / 2]).unwrap();
        text(&dir.path().join("b.json.gz")).unwrap_err();
    }
}
