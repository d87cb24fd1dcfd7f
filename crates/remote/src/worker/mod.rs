//! The worker's side: waits for coordinators or joins one, and carries out one run at a time.

mod assignment;
mod conversation;
mod site;

use crate::address::{self, Address};
use crate::allow::AllowList;
use crate::broken_off::CoordinatorLost;
use crate::credentials::Credentials;
use crate::dial::{self, Pairing, Peer};
use crate::error::RemoteError;
use crate::wire::worker_server::{Worker, WorkerServer};
use crate::wire::{FromCoordinator, FromWorker};
use crate::{FAREWELL, LARGEST_COMMANDS, PATIENCE, Tell, outbox};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

/// Between two tries to reach a coordinator that is not there yet.
const RETRY: Duration = Duration::from_millis(500);

/// What a worker is started with.
#[derive(Clone, Default)]
pub struct WorkerOptions {
    /// Source addresses of its connections; empty leaves them to the run.
    pub local_addrs: Vec<IpAddr>,
    /// Worker threads; none leaves them to the run.
    pub threads: Option<u32>,
    /// Its copy of the data file of runs that have one.
    pub data: Option<PathBuf>,
    /// Its copy of the file of payload lines of runs that have one.
    pub payload_lines: Option<PathBuf>,
    /// Servers that it may load.
    pub allow: AllowList,
    /// The credentials that it presents and requires.
    pub credentials: Credentials,
    /// The coordinator has started this process, and its end is this process's end: neither takes
    /// the other's silence for a loss.
    pub is_child: bool,
}

/// How a worker's stay ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// The run is over, or the idle worker was told to end.
    Done,
    /// The coordinator was lost in mid-run, or the site could not go on: why, in words.
    Lost(String),
    /// A signal ended it in mid-run.
    Interrupted,
}

impl Left {
    fn lost(why: CoordinatorLost) -> Self {
        Self::Lost(why.to_string())
    }
}

/// What the conversations of a worker share.
struct Shared {
    options: WorkerOptions,
    tell: Tell,
    /// Whose run it is busy with.
    busy: Mutex<Option<String>>,
    /// A run was ended by a signal.
    interrupted: AtomicBool,
    /// Becomes true when the process is to end.
    ending: watch::Receiver<bool>,
}

impl Shared {
    fn new(options: WorkerOptions, tell: Tell, ending: watch::Receiver<bool>) -> Arc<Self> {
        Arc::new(Self {
            options,
            tell,
            busy: Mutex::default(),
            interrupted: AtomicBool::new(false),
            ending,
        })
    }
}

/// Listens for coordinators and serves one run after the other, until SIGINT or SIGTERM. Tells
/// `listening` the address.
///
/// # Errors
/// [`RemoteError`] when it cannot, or may not, listen there.
pub fn serve(
    address: &Address,
    options: WorkerOptions,
    tell: Tell,
    listening: impl FnOnce(SocketAddr),
) -> Result<Left, RemoteError> {
    crate::runtime()?.block_on(async {
        let ending = ending()?;
        let listener = dial::listen(address, &options.credentials, "a worker").await?;
        let server = dial::server(&options.credentials, Pairing::Separate)?;
        listening(listener.local_addr().map_err(RemoteError::Runtime)?);
        let shared = Shared::new(options, tell, ending.clone());
        let service = WorkerServer::new(Service(Arc::clone(&shared)))
            .max_decoding_message_size(LARGEST_COMMANDS);
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let serving = server.serve_with_incoming_shutdown(service, incoming, ended(ending.clone()));
        tokio::select! {
            served = serving => served
                .map_err(|error| RemoteError::Runtime(std::io::Error::other(error)))?,
            // A connection that never spoke would hold the server for ever.
            () = async { ended(ending).await; tokio::time::sleep(2 * FAREWELL).await } => {}
        }
        let interrupted = shared.interrupted.load(Ordering::Relaxed);
        Ok(if interrupted {
            Left::Interrupted
        } else {
            Left::Done
        })
    })
}

/// Joins a coordinator, which may take until `patience` is over to be there, for one run.
///
/// # Errors
/// [`RemoteError`] when it cannot be reached, or does not take this worker.
pub fn join(
    coordinator: &Address,
    patience: Duration,
    options: WorkerOptions,
    tell: Tell,
) -> Result<Left, RemoteError> {
    crate::runtime()?.block_on(async {
        let ending = ending()?;
        if !options.credentials.are_any() && !is_loopback(coordinator).await {
            return Err(RemoteError::Unguarded {
                address: coordinator.clone(),
            });
        }
        let shared = Shared::new(options, tell, ending.clone());
        let dialled = tokio::select! {
            peer = dial_until(coordinator, patience, &shared) => peer?,
            () = ended(ending) => return Ok(Left::Done),
        };
        (shared.tell)(&format!("joined {}", dialled.name));
        conversation::hold(&shared, dialled).await
    })
}

async fn dial_until(
    coordinator: &Address,
    patience: Duration,
    shared: &Shared,
) -> Result<Peer<FromCoordinator, FromWorker>, RemoteError> {
    let end = Instant::now() + patience;
    loop {
        let pairing = if shared.options.is_child {
            Pairing::ParentAndChild
        } else {
            Pairing::Separate
        };
        match dial::coordinator(coordinator, &shared.options.credentials, pairing).await {
            Err(RemoteError::Unreachable { .. }) if Instant::now() + RETRY < end => {
                tokio::time::sleep(RETRY).await;
            }
            done => return done,
        }
    }
}

/// Whether all that a name stands for is on this machine; a name that does not resolve yet is not.
async fn is_loopback(address: &Address) -> bool {
    match address.resolve().await {
        Ok(found) => !found.is_empty() && found.iter().all(|addr| address::is_loopback(addr.ip())),
        Err(_) => false,
    }
}

/// Becomes true with the first SIGINT or SIGTERM.
fn ending() -> Result<watch::Receiver<bool>, RemoteError> {
    let (tell, ending) = watch::channel(false);
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let mut signals = signal(kind).map_err(RemoteError::Runtime)?;
        let tell = tell.clone();
        tokio::spawn(async move {
            signals.recv().await;
            tell.send_replace(true);
        });
    }
    Ok(ending)
}

async fn ended(mut ending: watch::Receiver<bool>) {
    if ending.wait_for(|ending| *ending).await.is_err() {
        // The senders live as long as the runtime.
        std::future::pending::<()>().await;
    }
}

/// Answers each coordinator that dials.
struct Service(Arc<Shared>);

#[tonic::async_trait]
impl Worker for Service {
    type RunStream = Pin<Box<dyn Stream<Item = Result<FromWorker, Status>> + Send>>;

    async fn run(
        &self,
        request: Request<Streaming<FromCoordinator>>,
    ) -> Result<Response<Self::RunStream>, Status> {
        let name = format!("the coordinator {}", dial::caller(&request));
        if let Err(status) = self.0.options.credentials.admit(request.metadata()) {
            (self.0.tell)(&format!("turned {name} away: {}", status.message()));
            return Err(status);
        }
        let (outbound, messages) = mpsc::channel(outbox::DEPTH);
        let peer = Peer {
            name,
            inbound: request.into_inner(),
            outbound,
            patience: PATIENCE,
        };
        let shared = Arc::clone(&self.0);
        tokio::spawn(async move {
            match conversation::hold(&shared, peer).await {
                Ok(Left::Done) => {}
                Ok(Left::Lost(reason)) => {
                    (shared.tell)(&format!("the run was ended early: {reason}"))
                }
                Ok(Left::Interrupted) => (shared.tell)("the run was ended early: interrupted"),
                Err(error) => (shared.tell)(&error.to_string()),
            }
        });
        Ok(Response::new(Box::pin(
            ReceiverStream::new(messages).map(Ok),
        )))
    }
}
