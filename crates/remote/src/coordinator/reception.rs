//! Where workers that dial are received.

use super::Guest;
use crate::address::Address;
use crate::credentials::Credentials;
use crate::dial::{self, Kinship, Peer};
use crate::error::RemoteError;
use crate::wire::coordinator_server::{Coordinator, CoordinatorServer};
use crate::wire::from_coordinator::Kind as Down;
use crate::wire::{FromCoordinator, FromWorker, Over};
use crate::{LARGEST_WORDS, Tell, outbox};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

/// A listener for workers. What has joined lives on when it is dropped, and nobody else can join.
pub(super) struct Reception {
    address: SocketAddr,
    guests: mpsc::Receiver<Guest>,
}

impl Reception {
    pub(super) async fn open(
        address: &Address,
        credentials: &Credentials,
        kinship: Kinship,
        tell: &Tell,
    ) -> Result<Self, RemoteError> {
        let listener =
            dial::listen(address, credentials, "a coordinator that waits for workers").await?;
        let address = listener.local_addr().map_err(RemoteError::Runtime)?;
        let (joined, guests) = mpsc::channel(1);
        let desk = Desk {
            credentials: credentials.clone(),
            joined,
            kinship,
            tell: Arc::clone(tell),
        };
        let service = CoordinatorServer::new(desk).max_decoding_message_size(LARGEST_WORDS);
        let server = dial::server(credentials, kinship)?.add_service(service);
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        tokio::spawn(server.serve_with_incoming(incoming));
        Ok(Self { address, guests })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next that has joined and been greeted.
    pub(super) async fn guest(&mut self) -> Guest {
        match self.guests.recv().await {
            Some(guest) => guest,
            // The server keeps a sender for as long as the runtime is there.
            None => std::future::pending().await,
        }
    }

    pub(super) async fn await_guests(
        &mut self,
        wanted: u32,
        patience: Duration,
    ) -> Result<Vec<Guest>, RemoteError> {
        let mut guests = Vec::new();
        let all = async {
            while guests.len() < wanted as usize {
                guests.push(self.guest().await);
            }
        };
        if tokio::time::timeout(patience, all).await.is_err() {
            return Err(RemoteError::Missing {
                joined: guests.len() as u32,
                wanted,
                waited: patience,
            });
        }
        self.guests.close();
        while let Ok(late) = self.guests.try_recv() {
            let _ = late.peer.outbound.try_send(Down::Over(Over {}).into());
        }
        Ok(guests)
    }
}

/// Answers each that joins.
struct Desk {
    credentials: Credentials,
    joined: mpsc::Sender<Guest>,
    kinship: Kinship,
    tell: Tell,
}

#[tonic::async_trait]
impl Coordinator for Desk {
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
            patience: self.kinship.patience(),
        };
        let (joined, tell) = (self.joined.clone(), Arc::clone(&self.tell));
        tokio::spawn(async move {
            match Guest::greet(peer).await {
                Ok(mut guest) => {
                    guest.peer.name = format!("{} ({})", guest.greeting.host, guest.peer.name);
                    if let Err(late) = joined.send(guest).await {
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
