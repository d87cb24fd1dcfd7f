//! Why the arguments give no run.

use crate::secrets::{IN_QUOTES, SecretError};
use plan::{Nanos, PlanError};
use plan_file::{NoKeys, PlanFileError};
use std::path::PathBuf;
use std::time::Duration;
use ws_load::{DialectError, TargetError};

/// Flags, files or this machine forbid a run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error(transparent)]
    File(#[from] PlanFileError),
    #[error(transparent)]
    Place(#[from] NoKeys),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Secret(#[from] SecretError),
    #[error("cannot read the plan: no such file; {IN_QUOTES}")]
    NoPlan,
    #[error("{0} names no server: give its URL after the file, like ws://127.0.0.1:3334/ws")]
    NoServer(String),
    #[error("the URL is none: expected something like ws://127.0.0.1:3334/ws; {IN_QUOTES}")]
    NoUrl,
    #[error("--dialect: {0}")]
    DialectFile(PlanFileError),
    #[error("--dialect {}: {source}", path.display())]
    Dialect { path: PathBuf, source: DialectError },
    #[error("--bearer-file: the path of the file is not ASCII; rename the file")]
    BearerPath,
    #[error("{flag} is about TLS, but `{url}` is not a wss:// URL{}", steps(*has_steps))]
    NotTls {
        flag: &'static str,
        url: String,
        /// The dialect file has requests over HTTP, none of them over TLS.
        has_steps: bool,
    },
    #[error("--tls-min {least} is above --tls-max {most}: no version is left to offer")]
    TlsVersions {
        least: &'static str,
        most: &'static str,
    },
    #[error(
        "--limit-rtt {} is not below --sample-timeout {}: a step would be given up before it can pass the limit; raise --sample-timeout",
        time(limit),
        time(timeout)
    )]
    LateLimit { limit: Duration, timeout: Duration },
    #[error(
        "--duration {duration} is shorter than the ramp of --rate, which takes {ramp}: its end would never be reached; raise --duration, or leave it out"
    )]
    LongRamp { duration: Nanos, ramp: Nanos },
    #[error("--search rate tries one rate after the other: give --rate without a ramp")]
    SearchWithRamp,
    #[error("--search rate begins with a rate: give --rate, e.g. --rate 100")]
    SearchWithoutRate,
    #[error(
        "--ping-timeout {} is above --ping-interval {}: a ping must be answered before the next one; raise --ping-interval",
        time(timeout),
        time(interval)
    )]
    LatePing {
        timeout: Duration,
        interval: Duration,
    },
    #[error(
        "{0} is for workers that were started elsewhere, and there are none: name them with -w or --await-workers (it is not shown to the server)"
    )]
    NoWorkers(&'static str),
    #[error(
        "{0} would go to the workers in clear text: give --tls-cert, --tls-key and --tls-ca, so that they are spoken to over mutual TLS"
    )]
    ClearText(&'static str),
    #[error(
        "--unix (target.unix_socket) is of this machine, and workers that were started separately do not connect to one: take --processes"
    )]
    UnixElsewhere,
    #[error(
        "--timestamps kernel: the kernel gives no receive timestamps of a Unix socket; leave it out"
    )]
    UnixStamps,
    #[error(
        "--timestamps kernel: no receive timestamps here ({0}); take --timestamps user or auto"
    )]
    NoStamps(String),
    #[error("--io uring: io_uring is not available here ({0}); take --io epoll or auto")]
    NoUring(String),
    #[error("--expect {0}")]
    Expectation(String),
    #[error("{0} and {1} both write to stdout; name a file for one of them")]
    BothOnStdout(&'static str, &'static str),
    #[error("{one} and {other} both name {}; name two files", path.display())]
    OneFile {
        one: &'static str,
        other: &'static str,
        path: PathBuf,
    },
}

const fn steps(has_steps: bool) -> &'static str {
    match has_steps {
        true => ", and no request of the dialect file is https",
        false => "",
    }
}

fn time(time: &Duration) -> humantime::FormattedDuration {
    humantime::format_duration(*time)
}
