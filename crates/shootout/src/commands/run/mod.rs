//! `shootout run`: measures every row, writes each as it is done, and ranks them.
//!
//! A row's failure ends only that row. What is done with a server is in `measure`; here are the
//! order of things, what is stored, and what the user is told.

mod announce;
mod turns;

use super::report::autobahn_summaries;
use super::{Context, setup};
use crate::cli::RunArgs;
use crate::exit::Exit;
use crate::generator;
use crate::machine::{self, Capacity};
use crate::measure::{Bench, asked, not_applicable};
use crate::network::Link;
use crate::options::{RunOptions, differences};
use crate::process::shortened;
use crate::progress::{Progress, milliseconds};
use crate::quick;
use crate::rows::{self, Row, Rows, Ways};
use crate::session::{Origin, Session};
use board::records::MOST_FILES;
use board::report;
use board::report::cost;
use board::terminal::one_line;
use plan::RankedBy;
use project::workload::Schedule;
use project::{Refusal, ServerFolder};
use record::{Environment, Measurement, Status};
use run_page::figures;
use std::path::{Path, PathBuf};
use turns::Turns;

pub(super) fn run(context: &Context<'_>, args: &RunArgs) -> Result<Exit, Refusal> {
    let mut session = session(context, args)?;
    let options = session.options.clone();
    let options = &options;
    let generator = generator_program(context, args)?;
    let mut entries = context.project.select(&options.servers)?;
    let all = entries.len();
    let is_look_around = options.quick && options.servers.is_empty();
    if is_look_around {
        let is_asked = |entry: &ServerFolder| match &entry.manifest {
            Ok(manifest) => options.workloads.iter().any(|one| one.is_for(manifest)),
            Err(_) => true,
        };
        entries.retain(is_asked);
        entries = quick::one_of_each_language(entries);
    }
    let ways = Ways::new(options, |name| context.project.proxy(name))?;
    let mut rows = rows::plan(&entries, &ways, options)?;
    rows.other_servers = all - entries.len();
    let rows = rows;
    refuse_too_many(rows.rows.len() + rows.unfit.len())?;
    let environment = Environment::collect();
    let cores = machine::cores(&options.pin, &environment)?;
    let capacity = machine::capacity(&environment);
    let smallest = rows
        .rows
        .iter()
        .map(|row| row.schedule().initial_clients)
        .min()
        .unwrap_or_default();
    if u64::from(smallest) > capacity.clients {
        return Err(Refusal::new(format!(
            "this machine holds {} clients, fewer than the {smallest} of the first step: {}; or \
             take fewer with --set clients.first=N",
            capacity.clients, capacity.limit
        )));
    }
    if let Some(network) = &options.network {
        // Tried before anything is built; each row has one of its own.
        Link::new(network, &[]).map_err(|error| Refusal::new(format!("--network: {error}")))?;
    }
    let origin = Origin::now(&rows.rows, &generator, &environment.kernel);
    session.store(&context.project, &rows.rows, origin)?;
    announce::plan(&context.project, &session, &rows, &cores, &capacity);
    if !args.skip_build {
        setup::install_proxies(context, &rows.rows, args.yes)?;
    }
    let turns = if is_look_around {
        Turns::quick(context, args, &rows.rows)?
    } else {
        Turns::full(context, args, &rows.rows)?
    };
    let bench = Bench::new(
        &context.project,
        &rows.rows,
        (&cores, &capacity),
        generator,
        (session.dir.clone(), session.logs()),
        context.interrupt,
    )
    .skip_build(args.skip_build)
    .undisturbed(args.undisturbed)
    .check_again(args.check_again)
    .over(options.network.as_ref());
    let mut measured = without_measuring(context, &session, &rows);
    measured.extend(measure_all(context, &session, bench, turns));
    conclude(context, &session, &rows, &measured)
}

/// The run to continue, or a new one that is not on disk yet.
fn session(context: &Context<'_>, args: &RunArgs) -> Result<Session, Refusal> {
    let Some(dir) = &args.resume else {
        let options = args.options(&context.project.workloads())?;
        return Session::create(&context.project, args.out.as_deref(), options);
    };
    let session = Session::open(&context.project, dir.as_deref())?;
    let given = args.over(session.options.clone(), &context.project.workloads())?;
    let differences = differences(&session.options, &given);
    if !differences.is_empty() {
        return Err(Refusal::new(format!(
            "{}: cannot resume with other options: {}; leave them out, or start a new run",
            context.project.shown(&session.dir),
            differences.join("; ")
        )));
    }
    Ok(session)
}

/// Refuses a run whose directory could not be read when it is complete.
fn refuse_too_many(records: usize) -> Result<(), Refusal> {
    if records <= MOST_FILES {
        return Ok(());
    }
    Err(Refusal::new(format!(
        "this run would write {records} records into one directory, and the report, check and site read \
         {MOST_FILES} at most: make several runs of it, for example one of each workload, each with \
         an --out of its own"
    )))
}

fn generator_program(context: &Context<'_>, args: &RunArgs) -> Result<PathBuf, Refusal> {
    let program = args
        .generator
        .clone()
        .unwrap_or_else(|| context.project.bin().join(generator::PROGRAM));
    if !program.is_file() {
        return Err(Refusal::new(format!(
            "{}: the load generator is missing; run the project's ./shootout script, or make",
            context.project.shown(&program)
        )));
    }
    Ok(program)
}

/// The records of rows that are not to be measured, written.
fn without_measuring(context: &Context<'_>, session: &Session, rows: &Rows) -> Vec<Measurement> {
    let unfit = rows.unfit.iter().map(|(row, reason)| {
        let measurement = Measurement {
            network: session.options.network.as_ref().map(asked),
            ..not_applicable(row, reason)
        };
        let name = row.file_name();
        if let Err(error) = session.write(&name, &measurement) {
            let dir = context.project.shown(&session.dir);
            anstream::eprintln!("{dir}: cannot write {name}.json: {error}");
        }
        measurement
    });
    unfit.collect()
}

fn measure_all(
    context: &Context<'_>,
    session: &Session,
    mut bench: Bench<'_>,
    mut turns: Turns<'_>,
) -> Vec<Measurement> {
    let rows = turns.all.len();
    let progress = Progress::new(rows);
    let mut measured = Vec::new();
    let mut no_time = Vec::new();
    for index in 0..rows {
        let turn = &turns.all[index];
        let row = turn.row;
        let name = row.file_name();
        if let Some(kept) = session.finished(&name) {
            progress.line(&format!("{}: kept, {}", row.label(), told(&kept)));
            measured.push(kept);
            continue;
        }
        if context.interrupt.requested() {
            break;
        }
        if !turns.admits(turn, measured.len()) {
            no_time.push(row.label());
            continue;
        }
        progress.begin(index + 1, &row.label());
        turn.install(context);
        let measurement = bench.measure(row, &progress);
        progress.end(&told(&measurement));
        if let Err(error) = session.write(&name, &measurement) {
            progress.line(&format!(
                "{}: cannot write {name}.json: {error}",
                context.project.shown(&session.dir)
            ));
        }
        measured.push(measurement);
        if turns.table_is_due(index + 1) {
            progress.line(&format!(
                "\nso far:\n{}",
                report::text::table(&measured).trim_end()
            ));
        }
    }
    progress.finish();
    let passed_before = bench.passed_before();
    if !passed_before.is_empty() {
        anstream::eprintln!(
            "not checked again, passed within the last week as they are now: {}; --check-again checks them",
            announce::few(&passed_before)
        );
    }
    if !no_time.is_empty() {
        anstream::eprintln!(
            "not measured, --quick ends after ten minutes: {}; go on with: shootout run --resume {}",
            no_time.join(", "),
            context.project.shown(&session.dir)
        );
    }
    measured
}

/// Letters of a reason that are shown in the line of a row; the table at the end has it all.
const REASON_LETTERS: usize = 160;

/// The result of one row in a line.
fn told(measurement: &Measurement) -> String {
    let Some(run) = measurement
        .run
        .as_ref()
        .filter(|_| measurement.status == Status::Ok)
    else {
        let reason = measurement.reason.as_deref().unwrap_or("no reason given");
        let status = measurement.status.name();
        let reason = reason.replace('\n', " ");
        return format!("{status}: {}", shortened(&reason, REASON_LETTERS));
    };
    let Some(carried) = run.outcome.carried_clients else {
        return format!("carries fewer than {} clients", run.plan.clients_at(0));
    };
    let last = run.steps.iter().rfind(|step| step.clients == carried);
    let latency = last
        .and_then(|step| step.limited_ns)
        .map(|ns| format!(", p{} {}", run.plan.limits.percentile, milliseconds(ns)))
        .unwrap_or_default();
    let cost = run
        .plan
        .ranked_by
        .and_then(|RankedBy::Cost| cost(measurement));
    let cost = cost.map_or_else(String::new, |ns| {
        format!("{} a message, ", figures::time(ns))
    });
    format!("{cost}{carried} clients{latency}; {}", run.outcome.detail)
}

fn conclude(
    context: &Context<'_>,
    session: &Session,
    rows: &Rows,
    measured: &[Measurement],
) -> Result<Exit, Refusal> {
    let project = &context.project;
    if !measured.is_empty() {
        say!("\n{}", report::text::table(measured));
        write_report(context, &session.dir)?;
    }
    let shown = project.shown(&session.dir);
    say!("measurements: {shown}/");
    if context.interrupt.requested() {
        let left = unfinished(session, &rows.rows);
        say!(
            "interrupted, {left} of {} rows are left; continue with: shootout run --resume {shown}",
            rows.rows.len()
        );
        return Ok(Exit::Interrupted);
    }
    // Without named servers the run is of what can be built on this machine: what cannot be is
    // reported, and is no failure.
    let all = session.options.servers.is_empty();
    let is_valid = |m: &Measurement| match m.status {
        Status::Ok | Status::NotApplicable => true,
        Status::MissingToolchain => all,
        // The clients carried before the generator was the limit are a lower bound.
        Status::GeneratorLimited => {
            let outcome = m.run.as_ref().map(|run| &run.outcome);
            outcome.is_some_and(|outcome| outcome.carried_clients.is_some())
        }
        _ => false,
    };
    Ok(if measured.iter().all(is_valid) {
        Exit::Ok
    } else {
        Exit::Invalid
    })
}

fn write_report(context: &Context<'_>, dir: &Path) -> Result<(), Refusal> {
    let (html, markdown) = (dir.join("report.html"), dir.join("report.md"));
    let summary = report::write(
        &[dir.to_owned()],
        &autobahn_summaries(&context.project),
        &html,
        &markdown,
    )
    .map_err(|error| Refusal::new(error.to_string()))?;
    for warning in &summary.warnings {
        anstream::eprintln!("shootout: {warning}");
    }
    let project = &context.project;
    say!(
        "report: {}, {}",
        project.shown(&html),
        project.shown(&markdown)
    );
    Ok(())
}

fn unfinished(session: &Session, rows: &[Row]) -> usize {
    rows.iter()
        .filter(|row| session.finished(&row.file_name()).is_none())
        .count()
}

/// What the options leave out of the full measurement; empty when nothing.
fn left_out(options: &RunOptions, rows: &Rows, capacity: &Capacity) -> Vec<String> {
    let mut words = Vec::new();
    match rows.other_servers {
        0 => {}
        1 => words.push("1 further server of a language".to_owned()),
        n => words.push(format!("{n} further servers of these languages")),
    }
    if !rows.other_variants.is_empty() {
        words.push(format!("variants {}", rows.other_variants.join(", ")));
    }
    words.extend(options.workloads.iter().filter_map(|workload| {
        let asked = workload.schedule(None);
        let full = Schedule {
            total_steps: None,
            ..asked
        };
        let last = |schedule: Schedule| schedule.within(capacity.clients).last_clients();
        let is_less = workload.is_shortened() && last(asked) < last(full);
        let of = match options.workloads.len() {
            1 => String::new(),
            _ => format!(" of {}", one_line(&workload.name)),
        };
        is_less.then(|| {
            format!(
                "steps{of} above {} clients (full: up to {})",
                last(asked),
                last(full)
            )
        })
    }));
    words
}
