//! The manifest as it is written: keys, types and where they stand in the file.
//!
//! Does not check what the values mean; `check` does. The keys are documented in
//! docs/adding-a-server.md.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

pub(super) type Env = BTreeMap<String, Spanned<String>>;
pub(super) type Words = Spanned<Vec<Spanned<String>>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Manifest {
    pub(super) manifest: Spanned<u32>,
    pub(super) name: Spanned<String>,
    pub(super) language: String,
    pub(super) library: String,
    pub(super) homepage: String,
    pub(super) class: super::Class,
    pub(super) role: Option<super::Role>,
    #[serde(default)]
    pub(super) in_2016: Vec<String>,
    pub(super) summary: String,
    pub(super) json: Option<Spanned<record::JsonReading>>,
    pub(super) released: Option<Spanned<u32>>,
    pub(super) old_because: Option<Spanned<String>>,
    pub(super) quick_seconds: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) requires: Vec<Requirement>,
    #[serde(default)]
    pub(super) build: Vec<Step>,
    pub(super) run: Run,
    pub(super) version: Version,
    pub(super) runtime: Option<Runtime>,
    pub(super) supports: Supports,
    #[serde(default)]
    pub(super) variant: Vec<Variant>,
    #[serde(default)]
    pub(super) service: Vec<Service>,
    pub(super) raw_echo: Option<Spanned<RawEcho>>,
    pub(super) load: Option<Load>,
    #[serde(default)]
    pub(super) waiver: Vec<Waiver>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Requirement {
    pub(super) what: Spanned<String>,
    pub(super) variants: Option<Words>,
    pub(super) probe: Words,
    pub(super) matches: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) debian: Vec<Spanned<String>>,
    pub(super) remedy: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Step {
    pub(super) run: Words,
    pub(super) variants: Option<Words>,
    #[serde(default)]
    pub(super) env: Env,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Run {
    pub(super) command: Words,
    #[serde(default)]
    pub(super) env: Env,
    pub(super) path: Spanned<String>,
    pub(super) ready_timeout: Option<Spanned<String>>,
    pub(super) grace: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Version {
    pub(super) command: Words,
    pub(super) matches: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Runtime {
    pub(super) name: Spanned<String>,
    pub(super) command: Option<Words>,
    pub(super) matches: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Supports {
    pub(super) dialects: Spanned<Vec<super::Dialect>>,
    pub(super) workloads: Spanned<Vec<super::Workload>>,
    #[serde(default)]
    pub(super) compression: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Variant {
    pub(super) name: Spanned<String>,
    pub(super) summary: Option<String>,
    pub(super) args: Option<Words>,
    pub(super) command: Option<Words>,
    #[serde(default)]
    pub(super) env: Env,
    #[serde(default)]
    pub(super) multi_process: bool,
    pub(super) path: Option<Spanned<String>>,
    pub(super) dialects: Option<Spanned<Vec<super::Dialect>>>,
    pub(super) workloads: Option<Spanned<Vec<super::Workload>>>,
    pub(super) compression: Option<bool>,
    #[serde(default)]
    pub(super) tls: bool,
    pub(super) nodes: Option<Spanned<u32>>,
    pub(super) claim: Option<record::Claim>,
    pub(super) version: Option<Version>,
    pub(super) runtime: Option<Runtime>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Service {
    pub(super) name: Spanned<String>,
    pub(super) variants: Option<Words>,
    pub(super) command: Words,
    pub(super) ready_timeout: Option<Spanned<String>>,
    pub(super) version: Option<Version>,
    #[serde(default)]
    pub(super) broker: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawEcho {
    pub(super) args: Option<Words>,
    pub(super) command: Option<Words>,
    pub(super) path: Option<Spanned<String>>,
    pub(super) variants: Option<Words>,
    pub(super) none: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Load {
    pub(super) step_size: Spanned<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Waiver {
    pub(super) check: Spanned<String>,
    pub(super) variants: Option<Words>,
    pub(super) reason: Spanned<String>,
    #[serde(default)]
    pub(super) sometimes: bool,
    pub(super) link: Option<String>,
    pub(super) date: Option<Spanned<String>>,
}
