//! Lists the files of `dialects/`, so that a dialect is added by adding its file.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dialects");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path().canonicalize()?;
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    files.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    let mut list = String::from("[\n");
    for file in files {
        writeln!(list, "    include_str!({file:?}),")?;
    }
    list.push(']');
    let out = PathBuf::from(env::var("OUT_DIR")?).join("dialects.rs");
    Ok(fs::write(out, list)?)
}
