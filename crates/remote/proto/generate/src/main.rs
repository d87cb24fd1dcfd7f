//! Writes the messages and services of `remote.proto` as Rust. With `--check` it compares in place of
//! writing, and ends with 1 when they differ.

use sha1::{Digest as _, Sha1};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = folder.join("remote.rs");
    let generated = generated(&folder)?;
    if env::args().nth(1).as_deref() != Some("--check") {
        return Ok(fs::write(target, generated)?);
    }
    if fs::read_to_string(&target)? != generated {
        return Err("remote.rs is not what remote.proto gives; run this program without --check".into());
    }
    Ok(())
}

fn generated(folder: &Path) -> Result<String, Box<dyn Error>> {
    let source = fs::read(folder.join("remote.proto"))?;
    let files = protox::compile(["remote.proto"], [folder])?;
    let out = env::temp_dir().join(format!("remote-{}", std::process::id()));
    fs::create_dir_all(&out)?;
    tonic_prost_build::configure()
        .out_dir(&out)
        .compile_fds(files)?;
    let code = fs::read_to_string(out.join("websocket_bench.v1.rs"))?;
    fs::remove_dir_all(&out)?;
    Ok(format!("// SHA-1 of remote.proto: {:x}\n{code}", Sha1::digest(source)))
}
