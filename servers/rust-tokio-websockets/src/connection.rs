//! The library's settings and one connection from its handshake to its end. Does not know what
//! messages say.

use crate::clients::{Client, Clients};
use crate::outbox::{Outbox, size};
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
use tokio_websockets::{CloseCode, Error, Limits, Message, ServerBuilder, WebSocketStream};

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
    pub(crate) clients: Clients,
    pub(crate) perform: fn(Message) -> Option<Answer>,
}

impl Server {
    pub(crate) async fn serve(&self, stream: TcpStream) {
        // Fails when the connection is gone already.
        let _ = stream.set_nodelay(true);
        let (outbox, queue) = Outbox::new();
        let handshake = async {
            // A client that has read the response must get every broadcast from there on, and the
            // library writes the response before it tells. So the client is entered when its
            // request is there.
            stream.peek(&mut [0]).await?;
            let client = self.clients.enter(outbox);
            let limits = Limits::default().max_payload_len(Some(MAX_MESSAGE));
            let (_, socket) = ServerBuilder::new().limits(limits).accept(stream).await?;
            Ok::<_, Error>((client, socket))
        };
        if let Ok(Ok((client, socket))) = timeout(HANDSHAKE, handshake).await {
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
        let too_long = {
            let mut writing = pin!(write(&mut sink, queue, client));
            let mut reading = pin!(self.read(&mut stream, client));
            select! {
                too_long = &mut reading => too_long,
                // The reader meets the same error, or is in the closing handshake.
                _ = &mut writing => return drop(timeout(CLOSE_GRACE, reading).await),
                () = client.overflown() => return,
            }
        };
        let mut socket = sink.reunite(stream).expect("two halves of one socket");
        if too_long {
            client.leave();
            refuse(&mut socket).await;
        }
        finish(socket.into_inner()).await;
    }

    /// Answers messages until the connection ends, and says whether one was too long.
    async fn read(&self, stream: &mut SplitStream<Socket>, client: &Client<'_>) -> bool {
        while let Some(message) = stream.next().await {
            let message = match message {
                Ok(message) => message,
                Err(Error::PayloadTooLong { .. }) => return true,
                // The library sends its close frame, and then ends the stream.
                Err(_) => continue,
            };
            let Some(answer) = (self.perform)(message) else {
                continue;
            };
            carry_out(client, answer);
            client.room().await;
        }
        false
    }
}

/// The library has a close frame ready where one frame was too long, and none where it was a message
/// of several.
async fn refuse(socket: &mut Socket) {
    let close = Message::close(Some(CloseCode::MESSAGE_TOO_BIG), "");
    let _ = timeout(CLOSE_GRACE, async {
        match socket.send(close).await {
            Err(Error::AlreadyClosed) => socket.flush().await,
            sent => sent,
        }
    })
    .await;
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
