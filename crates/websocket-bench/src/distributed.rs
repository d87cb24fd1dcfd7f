//! A run over several processes and machines: from arguments to sites, and the `worker` command.

use crate::args::{Credentials, Sites, WorkerArgs};
use crate::exit::Exit;
use plan::{Plan, redacted};
use record::FileLimit;
use remote::{Address, AllowList, Gathered, Invitation, Left, RemoteError, Tell, WorkerOptions};
use std::error::Error;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Gathers the sites that the arguments name; `None` for a run of this process alone.
///
/// # Errors
/// [`RemoteError`] when one of them cannot be had.
pub(crate) fn gather(
    sites: &Sites,
    threads_given: bool,
    plan: &Plan,
    interrupted: &AtomicBool,
) -> Result<Option<Gathered>, RemoteError> {
    if !sites.are_several() {
        return Ok(None);
    }
    let invitation = Invitation {
        processes: sites.processes.unwrap_or(0),
        workers: sites.worker_addr.clone(),
        awaited: sites.listen.clone().zip(sites.await_workers),
        patience: sites.await_timeout,
        credentials: credentials(&sites.credentials)?,
        threads_given,
    };
    remote::gather(&invitation, plan, interrupted, &tell(false)).map(Some)
}

/// Serves runs, as the arguments say.
///
/// # Errors
/// In words, when no run came of it.
pub(crate) fn worker(args: &WorkerArgs) -> Result<Exit, Box<dyn Error>> {
    FileLimit::raise();
    let options = WorkerOptions {
        local_addrs: args.local_addr.clone(),
        threads: args.threads,
        data: args.data.clone(),
        payload_lines: args.payload_lines.clone(),
        allow: AllowList(args.allow.clone()),
        credentials: credentials(&args.credentials)?,
        is_child: args.child,
    };
    let tell = tell(args.quiet);
    let left = match &args.coordinator {
        Some(coordinator) => {
            remote::join(coordinator, args.await_timeout, options, Arc::clone(&tell))?
        }
        None => {
            let address = Address {
                host: args.address.clone(),
                port: args.port,
            };
            remote::serve(&address, options, Arc::clone(&tell), |addr| {
                // The reader of stdout may have closed it.
                let _ = writeln!(io::stdout(), "listening on {addr}");
            })?
        }
    };
    Ok(match left {
        Left::Done => Exit::Measured,
        Left::Interrupted => Exit::Interrupted,
        Left::Lost(reason) => {
            tell(&format!("the run was ended early: {reason}"));
            Exit::Invalid
        }
    })
}

fn credentials(args: &Credentials) -> Result<remote::Credentials, RemoteError> {
    let tls = match (&args.tls_cert, &args.tls_key, &args.tls_ca) {
        (Some(cert), Some(key), Some(ca)) => Some([cert.as_path(), key.as_path(), ca.as_path()]),
        _ => None,
    };
    let variable = std::env::var(remote::TOKEN_VARIABLE).ok();
    remote::Credentials::read(args.token_file.as_deref(), variable.as_deref(), tls)
}

fn tell(quiet: bool) -> Tell {
    Arc::new(move |words| {
        if !quiet {
            // A closed stderr stops no run.
            let _ = writeln!(
                anstream::stderr().lock(),
                "websocket-bench: {}",
                ws_proto::escaped(&redacted(words))
            );
        }
    })
}
