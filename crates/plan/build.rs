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
    let mut list = format!("static FILES: [BuiltIn; {}] = [\n", files.len());
    for file in files {
        let name = file.file_stem().ok_or("a file has no name")?;
        writeln!(list, "    BuiltIn::new({name:?}, include_str!({file:?})),")?;
    }
    list.push_str("];\n");
    let out = PathBuf::from(env::var("OUT_DIR")?).join("dialects.rs");
    Ok(fs::write(out, list)?)
}
