//! From arguments to a plan: defaults that depend on the machine, and flags that contradict.

use crate::args::{self, Arrivals, BroadcastLoad, Common, EchoLoad, Measure, Output, ServerType};
use run_record::{
    Dialect, Io, Limit, OpenLoop, Plan, Ramp, Search, SearchOf, Timeouts, Timestamps, Workload,
};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What one workload fixes of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    workload: Workload,
    concurrent: u32,
    sample_size: u32,
    measure: run_record::Measure,
    open: Option<OpenLoop>,
}

/// The load of `broadcast`.
pub(crate) fn broadcast(args: &BroadcastLoad) -> Load {
    Load {
        workload: Workload::Broadcast,
        concurrent: args.concurrent,
        sample_size: args.sample_size,
        measure: match args.measure {
            Measure::Completion => run_record::Measure::Completion,
            Measure::Delivery => run_record::Measure::Delivery,
            Measure::Ack => run_record::Measure::Ack,
        },
        open: open_loop(&args.open),
    }
}

/// The load of `echo`.
pub(crate) fn echo(args: &EchoLoad) -> Load {
    Load {
        workload: Workload::Echo,
        concurrent: args.concurrent,
        sample_size: args.sample_size,
        measure: run_record::Measure::Completion,
        open: open_loop(&args.open),
    }
}

fn open_loop(args: &args::OpenLoop) -> Option<OpenLoop> {
    let rate = args.rate?;
    Some(OpenLoop {
        rate: rate.from,
        ramp: rate.ramp.map(|(to, over)| Ramp {
            to,
            over_ns: nanos(over),
        }),
        arrivals: match args.arrivals {
            Arrivals::Constant => run_record::Arrivals::Constant,
            Arrivals::Poisson => run_record::Arrivals::Poisson,
        },
        duration_ns: nanos(args.duration),
        warm_up_ns: args.warm_up.map_or(0, nanos),
    })
}

/// The plan that the arguments ask for.
///
/// # Errors
/// In words, when flags contradict one another.
pub(crate) fn plan(common: &Common, load: Load) -> Result<Plan, String> {
    let connections = &common.connections;
    check_outputs(&common.output)?;
    let secure = common
        .url
        .get(..4)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("wss:"));
    for (given, flag) in [
        (connections.ca.is_some(), "--ca"),
        (connections.insecure, "--insecure"),
    ] {
        if given && !secure {
            return Err(format!(
                "{flag} is about certificates, but `{}` is not a wss:// URL",
                common.url
            ));
        }
    }
    let steps = &common.steps;
    if steps.limit_rtt >= steps.sample_timeout {
        return Err(format!(
            "--limit-rtt {} is not below --sample-timeout {}: a step would be given up before it \
             can pass the limit; raise --sample-timeout",
            humantime::format_duration(steps.limit_rtt),
            humantime::format_duration(steps.sample_timeout)
        ));
    }
    let search = search(steps, load.open.as_ref())?;
    let timestamps = timestamps(connections.timestamps)?;
    Ok(Plan {
        url: common.url.clone(),
        workload: load.workload,
        dialect: match connections.server_type {
            ServerType::Json => Dialect::Json,
            ServerType::Binary => Dialect::Binary,
            ServerType::Phoenix => Dialect::Phoenix,
            ServerType::Actioncable => Dialect::ActionCable,
        },
        origin: connections.origin.clone(),
        local_addrs: connections.local_addr.clone(),
        concurrent: load.concurrent,
        sample_size: load.sample_size,
        initial_clients: steps.initial_clients.unwrap_or(steps.step_size),
        step_size: steps.step_size,
        search,
        total_steps: steps
            .total_steps
            .or((load.open.is_some() && search.is_none()).then_some(1)),
        open_loop: load.open,
        payload_padding: connections.payload_padding,
        limit: Limit {
            percentile: steps.limit_percentile,
            rtt_ns: nanos(steps.limit_rtt),
            measure: load.measure,
        },
        timeouts: Timeouts {
            connect_ns: nanos(connections.connect_timeout),
            sample_ns: nanos(steps.sample_timeout),
        },
        timestamps,
        io: io(connections.io, timestamps)?,
        connect_concurrency: connections.connect_concurrency,
        threads: connections.threads.unwrap_or_else(cores),
        seed: connections.seed.unwrap_or_else(random_seed),
        verify_certificate: !connections.insecure,
        ca_file: connections.ca.clone(),
    })
}

fn search(steps: &args::Steps, open: Option<&OpenLoop>) -> Result<Option<Search>, String> {
    let Some(of) = steps.search else {
        return Ok(None);
    };
    match (of, open) {
        (args::SearchOf::Rate, None) => {
            return Err(
                "--search rate begins with a rate: give --rate, e.g. --rate 100".to_owned(),
            );
        }
        (args::SearchOf::Rate, Some(OpenLoop { ramp: Some(_), .. })) => {
            return Err(
                "--search rate tries one rate after the other: give --rate without a ramp"
                    .to_owned(),
            );
        }
        _ => {}
    }
    Ok(Some(Search {
        of: match of {
            args::SearchOf::Clients => SearchOf::Clients,
            args::SearchOf::Rate => SearchOf::Rate,
        },
        tries: steps.search_tries,
        precision: steps.search_precision / 100.0,
    }))
}

/// What the end of a latency can be taken from here.
///
/// # Errors
/// In words, when what is wanted cannot be had.
pub(crate) fn timestamps(wanted: args::Timestamps) -> Result<Timestamps, String> {
    match wanted {
        args::Timestamps::User => Ok(Timestamps::User),
        args::Timestamps::Auto => Ok(match ws_load::probe_kernel_timestamps() {
            Ok(()) => Timestamps::Kernel,
            Err(_) => Timestamps::User,
        }),
        args::Timestamps::Kernel => match ws_load::probe_kernel_timestamps() {
            Ok(()) => Ok(Timestamps::Kernel),
            Err(reason) => Err(format!(
                "--timestamps kernel: no receive time stamps here ({reason}); \
                 take --timestamps user or auto"
            )),
        },
    }
}

/// What sockets can be read with here.
///
/// # Errors
/// In words, when what is wanted cannot be had.
pub(crate) fn io(wanted: args::Io, timestamps: Timestamps) -> Result<Io, String> {
    if matches!(wanted, args::Io::Epoll) {
        return Ok(Io::Epoll);
    }
    match (ws_load::probe_io_uring(timestamps), wanted) {
        (Ok(()), _) => Ok(Io::Uring),
        (Err(reason), args::Io::Uring) => Err(format!(
            "--io uring: io_uring cannot be had here ({reason}); take --io epoll or auto"
        )),
        (Err(_), _) => Ok(Io::Epoll),
    }
}

/// Two outputs in one place would spoil each other.
fn check_outputs(output: &Output) -> Result<(), String> {
    if output.json.as_deref() == Some(Path::new("-")) {
        return Err(
            "--json writes to a file, not to stdout; name a file, or follow the run with --events -"
                .to_owned(),
        );
    }
    match (&output.json, &output.events) {
        (Some(json), Some(events)) if json == events => Err(format!(
            "--json and --events both name {}; name two files",
            json.display()
        )),
        _ => Ok(()),
    }
}

const fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

/// Cores that this process may use, pinning and quotas considered.
fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Different for each run; good enough to spread senders, and recorded.
fn random_seed() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // Below 2^53, so that any JSON reader keeps it exactly.
    since.map_or(1, |d| d.as_nanos() as u64 ^ u64::from(std::process::id())) & ((1 << 53) - 1)
}
