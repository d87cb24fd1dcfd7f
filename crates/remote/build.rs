//! Generates the messages and services of `proto/remote.proto`, without protoc, and a fingerprint of
//! what they say: names, numbers and types, without comments and places.

use prost::Message as _;
use sha1::{Digest as _, Sha1};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto/remote.proto");
    let mut files = protox::compile(["remote.proto"], ["proto"])?;
    for file in &mut files.file {
        file.source_code_info = None;
    }
    let fingerprint = Sha1::digest(files.encode_to_vec());
    println!("cargo:rustc-env=CONVERSATION_FINGERPRINT={fingerprint:x}");
    tonic_prost_build::configure().compile_fds(files)?;
    Ok(())
}
