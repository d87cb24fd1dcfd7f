//! The library's settings and one connection from its handshake to its end. Does not know what
//! messages say.

use crate::clients::{Client, Clients};
use crate::outbox::{Message, Outbox};
use crate::protocol::{Action, Answer};
use bytes::{Bytes, BytesMut};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{self, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::select;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;
use wtx::Error;
use wtx::collection::Vector;
use wtx::rng::Xorshift64;
use wtx::web_socket::{
    CloseCode, Frame, OpCode, WebSocketAcceptor, WebSocketError, WebSocketPartsOwned,
    WebSocketPayloadOrigin, WebSocketReaderOwned, WebSocketReplier, WebSocketWriterOwned,
};

/// Bytes (docs/protocol.md, "Limits").
const MAX_MESSAGE: usize = 16 << 20;

/// Messages that are taken from the queue at once.
const BATCH: usize = 256;

/// For a peer that does not finish the opening handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// For a peer that does not finish the closing handshake.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

type Parts<'a> =
    WebSocketPartsOwned<(), Xorshift64, &'a mut OwnedReadHalf, &'a mut OwnedWriteHalf, false>;
type Replier = WebSocketReplier<false>;
type Reader<'a> = WebSocketReaderOwned<(), Xorshift64, &'a mut OwnedReadHalf, false>;
type Writer<'a> = WebSocketWriterOwned<(), Xorshift64, &'a mut OwnedWriteHalf, false>;

pub(crate) struct Server {
    pub(crate) clients: Arc<Clients>,
    pub(crate) perform: fn(Message) -> Answer,
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
            let acceptor = WebSocketAcceptor::default().no_masking(false);
            Ok::<_, Error>((client, acceptor.accept(stream).await?))
        };
        let Ok(Ok((client, mut socket))) = timeout(HANDSHAKE, handshake).await else {
            return;
        };
        socket.set_max_payload_len(MAX_MESSAGE + 1); // the first size that is refused
        // The library's halves borrow those of the stream, which are needed after them.
        let mut halves = None;
        let slot = &mut halves;
        let Ok(parts) = socket.into_split(move |stream| {
            let (input, output) = slot.insert(stream.into_split());
            (input, output)
        }) else {
            return;
        };
        let closed = self.converse(parts, &client, queue).await;
        if let (true, Some((input, output))) = (closed, halves) {
            finish(input, output).await;
        }
    }

    /// Says whether a close frame has been written.
    async fn converse(
        &self,
        parts: Parts<'_>,
        client: &Client,
        queue: UnboundedReceiver<Message>,
    ) -> bool {
        let WebSocketPartsOwned {
            mut reader,
            replier,
            writer,
        } = parts;
        let mut writing = pin!(write(writer, queue, client));
        let mut reading = pin!(self.read(&mut reader, &replier, client));
        let closing = select! {
            closing = &mut reading => closing,
            // The reader meets the same error, or is in the closing handshake.
            written = &mut writing => {
                let _ = timeout(CLOSE_GRACE, reading).await;
                return written.is_ok();
            }
            () = client.overflown() => return false,
        };
        client.leave();
        closing && matches!(timeout(CLOSE_GRACE, writing).await, Ok(Ok(())))
    }

    /// Answers messages until the connection ends, and says whether a close frame is in the queue.
    async fn read(&self, reader: &mut Reader<'_>, replier: &Replier, client: &Client) -> bool {
        // Holds the fragments of a message, between which the library returns control frames.
        let mut buffer = Vector::new();
        loop {
            let frame = reader.read_frame(&mut buffer, WebSocketPayloadOrigin::Adaptive);
            let frame = match frame.await {
                Ok(frame) => frame,
                Err(error) => return close(client, &error),
            };
            let opcode = frame.op_code();
            match opcode {
                OpCode::Text | OpCode::Binary => {
                    let payload = Bytes::copy_from_slice(frame.payload());
                    let answer = (self.perform)(Message { opcode, payload });
                    carry_out(client, answer);
                }
                // The library holds one answer, and a later one takes its place: fetched at once.
                OpCode::Ping | OpCode::Close => {
                    if let Some(reply) = replier.reply_frame().await {
                        client.push(Message {
                            opcode: reply.op_code(),
                            payload: Bytes::copy_from_slice(reply.payload()),
                        });
                    }
                }
                _ => {}
            }
            if opcode == OpCode::Close {
                return true;
            }
            client.room().await;
        }
    }
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

/// Sends what comes into the queue, to the close frame.
async fn write(
    mut writer: Writer<'_>,
    mut queue: UnboundedReceiver<Message>,
    outbox: &Outbox,
) -> wtx::Result<()> {
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        for message in batch.drain(..) {
            let size = message.size();
            // Copies the bytes where other clients share them: the library wants them mutable.
            let mut payload = BytesMut::from(message.payload);
            let mut frame = Frame::new_fin(message.opcode, &mut payload[..]);
            writer.write_frame(&mut frame).await?;
            outbox.release(size);
            if message.opcode == OpCode::Close {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The library leaves it to the application to close after an error. Says whether it was one after
/// which there is a connection to close.
fn close(client: &Client, error: &Error) -> bool {
    let code = match error {
        Error::IoError(_) | Error::UnexpectedStreamReadEOF => return false,
        Error::WebSocketError(WebSocketError::VeryLargePayload) => CloseCode::Size,
        Error::InvalidUTF8 => CloseCode::Invalid,
        _ => CloseCode::Protocol,
    };
    client.push(Message {
        opcode: OpCode::Close,
        payload: Bytes::copy_from_slice(&u16::from(code).to_be_bytes()),
    });
    true
}

/// Closing a socket that holds unread input resets it, and the peer may then never see the close
/// frame; so the sending half is closed first and the input read to its end.
async fn finish(mut input: OwnedReadHalf, mut output: OwnedWriteHalf) {
    let _ = timeout(CLOSE_GRACE, async {
        output.shutdown().await?;
        io::copy(&mut input, &mut io::sink()).await
    })
    .await;
}
