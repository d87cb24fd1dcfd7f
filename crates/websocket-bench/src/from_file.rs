//! The plan of `run`: a file, every `--set` over it, the URL and what flags say of messages and
//! connections over both.

use crate::args::RunArgs;
use crate::draft::{Draft, fill_path};
use crate::refused::Refused;
use crate::secrets;
use plan::Dialect;
use plan_file::{PlanFile, PlanFileError};
use std::path::Path;

/// The plan of `run`.
///
/// # Errors
/// When the file cannot be read, or something in it or over it is no plan.
pub(crate) fn draft(args: &RunArgs) -> Result<Draft, Refused> {
    let is_stdin = args.plan == Path::new("-");
    if !is_stdin && !args.plan.exists() && secrets::are_given(std::env::args()) {
        return Err(Refused::NoPlan);
    }
    let mut file = PlanFile::read(&args.plan)?;
    for set in &args.set {
        file.set(set)?;
    }
    if let Some(url) = &args.url {
        file.put(&["target", "url"], url)?;
    }
    if args.format.is_given() {
        // A file that the plan names is not read then.
        file.put(&["message", "dialect"], Dialect::Text.name())?;
    }
    let mut plan = file.plan()?;
    if plan.target.url.is_empty() {
        return Err(Refused::NoServer(file.name().to_owned()));
    }
    args.handshake.apply(&mut plan)?;
    args.format.apply(&mut plan.message)?;
    args.tls.apply(&mut plan, args.handshake.sni.as_ref())?;
    if args.origin.is_some() {
        plan.connection.origin.clone_from(&args.origin);
    }
    let notes = fill_path(&mut plan).into_iter().collect();
    plan.validate()
        .map_err(|error| file.at(error.field(), error.to_string()))?;
    ws_load::check_message(&plan)
        .map_err(|error| file.at(message_key(&file), error.to_string()))?;
    ws_load::check_url(&plan)?;
    let given = file.given(&plan);
    Ok(Draft { plan, given, notes })
}

/// Where the plan's messages are defined.
fn message_key(file: &PlanFile) -> &'static str {
    match file.dialect_file() {
        Some(_) => "message.dialect",
        None => "message.definition",
    }
}

/// The TOML file of a draft, without its secrets.
///
/// # Errors
/// When a number is larger than those of TOML.
pub(crate) fn printed(draft: &Draft) -> Result<String, PlanFileError> {
    plan_file::printed(&draft.plan.redacted(), draft.given)
}
