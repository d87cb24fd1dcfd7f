//! From arguments to a plan: defaults that depend on the machine, and flags that contradict.

use crate::args::{
    self, Arrivals, BroadcastLoad, Common, ConnectArgs, EchoLoad, Measure, Output, ServerType,
};
use run_record::{
    Connecting, Dialect, Io, Limit, OpenLoop, Plan, Ramp, Search, SearchOf, Timeouts, Timestamps,
    Workload,
};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A plan, and what it does not say.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// What sockets are read with, and why not with io_uring where that would have been taken.
    pub(crate) io: String,
}

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

/// Of a step, when none is given.
const DURATION: Duration = Duration::from_secs(10);

fn open_loop(args: &args::OpenLoop) -> Option<OpenLoop> {
    let rate = args.rate?;
    Some(OpenLoop {
        rate: rate.from,
        ramp: rate.ramp.map(|(to, over)| Ramp {
            to,
            over_ns: nanos(over),
        }),
        arrivals: arrivals(args.arrivals),
        duration_ns: nanos(args.duration.unwrap_or_else(|| {
            let ramp = rate.ramp.map_or(Duration::ZERO, |(_, over)| over);
            ramp.max(DURATION)
        })),
        warm_up_ns: args.warm_up.map_or(0, nanos),
    })
}

const fn arrivals(args: Arrivals) -> run_record::Arrivals {
    match args {
        Arrivals::Constant => run_record::Arrivals::Constant,
        Arrivals::Poisson => run_record::Arrivals::Poisson,
    }
}

/// The plan of `broadcast` or `echo`.
///
/// # Errors
/// In words, when flags contradict one another.
pub(crate) fn plan(common: &Common, load: Load) -> Result<Planned, String> {
    let (steps, search) = (&common.steps, &common.search);
    if steps.limit_rtt >= search.sample_timeout {
        return Err(format!(
            "--limit-rtt {} is not below --sample-timeout {}: a step would be given up before it \
             can pass the limit; raise --sample-timeout",
            humantime::format_duration(steps.limit_rtt),
            humantime::format_duration(search.sample_timeout)
        ));
    }
    if let Some(OpenLoop {
        ramp: Some(ramp),
        duration_ns,
        ..
    }) = load.open
        && duration_ns < ramp.over_ns
    {
        return Err(format!(
            "--duration {} is shorter than the ramp of --rate, which takes {}: its end would never \
             be reached; raise --duration, or leave it out",
            humantime::format_duration(Duration::from_nanos(duration_ns)),
            humantime::format_duration(Duration::from_nanos(ramp.over_ns)),
        ));
    }
    let searching = searching(search, load.open.as_ref())?;
    let (common_plan, io) = basis(
        &common.url,
        steps,
        &common.connections,
        &common.sites,
        &common.output,
    )?;
    let mut plan = common_plan;
    plan.workload = load.workload;
    plan.concurrent = load.concurrent;
    plan.sample_size = load.sample_size;
    plan.limit.measure = load.measure;
    plan.search = searching;
    if load.open.is_some() && searching.is_none() {
        plan.total_steps.get_or_insert(1);
    }
    plan.open_loop = load.open;
    plan.payload_padding = common.messages.payload_padding;
    plan.timeouts.sample_ns = nanos(search.sample_timeout);
    check_expectations(&common.output, &plan)?;
    Ok(Planned { plan, io })
}

/// The plan of `connect`.
///
/// # Errors
/// In words, when flags contradict one another.
pub(crate) fn connect(args: &ConnectArgs) -> Result<Planned, String> {
    let load = &args.load;
    let ping_timeout = load.ping_timeout.unwrap_or(load.ping_interval);
    if ping_timeout > load.ping_interval {
        return Err(format!(
            "--ping-timeout {} is above --ping-interval {}: a ping must be answered before the \
             next one; raise --ping-interval",
            humantime::format_duration(ping_timeout),
            humantime::format_duration(load.ping_interval)
        ));
    }
    let (mut plan, io) = basis(
        &args.url,
        &args.steps,
        &args.connections,
        &args.sites,
        &args.output,
    )?;
    plan.workload = Workload::Connect;
    if let Some(clients) = load.clients {
        plan.initial_clients = clients;
        plan.total_steps = Some(1);
    }
    plan.timeouts.sample_ns = nanos(ping_timeout);
    plan.connect = Some(Connecting {
        rate: load.connect_rate,
        arrivals: arrivals(load.arrivals),
        hold_ns: nanos(load.hold),
        ping_interval_ns: nanos(load.ping_interval),
        ping_timeout_ns: nanos(ping_timeout),
    });
    ws_load::spread_over_loopback(&mut plan);
    check_expectations(&args.output, &plan)?;
    Ok(Planned { plan, io })
}

/// What is the same in every plan, and what its sockets are read with in words.
fn basis(
    url: &str,
    steps: &args::Steps,
    connections: &args::Connections,
    sites: &args::Sites,
    output: &Output,
) -> Result<(Plan, String), String> {
    check_outputs(output)?;
    check_credentials(sites)?;
    let secure = url
        .get(..4)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("wss:"));
    for (given, flag) in [
        (connections.ca.is_some(), "--ca"),
        (connections.insecure, "--insecure"),
    ] {
        if given && !secure {
            return Err(format!(
                "{flag} is about certificates, but `{url}` is not a wss:// URL"
            ));
        }
    }
    let timestamps = timestamps(connections.timestamps)?;
    let (io, io_words) = io_of_sites(connections.io, sites, timestamps)?;
    let plan = Plan {
        url: url.to_owned(),
        workload: Workload::Echo,
        dialect: match connections.server_type {
            ServerType::Json => Dialect::Json,
            ServerType::Binary => Dialect::Binary,
            ServerType::Phoenix => Dialect::Phoenix,
            ServerType::Actioncable => Dialect::ActionCable,
        },
        origin: connections.origin.clone(),
        local_addrs: connections.local_addr.clone(),
        concurrent: 0,
        sample_size: 0,
        initial_clients: steps.initial_clients.unwrap_or(steps.step_size),
        step_size: steps.step_size,
        search: None,
        total_steps: steps.total_steps,
        open_loop: None,
        connect: None,
        payload_padding: 0,
        limit: Limit {
            percentile: steps.limit_percentile,
            rtt_ns: nanos(steps.limit_rtt),
            measure: run_record::Measure::Completion,
        },
        timeouts: Timeouts {
            connect_ns: nanos(connections.connect_timeout),
            sample_ns: 0,
        },
        timestamps,
        io,
        connect_concurrency: connections.connect_concurrency,
        threads: connections.threads.unwrap_or_else(cores),
        seed: connections.seed.unwrap_or_else(random_seed),
        verify_certificate: !connections.insecure,
        ca_file: connections.ca.clone(),
    };
    ws_load::check_url(&plan).map_err(|error| error.to_string())?;
    Ok((plan, io_words))
}

/// Credentials that no worker is shown.
fn check_credentials(sites: &args::Sites) -> Result<(), String> {
    let credentials = &sites.credentials;
    let given = [
        (credentials.token_file.is_some(), "--token-file"),
        (credentials.tls_cert.is_some(), "--tls-cert"),
    ];
    match given.iter().find(|(given, _)| *given) {
        Some((_, flag)) if !sites.are_elsewhere() => Err(format!(
            "{flag} is for workers that were started elsewhere, and there are none: name them with \
             -w or --await-workers (it is not shown to the server)"
        )),
        _ => Ok(()),
    }
}

/// Percentiles that the samples of a step cannot have, where their number is known.
fn check_expectations(output: &Output, plan: &Plan) -> Result<(), String> {
    output
        .expect
        .iter()
        .find_map(|expectation| expectation.impossible(plan))
        .map_or(Ok(()), |words| Err(format!("--expect {words}")))
}

fn searching(steps: &args::Searching, open: Option<&OpenLoop>) -> Result<Option<Search>, String> {
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

/// What sockets can be read with here; and the same in words, with the reason where io_uring would
/// have been taken.
///
/// # Errors
/// In words, when what is wanted cannot be had.
pub(crate) fn io(wanted: args::Io, timestamps: Timestamps) -> Result<(Io, String), String> {
    if matches!(wanted, args::Io::Epoll) {
        return Ok((Io::Epoll, "epoll".to_owned()));
    }
    match (ws_load::probe_io_uring(timestamps), wanted) {
        (Ok(()), _) => Ok((Io::Uring, "io_uring".to_owned())),
        (Err(reason), args::Io::Uring) => Err(format!(
            "--io uring: io_uring cannot be had here ({reason}); take --io epoll or auto"
        )),
        (Err(reason), _) => Ok((
            Io::Epoll,
            format!("epoll: io_uring cannot be had here ({reason})"),
        )),
    }
}

/// What is left to this program is left to what every kernel has where workers run on others: this
/// one can be probed, theirs cannot.
fn io_of_sites(
    wanted: args::Io,
    sites: &args::Sites,
    timestamps: Timestamps,
) -> Result<(Io, String), String> {
    match wanted {
        args::Io::Auto if sites.are_elsewhere() => Ok((
            Io::Epoll,
            "epoll: it is not known whether all workers can have io_uring (--io uring)".to_owned(),
        )),
        _ => io(wanted, timestamps),
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
pub(crate) fn random_seed() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // Below 2^53, so that any JSON reader keeps it exactly.
    since.map_or(1, |d| d.as_nanos() as u64 ^ u64::from(std::process::id())) & ((1 << 53) - 1)
}
