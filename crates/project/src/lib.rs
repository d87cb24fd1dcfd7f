//! What the folder of a project says of itself: its servers and proxies by their manifests, and its
//! workloads.
//!
//! Purpose: read these files, refuse what cannot work with the place where it stands, and hand out
//! what they mean. Starts no process, opens no connection, and knows no server by name.

#![forbid(unsafe_code)]

mod folder;
mod leaves;
pub mod manifest;
mod names;
mod refusal;
pub mod workload;

pub use folder::{LOCAL, Project, ProxyFolder, ServerFolder};
pub use leaves::leaves;
pub use names::{
    NO_PROXY, contestant, contestants, folder_of, in_results, through, variant_behind,
};
pub use refusal::Refusal;
