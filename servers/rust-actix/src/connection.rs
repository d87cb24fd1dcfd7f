//! One connection from its handshake to its end. Does not know what messages say.

use crate::clients::{Client, Clients};
use crate::outbox::{Outbox, Outgoing};
use crate::protocol::{Action, Answer, Incoming};
use actix_web::body::{BodyStream, BoxBody, MessageBody};
use actix_web::rt::spawn;
use actix_web::rt::time::{sleep, timeout};
use actix_web::web::{Bytes, Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use actix_ws::{
    AggregatedMessage, AggregatedMessageStream, CloseCode, CloseReason, Closed, Item, Message,
    ProtocolError, Session,
};
use futures_util::{SinkExt, StreamExt, future, stream};
use std::io::ErrorKind;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::select;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

/// Bytes (docs/protocol.md, "Limits").
const MAX_MESSAGE: usize = 16 << 20;

/// Bytes in a frame. A session takes 32 frames of whatever size before it makes its sender wait; so
/// this is what bounds the memory behind the queue.
const MAX_FRAME: usize = 64 << 10;

/// Messages taken from the queue at once.
const BATCH: usize = 256;

/// For a peer that does not finish the closing handshake.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

/// Between our close frame after an error and the end of the connection, which peers expect soon.
const LINGER: Duration = Duration::from_millis(250);

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
    let perform = server.perform;
    let (end, ended) = oneshot::channel();
    spawn(async move {
        converse(session, stream, client, queue, perform).await;
        // Fails when the connection is gone already.
        let _ = end.send(());
    });
    Ok(response.map_body(|_, body| lasting(body, ended).boxed()))
}

/// The connection ends with the response's body, and the library ends that with the close frame.
/// This one lasts until `ended`.
fn lasting(mut body: BoxBody, ended: oneshot::Receiver<()>) -> impl MessageBody {
    let frames = stream::poll_fn(move |context| Pin::new(&mut body).poll_next(context));
    let end = stream::once(ended).filter_map(|_| future::ready(None));
    BodyStream::new(frames.chain(end))
}

async fn converse(
    session: Session,
    stream: AggregatedMessageStream,
    client: Client,
    queue: UnboundedReceiver<Outgoing>,
    perform: fn(Incoming) -> Answer,
) {
    let mut writing = pin!(write(session, queue, &client));
    let end = select! {
        end = read(stream, &client, perform) => end,
        // The session has ended.
        _ = &mut writing => return,
        () = client.overflown() => return,
    };
    client.leave();
    let (failed, reason) = match end {
        End::Closed(reason) => (false, reason),
        End::Failed(code) => (true, Some(code.into())),
    };
    client.push(Outgoing::Close(reason));
    let _ = timeout(CLOSE_GRACE, writing).await;
    if failed {
        // Closing a socket that holds unread input resets it. Until then the library reads and
        // discards what comes, and the peer has time to read the close frame.
        sleep(LINGER).await;
    }
}

/// Why no more messages are answered.
enum End {
    /// The peer has closed, or is gone.
    Closed(Option<CloseReason>),
    /// By the library, which does not close the connection.
    Failed(CloseCode),
}

/// Answers messages until the connection ends.
async fn read(
    mut stream: AggregatedMessageStream,
    client: &Client,
    perform: fn(Incoming) -> Answer,
) -> End {
    while let Some(message) = stream.recv().await {
        let message = match message {
            Ok(AggregatedMessage::Text(text)) => Incoming::Text(text),
            Ok(AggregatedMessage::Binary(data)) => Incoming::Binary(data),
            Ok(AggregatedMessage::Ping(data)) => {
                client.push(Outgoing::Pong(data));
                continue;
            }
            Ok(AggregatedMessage::Pong(_)) => continue,
            Ok(AggregatedMessage::Close(reason)) => return End::Closed(reason),
            Err(error) => return End::Failed(close_code(&error)),
        };
        let answer = perform(message);
        carry_out(client, answer);
        client.room().await;
    }
    End::Closed(None)
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
        ProtocolError::Io(error) if error.kind() == ErrorKind::InvalidData => {
            // Only the words tell this error from that of text that is not UTF-8.
            if error.to_string().contains("reserved bits") {
                CloseCode::Protocol
            } else {
                CloseCode::Invalid
            }
        }
        // Too many bytes in all fragments; or the connection is gone, and no code is sent.
        ProtocolError::Io(_) | ProtocolError::Overflow => CloseCode::Size,
        _ => CloseCode::Protocol,
    }
}
