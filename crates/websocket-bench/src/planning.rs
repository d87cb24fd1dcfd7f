//! From flags to a draft of a plan: what each flag sets, and flags that contradict.

use crate::args::{
    self, Arrivals, BroadcastLoad, Common, ConnectArgs, Connections, EchoLoad, Measure,
};
use crate::draft::{Draft, fill_path, once};
use crate::refused::Refused;
use plan::{Audience, Clients, Connect, Load, Nanos, OpenLoop, Plan, Ramp, Search, SearchOf};
use plan_file::Given;
use std::time::Duration;

/// What one command fixes of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    load: Load,
    audience: Audience,
    of: plan::Measure,
}

/// The load of `broadcast`.
pub(crate) fn broadcast(args: &BroadcastLoad) -> Asked {
    Asked {
        load: load(&args.open, args.concurrent, args.sample_size),
        audience: Audience::Everyone,
        of: match args.measure {
            Measure::Completion => plan::Measure::Completion,
            Measure::Delivery => plan::Measure::Delivery,
            Measure::Ack => plan::Measure::Ack,
        },
    }
}

/// The load of `echo`.
pub(crate) fn echo(args: &EchoLoad) -> Asked {
    Asked {
        load: load(&args.open, args.concurrent, args.sample_size),
        audience: Audience::Sender,
        of: plan::Measure::Completion,
    }
}

/// Of a step, when none is given.
const DURATION: Duration = Duration::from_secs(10);

fn load(args: &args::OpenLoop, in_flight: u32, samples: u32) -> Load {
    let Some(rate) = args.rate else {
        return Load::closed(in_flight, samples);
    };
    let ramp_takes = rate.ramp.map_or(Duration::ZERO, |(_, over)| over);
    Load::Open(OpenLoop {
        rate: rate.from,
        ramp: rate.ramp.map(|(to, over)| Ramp {
            to,
            over: over.into(),
        }),
        arrivals: arrivals(args.arrivals),
        duration: args.duration.unwrap_or(ramp_takes.max(DURATION)).into(),
        warm_up: args.warm_up.map_or(Nanos(0), Nanos::from),
    })
}

const fn arrivals(args: Arrivals) -> plan::Arrivals {
    match args {
        Arrivals::Constant => plan::Arrivals::Constant,
        Arrivals::Poisson => plan::Arrivals::Poisson,
    }
}

/// The plan of `broadcast` or `echo`.
///
/// # Errors
/// When flags contradict one another.
pub(crate) fn plan(url: &str, common: &Common, asked: Asked) -> Result<Draft, Refused> {
    let (steps, search) = (&common.steps, &common.search);
    if steps.limit_rtt >= search.sample_timeout {
        return Err(Refused::LateLimit {
            limit: steps.limit_rtt,
            timeout: search.sample_timeout,
        });
    }
    check_ramp(&asked.load)?;
    check_search(search, &asked.load)?;
    let Draft {
        mut plan,
        given,
        notes,
    } = basis(url, steps, &common.connections)?;
    plan.load = asked.load;
    plan.audience = asked.audience;
    plan.limits.of = asked.of;
    plan.limits.sample_timeout = search.sample_timeout.into();
    plan.message.padding = common.messages.payload_padding;
    plan.message
        .lines
        .clone_from(&common.messages.payload_lines);
    match search.search {
        Some(of) => plan.clients = searching(of, search, plan.clients.first()),
        None if plan.open_loop().is_some() => once(&mut plan.clients),
        None => {}
    }
    Ok(Draft { plan, given, notes })
}

fn check_ramp(load: &Load) -> Result<(), Refused> {
    match load {
        Load::Open(OpenLoop {
            ramp: Some(ramp),
            duration,
            ..
        }) if *duration < ramp.over => Err(Refused::LongRamp {
            duration: *duration,
            ramp: ramp.over,
        }),
        _ => Ok(()),
    }
}

fn check_search(args: &args::Searching, load: &Load) -> Result<(), Refused> {
    match (args.search, load) {
        (Some(args::SearchOf::Rate), Load::Open(OpenLoop { ramp: Some(_), .. })) => {
            Err(Refused::SearchWithRamp)
        }
        (Some(args::SearchOf::Rate), Load::Open(_)) => Ok(()),
        (Some(args::SearchOf::Rate), _) => Err(Refused::SearchWithoutRate),
        _ => Ok(()),
    }
}

fn searching(of: args::SearchOf, args: &args::Searching, first: u32) -> Clients {
    Clients::Search(Search {
        of: match of {
            args::SearchOf::Clients => SearchOf::Clients,
            args::SearchOf::Rate => SearchOf::Rate,
        },
        first,
        tries: args.search_tries,
        precision: args.search_precision / 100.0,
    })
}

/// The plan of `connect`.
///
/// # Errors
/// When flags contradict one another.
pub(crate) fn connect(args: &ConnectArgs) -> Result<Draft, Refused> {
    let load = &args.load;
    let ping_timeout = load.ping_timeout.unwrap_or(load.ping_interval);
    if ping_timeout > load.ping_interval {
        return Err(Refused::LatePing {
            timeout: ping_timeout,
            interval: load.ping_interval,
        });
    }
    let Draft {
        mut plan,
        given,
        notes,
    } = basis(&args.url, &args.steps, &args.connections)?;
    if let Some(clients) = load.clients {
        plan.clients = Clients::steps(clients, args.steps.step_size, Some(1));
    }
    plan.audience = Audience::Sender;
    plan.load = Load::Connect(Connect {
        rate: load.connect_rate,
        arrivals: arrivals(load.arrivals),
        hold: load.hold.into(),
        ping_interval: load.ping_interval.into(),
        ping_timeout: ping_timeout.into(),
    });
    Ok(Draft { plan, given, notes })
}

/// What is the same in every plan.
fn basis(url: &str, steps: &args::Steps, connections: &Connections) -> Result<Draft, Refused> {
    let mut plan = Plan::new(url);
    plan.target.local_addrs.clone_from(&connections.local_addr);
    connections.handshake.apply(&mut plan)?;
    connections.format.apply(&mut plan.message)?;
    connections
        .tls
        .apply(&mut plan, connections.handshake.sni.as_ref())?;
    plan.connection.origin.clone_from(&connections.origin);
    plan.connection.compression = connections.compression;
    plan.connection.fragment = connections.fragment;
    plan.connection.at_once = connections.connect_concurrency;
    plan.connection.timeout = connections.connect_timeout.into();
    let notes = fill_path(&mut plan).into_iter().collect();
    let first = steps.initial_clients.unwrap_or(steps.step_size);
    plan.clients = Clients::steps(first, steps.step_size, steps.total_steps);
    plan.limits.percentile = steps.limit_percentile;
    plan.limits.time = steps.limit_rtt.into();
    ws_load::check_url(&plan)?;
    Ok(Draft {
        plan,
        given: Given {
            threads: connections.threads,
            io: connections.io.given(),
            timestamps: connections.timestamps.given(),
            seed: connections.seed,
        },
        notes,
    })
}
