//! The library's settings and one connection from its handshake to its end. Does not know what
//! messages say.

use crate::clients::{Client, Clients};
use crate::outbox::{Outbox, size};
use crate::protocol::{Action, Answer};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use sockudo_ws::error::{CloseReason, Error};
use sockudo_ws::handshake::server_handshake;
use sockudo_ws::{Config, Message, Role, WebSocketStream};
use std::pin::pin;
use std::time::Duration;
use tokio::io::{self, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::select;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

/// Bytes (docs/protocol.md, "Limits").
const MAX_MESSAGE: usize = 16 << 20;

/// Messages that are put into the library's queue before it is flushed.
const BATCH: usize = 256;

/// For a peer that does not finish the opening handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// For a peer that does not finish the closing handshake.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

type Socket = WebSocketStream<TcpStream>;

pub(crate) struct Server {
    clients: Clients,
    config: Config,
    perform: fn(Message) -> Option<Answer>,
}

impl Server {
    pub(crate) fn new(perform: fn(Message) -> Option<Answer>) -> Self {
        let config = Config::builder()
            .max_payload_length(MAX_MESSAGE)
            .idle_timeout(0)
            .auto_ping(false)
            .build();
        Self {
            clients: Clients::default(),
            config,
            perform,
        }
    }

    pub(crate) async fn serve(&self, mut stream: TcpStream) {
        // Fails when the connection is gone already.
        let _ = stream.set_nodelay(true);
        let (outbox, queue) = Outbox::new();
        let handshake = async {
            // A client that has read the response must get every broadcast from there on, and the
            // library writes the response before it tells. So the client is entered when its
            // request is there.
            stream.peek(&mut [0]).await?;
            let client = self.clients.enter(outbox);
            Ok::<_, Error>((client, server_handshake(&mut stream).await?))
        };
        if let Ok(Ok((client, request))) = timeout(HANDSHAKE, handshake).await {
            let (config, behind) = (self.config.clone(), request.leftover);
            let socket =
                WebSocketStream::from_raw_with_leftover(stream, Role::Server, config, behind);
            self.converse(socket, &client, queue).await;
        }
    }

    async fn converse(
        &self,
        socket: Socket,
        client: &Client<'_>,
        queue: UnboundedReceiver<Message>,
    ) {
        // Not the library's own halves, whose sends are flushed one by one.
        let (mut sink, mut stream) = StreamExt::split(socket);
        let refused = {
            let mut writing = pin!(write(&mut sink, queue, client));
            let mut reading = pin!(self.read(&mut stream, client));
            select! {
                refused = &mut reading => refused,
                // The reader meets the same error, or is in the closing handshake.
                _ = &mut writing => return drop(timeout(CLOSE_GRACE, reading).await),
                () = client.overflown() => return,
            }
        };
        client.leave();
        let mut socket = sink.reunite(stream).expect("two halves of one socket");
        if let Some(code) = refused {
            let close = Message::Close(Some(CloseReason::new(code, "")));
            let _ = timeout(CLOSE_GRACE, socket.send(close)).await;
        }
        finish(socket.into_inner()).await;
    }

    /// Answers messages until the connection ends, and gives the code of the close frame that an error
    /// asks for.
    async fn read(&self, stream: &mut SplitStream<Socket>, client: &Client<'_>) -> Option<u16> {
        while let Some(message) = stream.next().await {
            let message = match message {
                Ok(message) => message,
                Err(error) => return code(&error),
            };
            let Some(answer) = (self.perform)(message) else {
                continue;
            };
            carry_out(client, answer);
            client.room().await;
        }
        None
    }
}

/// `None` where the peer is gone and cannot read it.
fn code(error: &Error) -> Option<u16> {
    match error {
        Error::Io(_) | Error::ConnectionClosed | Error::ConnectionReset | Error::Closed(_) => None,
        Error::InvalidUtf8 => Some(CloseReason::INVALID_PAYLOAD),
        Error::MessageTooLarge | Error::FrameTooLarge => Some(CloseReason::TOO_BIG),
        _ => Some(CloseReason::PROTOCOL_ERROR),
    }
}

fn carry_out(client: &Client<'_>, answer: Answer) {
    match answer.action {
        Action::Reply => {}
        Action::Broadcast(message) => client.broadcast(&message),
        Action::Publish(topic, message) => client.publish(&topic, &message),
        Action::Subscribe(topic) => return client.subscribe(topic, answer.reply),
        Action::Unsubscribe(topic) => return client.unsubscribe(&topic, answer.reply),
    }
    client.push(answer.reply);
}

/// Sends what comes into the queue. What has piled up leaves in one flush.
async fn write(
    sink: &mut SplitSink<Socket, Message>,
    mut queue: UnboundedReceiver<Message>,
    outbox: &Outbox,
) -> Result<(), Error> {
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let bytes = batch.iter().map(size).sum();
        for message in batch.drain(..) {
            sink.feed(message).await?;
        }
        sink.flush().await?;
        outbox.release(bytes);
    }
    Ok(())
}

/// Closing a socket that holds unread input resets it, and the peer may then never see the close
/// frame; so the sending half is closed first and the input read to its end.
async fn finish(mut stream: TcpStream) {
    let _ = timeout(CLOSE_GRACE, async {
        stream.shutdown().await?;
        io::copy(&mut stream, &mut io::sink()).await
    })
    .await;
}
