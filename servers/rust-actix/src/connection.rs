//! One connection from its handshake to its end. Does not know what messages say.

use crate::clients::{Client, Clients};
use crate::outbox::{Outbox, Outgoing};
use crate::protocol::{Answer, Incoming};
use actix_web::rt::{spawn, time::timeout};
use actix_web::web::{Bytes, Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use actix_ws::{
    AggregatedMessage, AggregatedMessageStream, CloseCode, CloseReason, Closed, Item, Message,
    ProtocolError, Session,
};
use futures_util::SinkExt;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::select;
use tokio::sync::mpsc::UnboundedReceiver;

/// Bytes (docs/protocol.md, "Limits").
const MAX_MESSAGE: usize = 16 << 20;

/// Bytes in a frame. A session takes 32 frames of whatever size before it makes its sender wait; so
/// this is what bounds the memory behind the queue.
const MAX_FRAME: usize = 64 << 10;

/// Messages taken from the queue at once.
const BATCH: usize = 256;

/// For a peer that does not finish the closing handshake.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

pub(crate) struct Server {
    pub(crate) clients: Arc<Clients>,
    pub(crate) perform: fn(Incoming) -> Answer,
}

pub(crate) async fn upgrade(
    request: HttpRequest,
    body: Payload,
    server: Data<Server>,
) -> actix_web::Result<HttpResponse> {
    let (response, session, stream) = actix_ws::handle(&request, body)?;
    let stream = stream
        .max_frame_size(MAX_MESSAGE)
        .aggregate_continuations()
        .max_continuation_size(MAX_MESSAGE);
    let (outbox, queue) = Outbox::new();
    // A client that has read the response must get every broadcast from there on. So it is entered
    // before the response is written.
    let client = server.clients.enter(outbox);
    spawn(converse(session, stream, client, queue, server.perform));
    Ok(response)
}

async fn converse(
    session: Session,
    stream: AggregatedMessageStream,
    client: Client,
    queue: UnboundedReceiver<Outgoing>,
    perform: fn(Incoming) -> Answer,
) {
    let mut writing = pin!(write(session, queue, &client));
    let close = select! {
        close = read(stream, &client, perform) => close,
        // The session has ended.
        _ = &mut writing => return,
        () = client.overflown() => return,
    };
    client.leave();
    client.push(Outgoing::Close(close));
    let _ = timeout(CLOSE_GRACE, writing).await;
}

/// Answers messages until the connection ends, and says what the close frame is to hold.
async fn read(
    mut stream: AggregatedMessageStream,
    client: &Client,
    perform: fn(Incoming) -> Answer,
) -> Option<CloseReason> {
    while let Some(message) = stream.recv().await {
        let message = match message {
            Ok(AggregatedMessage::Text(text)) => Incoming::Text(text),
            Ok(AggregatedMessage::Binary(data)) => Incoming::Binary(data),
            Ok(AggregatedMessage::Ping(data)) => {
                client.push(Outgoing::Pong(data));
                continue;
            }
            Ok(AggregatedMessage::Pong(_)) => continue,
            Ok(AggregatedMessage::Close(reason)) => return reason,
            Err(error) => return Some(close_code(&error).into()),
        };
        let answer = perform(message);
        if let Some(broadcast) = answer.broadcast {
            client.broadcast(&broadcast);
        }
        client.push(answer.reply);
        client.room().await;
    }
    None
}

/// Hands what comes into the queue to the session, to the close frame.
async fn write(
    mut session: Session,
    mut queue: UnboundedReceiver<Outgoing>,
    outbox: &Outbox,
) -> Result<(), Closed> {
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        for message in batch.drain(..) {
            let size = message.size();
            match message {
                Outgoing::Text(text) if text.len() > MAX_FRAME => {
                    send_fragments(&mut session, Item::FirstText, text.into_bytes()).await?;
                }
                Outgoing::Binary(data) if data.len() > MAX_FRAME => {
                    send_fragments(&mut session, Item::FirstBinary, data).await?;
                }
                Outgoing::Text(text) => session.send(Message::Text(text)).await?,
                Outgoing::Binary(data) => session.send(Message::Binary(data)).await?,
                Outgoing::Pong(data) => session.send(Message::Pong(data)).await?,
                Outgoing::Close(reason) => return session.close(reason).await,
            }
            outbox.release(size);
        }
    }
    Ok(())
}

async fn send_fragments(
    session: &mut Session,
    first: fn(Bytes) -> Item,
    mut data: Bytes,
) -> Result<(), Closed> {
    session
        .continuation(first(data.split_to(MAX_FRAME)))
        .await?;
    while data.len() > MAX_FRAME {
        let next = Item::Continue(data.split_to(MAX_FRAME));
        session.continuation(next).await?;
    }
    session.continuation(Item::Last(data)).await
}

/// The library leaves it to the application to close after an error.
fn close_code(error: &ProtocolError) -> CloseCode {
    match error {
        ProtocolError::Io(error) if error.kind() == ErrorKind::InvalidData => CloseCode::Invalid,
        // Too many bytes in all fragments; or the connection is gone, and no code is sent.
        ProtocolError::Io(_) | ProtocolError::Overflow => CloseCode::Size,
        _ => CloseCode::Protocol,
    }
}
