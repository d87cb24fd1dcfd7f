//! Connections: dialled and accepted, with their credentials and their first messages.

use crate::address::Address;
use crate::credentials::Credentials;
use crate::error::{RemoteError, chain, io_kind};
use crate::wire::coordinator_client::CoordinatorClient;
use crate::wire::worker_client::WorkerClient;
use crate::wire::{FromCoordinator, FromWorker};
use crate::{BEAT, CHILD_PATIENCE, LARGEST_COMMANDS, LARGEST_REPORTS, PATIENCE, SILENCE, outbox};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Status, Streaming};

/// How the two sides of a connection were started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// Separately: only silence shows that the other side is lost.
    Separate,
    /// One has started the other on this machine: the kernel reports its end.
    ParentAndChild,
}

/// The other side of a conversation.
pub(crate) struct Peer<In, Out> {
    /// Its name, as shown to the user.
    pub(crate) name: String,
    pub(crate) inbound: Streaming<In>,
    pub(crate) outbound: mpsc::Sender<Out>,
    /// How long an answer of the beginning may take.
    pub(crate) patience: Duration,
}

impl Pairing {
    pub(crate) const fn patience(self) -> Duration {
        match self {
            Self::Separate => PATIENCE,
            Self::ParentAndChild => CHILD_PATIENCE,
        }
    }
}

impl<In, Out> Peer<In, Out> {
    /// The next message.
    pub(crate) async fn next(&mut self) -> Result<In, RemoteError> {
        match self.inbound.message().await {
            Ok(Some(message)) => Ok(message),
            Ok(None) => Err(self.lost("it ended the conversation")),
            Err(status) => Err(self.lost(&words_of_status(&status))),
        }
    }

    /// As [`Peer::next`], for an answer that takes no time.
    pub(crate) async fn next_soon(&mut self) -> Result<In, RemoteError> {
        match tokio::time::timeout(self.patience, self.next()).await {
            Ok(message) => message,
            Err(_) => Err(self.silent()),
        }
    }

    pub(crate) async fn send(&self, message: impl Into<Out>) -> Result<(), RemoteError> {
        let sent = self.outbound.send(message.into()).await;
        sent.map_err(|_| self.lost("its connection broke"))
    }

    pub(crate) fn lost(&self, reason: &str) -> RemoteError {
        RemoteError::LostEarly {
            peer: self.name.clone(),
            reason: reason.to_owned(),
        }
    }

    pub(crate) fn out_of_turn(&self) -> RemoteError {
        RemoteError::Stranger {
            peer: self.name.clone(),
            reason: "it spoke out of turn".to_owned(),
        }
    }

    fn silent(&self) -> RemoteError {
        RemoteError::Stranger {
            peer: self.name.clone(),
            reason: format!("it was silent for {} s", self.patience.as_secs()),
        }
    }
}

/// Dials a worker that waits for coordinators.
pub(crate) async fn worker(
    address: &Address,
    credentials: &Credentials,
) -> Result<Peer<FromWorker, FromCoordinator>, RemoteError> {
    let name = format!("the worker {address}");
    let remedy = "start it there with `websocket-bench worker -a ADDRESS -p PORT`";
    let channel = connect(address, &name, remedy, credentials, Pairing::Separate).await?;
    let (outbound, messages) = mpsc::channel(outbox::DEPTH);
    let mut client = WorkerClient::new(channel).max_decoding_message_size(LARGEST_REPORTS);
    let request = request(ReceiverStream::new(messages), credentials);
    let inbound = answered(&name, client.run(request), PATIENCE).await?;
    Ok(Peer {
        name: address.to_string(),
        inbound,
        outbound,
        patience: PATIENCE,
    })
}

/// Dials a coordinator that waits for workers.
pub(crate) async fn coordinator(
    address: &Address,
    credentials: &Credentials,
    pairing: Pairing,
) -> Result<Peer<FromCoordinator, FromWorker>, RemoteError> {
    let name = format!("the coordinator {address}");
    let remedy = "start it there with --await-workers N --listen HOST:PORT";
    let channel = connect(address, &name, remedy, credentials, pairing).await?;
    let (outbound, messages) = mpsc::channel(outbox::DEPTH);
    let patience = pairing.patience();
    let mut client = CoordinatorClient::new(channel).max_decoding_message_size(LARGEST_COMMANDS);
    let request = request(ReceiverStream::new(messages), credentials);
    let inbound = answered(&name, client.join(request), patience).await?;
    Ok(Peer {
        name,
        inbound,
        outbound,
        patience,
    })
}

async fn connect(
    address: &Address,
    name: &str,
    remedy: &'static str,
    credentials: &Credentials,
    pairing: Pairing,
) -> Result<Channel, RemoteError> {
    let unreachable = |reason: String| RemoteError::Unreachable {
        peer: name.to_owned(),
        reason,
        remedy,
    };
    let scheme = if credentials.use_tls() {
        "https"
    } else {
        "http"
    };
    let mut endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))
        .map_err(|error| unreachable(chain(&error)))?
        .connect_timeout(pairing.patience());
    if pairing == Pairing::Separate {
        endpoint = endpoint
            .http2_keep_alive_interval(BEAT)
            .keep_alive_timeout(SILENCE)
            .keep_alive_while_idle(true);
    }
    let no_tls = |error: &tonic::transport::Error| RemoteError::Tls {
        peer: name.to_owned(),
        reason: chain(error),
    };
    if let Some(tls) = credentials.client_tls(&address.host) {
        endpoint = endpoint.tls_config(tls).map_err(|error| no_tls(&error))?;
    }
    endpoint
        .connect()
        .await
        .map_err(|error| match io_kind(&error) {
            Some(io) if is_tls(io) => no_tls(&error),
            Some(io) => unreachable(words_of(io)),
            None if credentials.use_tls() => no_tls(&error),
            None => unreachable(chain(&error)),
        })
}

/// The kernel's words without their number, or whatever else was said.
fn words_of(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "it refused the connection".to_owned(),
        io::ErrorKind::TimedOut => "it does not answer".to_owned(),
        _ => error.to_string(),
    }
}

fn is_tls(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<rustls::Error>())
}

fn request<M>(
    messages: ReceiverStream<M>,
    credentials: &Credentials,
) -> Request<ReceiverStream<M>> {
    let mut request = Request::new(messages);
    if let Some((key, value)) = credentials.header() {
        request.metadata_mut().insert(key, value);
    }
    request
}

async fn answered<M>(
    name: &str,
    answer: impl Future<Output = Result<tonic::Response<Streaming<M>>, Status>>,
    patience: Duration,
) -> Result<Streaming<M>, RemoteError> {
    match tokio::time::timeout(patience, answer).await {
        Ok(Ok(response)) => Ok(response.into_inner()),
        Ok(Err(status)) => Err(refusal(name, &status)),
        Err(_) => Err(RemoteError::Stranger {
            peer: name.to_owned(),
            reason: format!("it was silent for {} s", patience.as_secs()),
        }),
    }
}

/// What a status other than OK says to the user.
fn refusal(name: &str, status: &Status) -> RemoteError {
    let peer = name.to_owned();
    match status.code() {
        Code::Unauthenticated => RemoteError::Denied {
            peer,
            reason: status.message().to_owned(),
        },
        _ => RemoteError::Stranger {
            peer,
            reason: words_of_status(status),
        },
    }
}

/// A status in words, with what is behind it.
pub(crate) fn words_of_status(status: &Status) -> String {
    match std::error::Error::source(status) {
        Some(cause) => chain(cause),
        None => status.message().to_owned(),
    }
}

/// Listens on an address that other machines cannot reach, or cannot use without credentials.
pub(crate) async fn listen(
    address: &Address,
    credentials: &Credentials,
    listener: &'static str,
) -> Result<TcpListener, RemoteError> {
    let failed = |source| RemoteError::Listen {
        address: address.to_string(),
        source,
    };
    let found = address.resolve().await.map_err(failed)?;
    if let Some(exposed) = found.iter().find(|addr| !credentials.guard(**addr)) {
        return Err(RemoteError::Exposed {
            listener,
            address: *exposed,
        });
    }
    TcpListener::bind(found.as_slice()).await.map_err(failed)
}

/// A gRPC server with these credentials.
pub(crate) fn server(credentials: &Credentials, pairing: Pairing) -> Result<Server, RemoteError> {
    let server = match pairing {
        Pairing::ParentAndChild => Server::builder(),
        Pairing::Separate => Server::builder()
            .http2_keepalive_interval(Some(BEAT))
            .http2_keepalive_timeout(Some(SILENCE)),
    };
    match credentials.server_tls() {
        None => Ok(server),
        Some(tls) => server.tls_config(tls).map_err(|error| RemoteError::Tls {
            peer: "a-peer".to_owned(),
            reason: chain(&error),
        }),
    }
}

/// The caller of a request, for the user.
pub(crate) fn caller<T>(request: &Request<T>) -> String {
    let addr: Option<SocketAddr> = request.remote_addr();
    addr.map_or_else(|| "an unknown address".to_owned(), |addr| addr.to_string())
}
