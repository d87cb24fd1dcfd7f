//! The library's settings and one connection from its handshake to its end. Does not know what
//! messages say.

use crate::clients::{Client, Clients};
use crate::outbox::{MAX_KEPT, Outbox, size};
use crate::protocol::{Action, Answer};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use std::pin::pin;
use std::time::Duration;
use tokio::io::{self, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::select;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::error::{Error, ProtocolError, Result};
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, WebSocketConfig};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};

/// Bytes (docs/protocol.md, "Limits").
const MAX_MESSAGE: usize = 16 << 20;

/// Bytes; what the library's documentation advises for many connections.
const READ_BUFFER: usize = 4 << 10;

/// Messages that are put into the library's buffer before it is flushed.
const BATCH: usize = 256;

/// For a peer that does not finish the opening handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// For a peer that does not finish the closing handshake.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

type Socket = WebSocketStream<TcpStream>;

pub(crate) struct Server {
    pub(crate) clients: Clients,
    pub(crate) perform: fn(Message) -> Option<Answer>,
}

impl Server {
    pub(crate) async fn serve(&self, stream: TcpStream) {
        // Fails when the connection is gone already.
        let _ = stream.set_nodelay(true);
        let (outbox, queue) = Outbox::new();
        let mut client = None;
        // A client that has read the response must get every broadcast from there on. So it is
        // entered before the library writes the response.
        #[expect(clippy::result_large_err, reason = "the library's type")]
        let enter = |_: &Request, response: Response| {
            client = Some(self.clients.enter(outbox));
            Ok(response)
        };
        let handshake = accept_hdr_async_with_config(stream, enter, Some(config()));
        let handshake = timeout(HANDSHAKE, handshake).await;
        if let (Ok(Ok(socket)), Some(client)) = (handshake, client) {
            self.converse(socket, &client, queue).await;
        }
    }

    async fn converse(
        &self,
        socket: Socket,
        client: &Client<'_>,
        queue: UnboundedReceiver<Message>,
    ) {
        let (mut sink, mut stream) = socket.split();
        {
            let mut writing = pin!(write(&mut sink, queue, client));
            let mut reading = pin!(self.read(&mut stream, client));
            let code = select! {
                code = &mut reading => code,
                // The reader meets the same error, or is in the closing handshake.
                _ = &mut writing => return drop(timeout(CLOSE_GRACE, reading).await),
                () = client.overflown() => return,
            };
            let Some(code) = code else { return };
            client.leave();
            client.push(Message::Close(Some(CloseFrame {
                code,
                reason: "".into(),
            })));
            if !matches!(timeout(CLOSE_GRACE, writing).await, Ok(Ok(()))) {
                return;
            }
        }
        let socket = sink.reunite(stream).expect("two halves of one socket");
        finish(socket.into_inner()).await;
    }

    /// Answers messages until the connection ends, and says with which code it is to be closed, if
    /// it has not been.
    async fn read(
        &self,
        stream: &mut SplitStream<Socket>,
        client: &Client<'_>,
    ) -> Option<CloseCode> {
        while let Some(message) = stream.next().await {
            let message = match message {
                Ok(message) => message,
                Err(error) => return close_code(&error),
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

fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        // Pongs go past the queue; this is their bound.
        .max_write_buffer_size(MAX_KEPT)
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE))
}

/// Sends what comes into the queue, to the close frame. What has piled up leaves in one flush.
async fn write(
    sink: &mut SplitSink<Socket, Message>,
    mut queue: UnboundedReceiver<Message>,
    outbox: &Outbox,
) -> Result<()> {
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let bytes = batch.iter().map(size).sum();
        let last = batch.last().is_some_and(Message::is_close);
        for message in batch.drain(..) {
            sink.feed(message).await?;
        }
        sink.flush().await?;
        outbox.release(bytes);
        if last {
            break;
        }
    }
    Ok(())
}

/// The library leaves it to the application to close after an error.
fn close_code(error: &Error) -> Option<CloseCode> {
    match error {
        Error::Capacity(_) => Some(CloseCode::Size),
        Error::Utf8(_) => Some(CloseCode::Invalid),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        Error::Protocol(_) => Some(CloseCode::Protocol),
        _ => None,
    }
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
