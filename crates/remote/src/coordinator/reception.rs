//! Accepts workers that dial in.

use super::JoinedWorker;
use crate::address::Address;
use crate::credentials::Credentials;
use crate::dial::{self, Pairing, Peer};
use crate::error::RemoteError;
use crate::wire::coordinator_server::{Coordinator, CoordinatorServer};
use crate::wire::from_coordinator::Kind as Down;
use crate::wire::{FromCoordinator, FromWorker, Over};
use crate::{LARGEST_REPORTS, Tell, outbox};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

/// A listener for workers. When it is dropped, the workers that have joined stay, and no more
/// can join.
pub(super) struct Reception {
    address: SocketAddr,
    workers: mpsc::Receiver<JoinedWorker>,
}

impl Reception {
    pub(super) async fn open(
        address: &Address,
        credentials: &Credentials,
        pairing: Pairing,
        tell: &Tell,
    ) -> Result<Self, RemoteError> {
        let listener =
            dial::listen(address, credentials, "a coordinator that waits for workers").await?;
        let address = listener.local_addr().map_err(RemoteError::Runtime)?;
        let (joined, workers) = mpsc::channel(1);
        let service = Service {
            credentials: credentials.clone(),
            joined,
            pairing,
            tell: Arc::clone(tell),
        };
        let service = CoordinatorServer::new(service).max_decoding_message_size(LARGEST_REPORTS);
        let server = dial::server(credentials, pairing)?;
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        tokio::spawn(server.serve_with_incoming(service, incoming));
        Ok(Self { address, workers })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next that has joined and been greeted.
    pub(super) async fn worker(&mut self) -> JoinedWorker {
        match self.workers.recv().await {
            Some(worker) => worker,
            // The server keeps a sender for as long as the runtime is there.
            None => std::future::pending().await,
        }
    }

    pub(super) async fn await_workers(
        &mut self,
        wanted: u32,
        patience: Duration,
    ) -> Result<Vec<JoinedWorker>, RemoteError> {
        let mut workers = Vec::new();
        let all = async {
            while workers.len() < wanted as usize {
                workers.push(self.worker().await);
            }
        };
        if tokio::time::timeout(patience, all).await.is_err() {
            return Err(RemoteError::Missing {
                joined: workers.len() as u32,
                wanted,
                waited: patience,
            });
        }
        self.workers.close();
        while let Ok(late) = self.workers.try_recv() {
            let _ = late.peer.outbound.try_send(Down::Over(Over {}).into());
        }
        Ok(workers)
    }
}

/// Answers each that joins.
struct Service {
    credentials: Credentials,
    joined: mpsc::Sender<JoinedWorker>,
    pairing: Pairing,
    tell: Tell,
}

#[tonic::async_trait]
impl Coordinator for Service {
    type JoinStream = Pin<Box<dyn Stream<Item = Result<FromCoordinator, Status>> + Send>>;

    async fn join(
        &self,
        request: Request<Streaming<FromWorker>>,
    ) -> Result<Response<Self::JoinStream>, Status> {
        let caller = dial::caller(&request);
        if let Err(status) = self.credentials.admit(request.metadata()) {
            (self.tell)(&format!(
                "turned the worker {caller} away: {}",
                status.message()
            ));
            return Err(status);
        }
        let (outbound, messages) = mpsc::channel(outbox::DEPTH);
        let peer = Peer {
            name: caller,
            inbound: request.into_inner(),
            outbound,
            patience: self.pairing.patience(),
        };
        let (joined, tell) = (self.joined.clone(), Arc::clone(&self.tell));
        tokio::spawn(async move {
            match JoinedWorker::greet(peer).await {
                Ok(mut worker) => {
                    worker.peer.name = format!("{} ({})", worker.greeting.host, worker.peer.name);
                    if let Err(late) = joined.send(worker).await {
                        let _ = late.0.peer.send(Down::Over(Over {})).await;
                    }
                }
                Err(error) => tell(&format!("turned a worker away: {error}")),
            }
        });
        Ok(Response::new(Box::pin(
            ReceiverStream::new(messages).map(Ok),
        )))
    }
}
