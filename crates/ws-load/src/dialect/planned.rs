//! The dialect of a plan: whether it has what the plan asks for, and its codec.

use super::carried::{check_padding, check_quotes};
use super::interpreter::{Interpreter, check_dialect};
use super::payload::Body;
use super::{Codec, DialectError, Stamps, binary, built_in, bytes, http, mqtt, requirements};
use crate::lines::{Lines, LinesError};
use plan::{Life, Measure, Plan, Population, Workload};
use std::path::Path;
use std::sync::Arc;

/// Checks that the requests of a plan can be written in its dialect, and their answers understood.
///
/// # Errors
/// What makes no sense in the plan's own dialect file, or that it has no such request.
pub fn check_message(plan: &Plan) -> Result<(), DialectError> {
    let built_in = built_in::file(plan.message.dialect, &plan.target.url);
    let Some(file) = plan.message.definition.as_deref().or(built_in) else {
        return Ok(());
    };
    check_dialect(file)?;
    http::check_plan(plan, file)?;
    bytes::check_lengths(file, plan.message.longest_padding() as usize)?;
    let file = &*file.outlined();
    let (has_request, name) = match plan.workload() {
        Workload::Echo => (file.echoes().next().is_some(), "echo"),
        Workload::Broadcast => (file.broadcast().is_some(), "broadcast"),
        Workload::Rooms => (file.publication().is_some(), "publish"),
        Workload::Connect => return Ok(()),
    };
    let needs_result = plan.workload() != Workload::Echo && plan.limits.of == Measure::Ack;
    if needs_result && !file.send.is_acknowledged() {
        return Err(DialectError::unfit(
            requirements::silencing(file),
            "is false: there are no results, whose time the plan limits",
            "limit the completion or the delivery",
        ));
    }
    let (after, time_out) = (file.open.ready_after, plan.connection.timeout);
    if let Some(after) = after.filter(|after| *after >= time_out) {
        return Err(DialectError::unfit(
            "open.ready_after",
            format!("is {after}, and connection.timeout gives a client {time_out} to be ready"),
            "write a shorter time, or a longer connection.timeout",
        ));
    }
    let changes_room = |of: &Population| matches!(of.life, Life::ChangesRoom(_));
    if plan.populations.iter().any(changes_room) && file.send.unsubscribe.is_none() {
        return Err(DialectError::unfit(
            "send",
            "has no `unsubscribe`, which clients need that change rooms",
            "write `unsubscribe` and rules for the answers to it and to `subscribe`, or leave \
             populations.life.changes_room out",
        ));
    }
    if plan.message.lines.is_some() {
        file.requests().try_for_each(check_quotes)?;
    }
    if plan.workload() == Workload::Echo {
        check_padding(&plan.message, file)?;
    }
    match has_request {
        true => Ok(()),
        false if !plan.message.has_own_definition() => Err(DialectError::unfit(
            "message.dialect",
            format!("is `{}`, which has no `{name}`", file.name),
            "ask for what it has (docs/dialects.md lists it), or take another",
        )),
        false => Err(DialectError::unfit(
            "send",
            format!(
                "has no `{name}`, which the plan asks for, in the dialect `{}`",
                file.name
            ),
            format!(
                "write `{name}` and rules for its answers, or another `audience` into the plan"
            ),
        )),
    }
}

/// Reads the lines that a plan names, and checks that answers with each can be understood.
///
/// # Errors
/// [`LinesError`] with the line.
pub fn payload_lines(plan: &Plan) -> Result<Option<u64>, LinesError> {
    let Some(lines) = Lines::new(plan)? else {
        return Ok(None);
    };
    let count = lines.count() as u64;
    let built_in = built_in::file(plan.message.dialect, &plan.target.url);
    if let Some(file) = plan.message.definition.as_deref().or(built_in) {
        let longest = lines.longest() as usize;
        let body = Body::from_message(&plan.message, Some(Arc::new(lines)));
        let stamps = Stamps::of_run(plan.generator.seed);
        let path = plan.message.lines.as_deref().unwrap_or(Path::new(""));
        let unfit = |line, error: DialectError| {
            let words = format!("{error}, with this line; remove it, or change the rule");
            LinesError::new(path, line, words)
        };
        let compiled = bytes::check_lengths(file, longest)
            .and_then(|()| Interpreter::compile(file, body, &plan.target.url, stamps))
            .map_err(|error| unfit(None, error))?;
        compiled
            .prove_lines(file)
            .map_err(|(number, error)| unfit(Some(number as usize + 1), error))?;
    }
    Ok(Some(count))
}

/// The codec of a plan.
///
/// # Panics
/// When [`check_message`] refuses the plan.
pub(crate) fn codec(plan: &Plan, lines: Option<Arc<Lines>>) -> Arc<dyn Codec> {
    made(plan, lines, |compiled| compiled.only(plan.workload()))
}

/// The same with the requests of all workloads.
#[cfg(test)]
pub(crate) fn codec_of_all(plan: &Plan) -> Arc<dyn Codec> {
    made(plan, None, |compiled| compiled)
}

fn made(
    plan: &Plan,
    lines: Option<Arc<Lines>>,
    of_file: impl Fn(Interpreter) -> Interpreter,
) -> Arc<dyn Codec> {
    let terms = mqtt::Terms::new(&plan.message, lines.as_deref());
    let body = Body::from_message(&plan.message, lines);
    let built_in = built_in::file(plan.message.dialect, &plan.target.url);
    let Some(file) = plan.message.definition.as_deref().or(built_in) else {
        return match mqtt::Version::new(plan.message.dialect) {
            Some(version) => Arc::new(mqtt::Mqtt::new(version, plan.workload(), body, terms)),
            None => Arc::new(binary::Binary::new(body)),
        };
    };
    let stamps = Stamps::of_run(plan.generator.seed);
    let compiled = Interpreter::compile(file, body, &plan.target.url, stamps);
    let compiled = compiled.expect("the file was checked");
    Arc::new(of_file(compiled))
}
