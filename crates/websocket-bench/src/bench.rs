//! One run: plan, outputs, load generator, record, exit code.

use crate::args::{Output, Sites};
use crate::distributed;
use crate::draft::Planned;
use crate::exit::Exit;
use crate::flags::Flags;
use crate::output::{Outputs, Records};
use crate::secrets;
use plan::Plan;
use record::{
    End, Environment, Event, FileLimit, Outcome, PayloadLines, RUN_FORMAT, RunRecord, Tool, VERSION,
};
use remote::RemoteError;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::error::Error;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;
use ws_load::cluster;

/// Carries out a plan, with the outputs that the arguments name.
///
/// # Errors
/// In words, when nothing could be measured or an output cannot be written.
pub(crate) fn bench(
    planned: Planned,
    sites: &Sites,
    output: &Output,
    flags: &Flags,
) -> Result<Exit, Box<dyn Error>> {
    let Planned {
        plan,
        io,
        lacks_stamps,
        threads_given,
    } = planned;
    plan.validate()?;
    ws_load::check_message(&plan)?;
    let shown = plan.redacted();
    let plan = secrets::filled_in(&plan)?;
    let payload_lines = payload_lines(&plan)?;
    let interrupted = catch_signals()?;
    FileLimit::raise();
    let mut record = RunRecord {
        format: RUN_FORMAT.to_owned(),
        version: VERSION,
        tool: tool(),
        started: now(),
        ended: now(),
        command: secrets::shown_command(std::env::args()),
        unchecked: plan.unchecked().map(Into::into),
        payload_lines,
        plan: shown,
        environment: Environment::collect(),
        warm_up: None,
        steps: Vec::new(),
        outcome: Outcome {
            end: End::Interrupted,
            detail: "the program was ended before the run had ended".into(),
            carried_clients: None,
            edge: None,
            unmeasured: Vec::new(),
        },
        server: None,
    };
    let records = Records::new(output, &record)?;
    let mut outputs = Outputs::new(output, &record.plan, flags)?;
    if lacks_stamps {
        outputs.no_kernel_stamps();
    }
    outputs.io(&io);
    ws_load::cluster::check_sites(&plan, sites.count())?;
    let gathered = distributed::gather(sites, threads_given, &plan, &interrupted);
    if let Err(RemoteError::Interrupted) = gathered {
        writeln!(
            io::stderr(),
            "websocket-bench: {}",
            RemoteError::Interrupted
        )?;
        return Ok(Exit::Interrupted);
    }
    let gathered = gathered?;
    let mut trouble: Option<io::Error> = None;
    let kept = records.has_file() || output.events.as_deref().is_some_and(is_file);
    let mut on_event = |event: &Event| {
        let ended;
        let event = match event {
            Event::End { outcome } if !kept => {
                let outcome = told(outcome.clone(), trouble.as_ref());
                ended = Event::End { outcome };
                &ended
            }
            other => other,
        };
        if let Event::WarmedUp { warm_up } = event {
            record.warm_up = Some(warm_up.clone());
        }
        if let Event::Step { record: step, .. } = event {
            record.steps.push((**step).clone());
            record.outcome.carried_clients = RunRecord::carried(&record.steps);
            record.ended = now();
            records.save(&record);
        }
        if let Err(error) = outputs.event(event) {
            trouble.get_or_insert(error);
            // The reader closed stdout, as `| head` does, and no record is kept.
            if !kept {
                interrupted.store(true, Ordering::Relaxed);
            }
        }
    };
    let measured = match gathered {
        None => {
            let ceiling = selftest::known_ceiling(&plan);
            ws_load::run_with_ceiling(&plan, ceiling, &interrupted, &mut on_event)
        }
        Some(gathered) => {
            let (sites, reports) = (gathered.sites, gathered.reports);
            // A ceiling is known of one process on this machine, and not of several.
            let done = cluster::run_on(&plan, sites, reports, None, &interrupted, &mut on_event);
            gathered.hub.stop();
            done
        }
    };
    outputs.finish();
    let measured = measured?;
    record.server = measured.server;
    record.outcome = if kept {
        measured.outcome
    } else {
        told(measured.outcome, trouble.as_ref())
    };
    record.ended = now();
    let saved = records.finish(&record);
    outputs.summary(&record);
    if let Err(error) = records.print(&record) {
        trouble.get_or_insert(error);
    }
    outputs.hand_over(&interrupted);
    saved?;
    if let Some(error) = &trouble
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        let exit = match Exit::new(&record) {
            Exit::Interrupted => Exit::Closed,
            other => other,
        };
        return Ok(outputs.expectations(&record, exit).or_closed());
    }
    if let Some(error) = trouble {
        return Err(format!("an output could not be written in full: {error}").into());
    }
    Ok(outputs.expectations(&record, Exit::new(&record)))
}

/// What a record says of the file of a plan's payload lines, which can be used.
///
/// # Errors
/// In words, when it cannot.
fn payload_lines(plan: &Plan) -> Result<Option<PayloadLines>, Box<dyn Error>> {
    let unfit = |words: String| format!("the payload lines {words}");
    let count = ws_load::payload_lines(plan).map_err(|error| unfit(error.to_string()))?;
    let (Some(lines), Some(path)) = (count, &plan.message.lines) else {
        return Ok(None);
    };
    let cannot = |error: io::Error| unfit(format!("{}: {error}", path.display()));
    let name = path.file_name().unwrap_or(path.as_os_str());
    let digest = remote::digest(path).map_err(cannot)?;
    Ok(Some(PayloadLines {
        file: name.to_string_lossy().into_owned(),
        lines,
        bytes: std::fs::metadata(path).map_err(cannot)?.len(),
        sha1: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    }))
}

/// How a run ended that is kept nowhere: when its output takes no more it is ended by the same flag
/// as by an interrupt.
fn told(mut outcome: Outcome, trouble: Option<&io::Error>) -> Outcome {
    if let Some(error) = trouble.filter(|_| outcome.end == End::Interrupted) {
        outcome.detail = match error.kind() {
            io::ErrorKind::BrokenPipe => {
                "the reader of stdout closed it, and there is no record; give --json FILE to keep the result"
                    .into()
            }
            _ => format!("an output could not be written: {error}").into(),
        };
    }
    outcome
}

fn is_file(path: &Path) -> bool {
    path != Path::new("-")
}

/// The first signal asks a run to end, the second ends the process.
pub(crate) fn catch_signals() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&interrupted))?;
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    Ok(interrupted)
}

/// This program, as records name it.
pub(crate) fn tool() -> Tool {
    Tool {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// The time of day, as records hold it.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
