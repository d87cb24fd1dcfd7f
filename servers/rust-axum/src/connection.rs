//! The library's settings and one connection from its handshake to its end. Does not know what
//! messages say.

use crate::clients::{Client, Clients};
use crate::outbox::{MAX_KEPT, Outbox, size};
use crate::protocol::{Action, Answer};
use axum::Error;
use axum::extract::State;
use axum::extract::ws::{CloseCode, CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::select;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{sleep, timeout};
use tungstenite::error::ProtocolError;

/// Bytes (docs/protocol.md, "Limits").
const MAX_MESSAGE: usize = 16 << 20;

/// Bytes. The library refuses a larger frame by its head and reads no more, so a peer that is still
/// sending would meet a reset in place of the close frame. A frame in between is read before its
/// message is refused.
const MAX_FRAME: usize = 2 * MAX_MESSAGE;

/// Bytes; what the library below advises for many connections. It is reserved for each from the
/// start.
const READ_BUFFER: usize = 4 << 10;

/// Messages that are put into the library's buffer before it is flushed.
const BATCH: usize = 256;

/// For a peer that does not finish the closing handshake.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

/// Between our close frame after an error and the end of the connection, which peers expect soon.
const LINGER: Duration = Duration::from_millis(250);

#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) clients: Arc<Clients>,
    pub(crate) perform: fn(Message) -> Option<Answer>,
}

pub(crate) async fn upgrade(request: WebSocketUpgrade, State(server): State<Server>) -> Response {
    let (outbox, queue) = Outbox::new();
    // A client that has read the response must get every broadcast from there on. So it is entered
    // before the response is written.
    let client = server.clients.enter(outbox);
    request
        .read_buffer_size(READ_BUFFER)
        // Pongs go past the queue; this is their bound.
        .max_write_buffer_size(MAX_KEPT)
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_FRAME)
        .on_upgrade(move |socket| converse(socket, client, queue, server.perform))
}

async fn converse(
    socket: WebSocket,
    client: Client,
    queue: UnboundedReceiver<Message>,
    perform: fn(Message) -> Option<Answer>,
) {
    let (mut sink, mut stream) = socket.split();
    let mut writing = pin!(write(&mut sink, queue, &client));
    let code = {
        let mut reading = pin!(read(&mut stream, &client, perform));
        select! {
            code = &mut reading => code,
            // The reader meets the same error, or is in the closing handshake.
            _ = &mut writing => return drop(timeout(CLOSE_GRACE, reading).await),
            () = client.overflown() => return,
        }
    };
    let Some(code) = code else {
        return;
    };
    client.leave();
    client.push(Message::Close(Some(CloseFrame {
        code,
        reason: "".into(),
    })));
    let _ = timeout(CLOSE_GRACE, writing).await;
    // Closing a socket that holds unread input resets it. This leaves the peer time to read the close
    // frame.
    sleep(LINGER).await;
}

/// Answers messages until the connection ends, and says with which code it is to be closed, if the
/// library has met an error. It reads no more then.
async fn read(
    stream: &mut SplitStream<WebSocket>,
    client: &Client,
    perform: fn(Message) -> Option<Answer>,
) -> Option<CloseCode> {
    while let Some(message) = stream.next().await {
        let message = match message {
            Ok(message) => message,
            Err(error) => return code_for(error),
        };
        let Some(answer) = perform(message) else {
            continue;
        };
        carry_out(client, answer);
        client.room().await;
    }
    None
}

fn carry_out(client: &Client, answer: Answer) {
    match answer.action {
        Action::Reply => {}
        Action::Broadcast(message) => client.broadcast(&message),
        Action::Publish(topic, message) => client.publish(&topic, &message),
        Action::Subscribe(topic) => return client.subscribe(topic, answer.reply),
        Action::Unsubscribe(topic) => return client.unsubscribe(&topic, answer.reply),
    }
    client.push(answer.reply);
}

/// Sends what comes into the queue, to the close frame. What has piled up leaves in one flush.
async fn write(
    sink: &mut SplitSink<WebSocket, Message>,
    mut queue: UnboundedReceiver<Message>,
    outbox: &Outbox,
) -> Result<(), Error> {
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let bytes = batch.iter().map(size).sum();
        let last = matches!(batch.last(), Some(Message::Close(_)));
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
fn code_for(error: Error) -> Option<CloseCode> {
    match *error.into_inner().downcast().ok()? {
        tungstenite::Error::Capacity(_) => Some(close_code::SIZE),
        tungstenite::Error::Utf8(_) => Some(close_code::INVALID),
        tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => None,
        tungstenite::Error::Protocol(_) => Some(close_code::PROTOCOL),
        _ => None,
    }
}
