//! A plan before this machine has been probed: the settings of the generator that are not given are
//! chosen when the plan is carried out, and are not in a printed plan.

use crate::args::{Output, Sites};
use crate::refused::Refused;
use plan::{Clients, Dialect, Io, Load, Plan, Timestamps, redacted};
use plan_file::Given;
use std::path::Path;
use std::time::SystemTime;

/// A plan, and which parts of its generator were given.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// Its generator is a default; `given` decides.
    pub(crate) plan: Plan,
    pub(crate) given: Given,
    /// What this program added to the plan that the user did not ask for, in words.
    pub(crate) notes: Vec<String>,
}

/// Where the servers of Socket.IO listen unless they are told otherwise, and what they are asked for.
const SOCKET_IO: &str = "/socket.io/?EIO=4&transport=websocket";

/// Gives a URL without a path the one of the dialect's servers, where these have one of their own. Says
/// so in words.
pub(crate) fn fill_path(plan: &mut Plan) -> Option<String> {
    let url = &mut plan.target.url;
    let (_, rest) = url.split_once("://")?;
    let has_path = rest.trim_end_matches('/').contains(['/', '?', '#']);
    if plan.message.dialect != Dialect::SocketIo || has_path {
        return None;
    }
    url.truncate(url.trim_end_matches('/').len());
    url.push_str(SOCKET_IO);
    Some(format!(
        "the URL has no path, and gets that of Socket.IO: {}",
        redacted(url)
    ))
}

/// A plan that can be carried out, and what it does not say.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// What sockets are read with, and why not with io_uring where that would have been taken.
    pub(crate) io: String,
    /// Latencies end at the generator's own reads because the kernel gives no stamps here.
    pub(crate) lacks_stamps: bool,
    /// The number of threads was given, and not left to each worker.
    pub(crate) threads_given: bool,
}

impl Draft {
    /// Chooses what was left to this machine.
    ///
    /// # Errors
    /// When outputs or credentials contradict one another, when what was given cannot be
    /// had here, and when no figure of the plan can meet an expectation.
    pub(crate) fn resolved(self, sites: &Sites, output: &Output) -> Result<Planned, Refused> {
        check_outputs(output)?;
        check_credentials(sites)?;
        check_key_travels_safely(sites, &self.plan)?;
        check_unix(sites, &self)?;
        let Self {
            mut plan,
            mut given,
            notes: _,
        } = self;
        if plan.target.unix_socket.is_some() {
            given.timestamps = Some(Timestamps::User);
        }
        let generator = &mut plan.generator;
        generator.timestamps = timestamps(given.timestamps)?;
        let lacks_stamps = given.timestamps.is_none() && generator.timestamps == Timestamps::User;
        let io;
        (generator.io, io) = io_of_sites(given.io, sites, generator.timestamps)?;
        generator.threads = given.threads.unwrap_or_else(cores);
        generator.seed = given.seed.unwrap_or_else(random_seed);
        if let Load::Connect(_) = plan.load {
            ws_load::spread_over_loopback(&mut plan);
        }
        check_expectations(output, &plan)?;
        Ok(Planned {
            plan,
            io,
            lacks_stamps,
            threads_given: given.threads.is_some(),
        })
    }
}

/// Credentials without a worker that would check them.
fn check_credentials(sites: &Sites) -> Result<(), Refused> {
    let credentials = &sites.credentials;
    let given = [
        (credentials.token_file.is_some(), "--token-file"),
        (credentials.tls_cert.is_some(), "--tls-cert"),
    ];
    match given.iter().find(|(given, _)| *given) {
        Some((_, flag)) if !sites.are_elsewhere() => Err(Refused::NoWorkers(flag)),
        _ => Ok(()),
    }
}

/// The key of the clients' certificate and what they show the server go to every worker.
fn check_key_travels_safely(sites: &Sites, plan: &Plan) -> Result<(), Refused> {
    if !sites.are_elsewhere() || sites.credentials.tls_cert.is_some() {
        return Ok(());
    }
    let tls = plan.connection.tls.as_ref();
    let has_key = tls.is_some_and(|tls| tls.client_key.is_some());
    let what = if has_key {
        "--client-key (connection.tls.client_key)"
    } else if plan.connection.has_secrets() || plan.target.has_credentials() {
        "what clients show the server or the proxy (-H, --bearer-file, --cookie, --query, users in \
         URLs, or their keys of the plan)"
    } else {
        return Ok(());
    };
    Err(Refused::ClearText(what))
}

/// A Unix socket is of this machine, and the kernel stamps nothing that it carries.
fn check_unix(sites: &Sites, draft: &Draft) -> Result<(), Refused> {
    if draft.plan.target.unix_socket.is_none() {
        return Ok(());
    }
    if sites.are_elsewhere() {
        return Err(Refused::UnixElsewhere);
    }
    match draft.given.timestamps {
        Some(Timestamps::Kernel) => Err(Refused::UnixStamps),
        _ => Ok(()),
    }
}

/// Percentiles that the samples of a step cannot have, where their number is known.
fn check_expectations(output: &Output, plan: &Plan) -> Result<(), Refused> {
    output
        .expect
        .iter()
        .find_map(|expectation| expectation.impossible(plan))
        .map_or(Ok(()), |words| Err(Refused::Expectation(words)))
}

/// Two outputs in one file would overwrite each other.
fn check_outputs(output: &Output) -> Result<(), Refused> {
    let mut seen: Vec<(&'static str, &Path)> = Vec::new();
    for (flag, path) in output.places() {
        match seen.iter().find(|(_, earlier)| *earlier == path) {
            Some((other, _)) if path == Path::new("-") => {
                return Err(Refused::BothOnStdout(other, flag));
            }
            Some((other, _)) => {
                return Err(Refused::OneFile {
                    one: other,
                    other: flag,
                    path: path.to_owned(),
                });
            }
            None => seen.push((flag, path)),
        }
    }
    Ok(())
}

/// What the end of a latency can be taken from here.
///
/// # Errors
/// When what is wanted cannot be had.
pub(crate) fn timestamps(wanted: Option<Timestamps>) -> Result<Timestamps, Refused> {
    match wanted {
        Some(Timestamps::User) => Ok(Timestamps::User),
        None => Ok(match ws_load::probe_kernel_timestamps() {
            Ok(()) => Timestamps::Kernel,
            Err(_) => Timestamps::User,
        }),
        Some(Timestamps::Kernel) => match ws_load::probe_kernel_timestamps() {
            Ok(()) => Ok(Timestamps::Kernel),
            Err(reason) => Err(Refused::NoStamps(reason.to_string())),
        },
    }
}

/// What sockets can be read with here; and the same in words, with the reason where io_uring would
/// have been taken.
///
/// # Errors
/// When what is wanted cannot be had.
pub(crate) fn io(wanted: Option<Io>, timestamps: Timestamps) -> Result<(Io, String), Refused> {
    if wanted == Some(Io::Epoll) {
        return Ok((Io::Epoll, "epoll".to_owned()));
    }
    match (ws_load::probe_io_uring(timestamps), wanted) {
        (Ok(()), _) => Ok((Io::Uring, "io_uring".to_owned())),
        (Err(reason), Some(Io::Uring)) => Err(Refused::NoUring(reason.to_string())),
        (Err(reason), _) => Ok((
            Io::Epoll,
            format!("epoll: io_uring is not available here ({reason})"),
        )),
    }
}

/// With workers on other machines, `auto` is what every kernel has: this kernel can be probed, theirs
/// cannot.
fn io_of_sites(
    wanted: Option<Io>,
    sites: &Sites,
    timestamps: Timestamps,
) -> Result<(Io, String), Refused> {
    match wanted {
        None if sites.are_elsewhere() => Ok((
            Io::Epoll,
            "epoll: io_uring may not be available on all workers (give --io uring to use it)"
                .to_owned(),
        )),
        _ => io(wanted, timestamps),
    }
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

/// One step in an open loop, where neither a number of steps nor a search was given.
pub(crate) fn once(clients: &mut Clients) {
    if let Clients::Steps(steps) = clients {
        steps.count.get_or_insert(1);
    }
}
