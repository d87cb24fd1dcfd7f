//! The HTTP side and one connection from its handshake to its end. Does not know what messages say.

use crate::clients::{Client, Clients};
use crate::fragments::Fragments;
use crate::outbox::{Message, Outbox};
use crate::protocol::{Action, Answer};
use bytes::Bytes;
use fastwebsockets::upgrade::{UpgradeFut, is_upgrade_request, upgrade};
use fastwebsockets::{
    CloseCode, Frame, OpCode, Role, WebSocketError, WebSocketRead, WebSocketWrite,
    after_handshake_split,
};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::header::SEC_WEBSOCKET_VERSION;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{self, AsyncRead, AsyncWrite, AsyncWriteExt, BufWriter};
use tokio::net::TcpStream;
use tokio::select;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

/// Bytes (docs/protocol.md, "Limits").
const MAX_MESSAGE: usize = 16 << 20;

/// Messages that are written to the buffer before it is flushed.
const BATCH: usize = 256;

/// For a peer that does not finish the closing handshake.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

pub(crate) struct Server {
    pub(crate) clients: Arc<Clients>,
    pub(crate) perform: fn(Message) -> Answer,
}

impl Server {
    pub(crate) async fn serve(&self, stream: TcpStream) {
        // Fails when the connection is gone already.
        let _ = stream.set_nodelay(true);
        let service = service_fn(|request| ready(Ok::<_, Infallible>(self.upgrade(request))));
        let connection = http1::Builder::new()
            // hyper's limit for a request's head, which it does not keep without a timer.
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service);
        // Its errors are those of one client.
        let _ = connection.with_upgrades().await;
    }

    fn upgrade(&self, mut request: Request<Incoming>) -> Response<Empty<Bytes>> {
        if !is_upgrade_request(&request) {
            return refusal(StatusCode::BAD_REQUEST);
        }
        let (response, upgraded) = match upgrade(&mut request) {
            Ok(accepted) => accepted,
            Err(WebSocketError::InvalidSecWebsocketVersion) => {
                let mut response = refusal(StatusCode::UPGRADE_REQUIRED);
                let version = "13".parse().expect("a header's value");
                response
                    .headers_mut()
                    .insert(SEC_WEBSOCKET_VERSION, version);
                return response;
            }
            Err(_) => return refusal(StatusCode::BAD_REQUEST),
        };
        let (outbox, queue) = Outbox::new();
        // A client that has read the response must get every broadcast from there on. So it is
        // entered before the response is written.
        let client = self.clients.enter(outbox);
        tokio::spawn(converse(upgraded, client, queue, self.perform));
        response
    }
}

fn refusal(status: StatusCode) -> Response<Empty<Bytes>> {
    let mut response = Response::new(Empty::new());
    *response.status_mut() = status;
    response
}

async fn converse(
    upgraded: UpgradeFut,
    client: Client,
    queue: UnboundedReceiver<Message>,
    perform: fn(Message) -> Answer,
) {
    let Ok(socket) = upgraded.await else { return };
    // The library's halves borrow those of the stream, which are needed after them.
    let (mut input, mut output) = io::split(socket.into_inner());
    {
        let output = BufWriter::new(&mut output);
        let (mut reader, writer) = after_handshake_split(&mut input, output, Role::Server);
        reader.set_max_message_size(MAX_MESSAGE + 1); // the first size that is refused
        let mut writing = pin!(write(writer, queue, &client));
        let mut reading = pin!(read(reader, &client, perform));
        let closing = select! {
            closing = &mut reading => closing,
            // The reader meets the same error, or is in the closing handshake.
            _ = &mut writing => return drop(timeout(CLOSE_GRACE, reading).await),
            () = client.overflown() => return,
        };
        client.leave();
        if !closing || !matches!(timeout(CLOSE_GRACE, writing).await, Ok(Ok(()))) {
            return;
        }
    }
    // Closing a socket that holds unread input resets it, and the peer may then never see the close
    // frame; so the sending half is closed first and the input read to its end.
    let _ = timeout(CLOSE_GRACE, async {
        output.shutdown().await?;
        io::copy(&mut input, &mut io::sink()).await
    })
    .await;
}

/// Answers messages until the connection ends, and says whether a close frame is in the queue.
async fn read(
    mut reader: WebSocketRead<impl AsyncRead + Unpin>,
    client: &Client,
    perform: fn(Message) -> Answer,
) -> bool {
    let mut fragments = Fragments::default();
    // Pongs and the answer to a close frame.
    let mut send = |frame: Frame<'_>| {
        client.push(frame.into());
        ready(Ok::<_, WebSocketError>(()))
    };
    loop {
        let mut frame = match reader.read_frame(&mut send).await {
            Ok(frame) => frame,
            Err(error) => return close(client, &error),
        };
        if !masked(&mut frame) {
            return refuse(client, CloseCode::Protocol);
        }
        let message = match frame.opcode {
            OpCode::Close => return true,
            OpCode::Ping | OpCode::Pong => continue,
            _ => fragments.add(frame, MAX_MESSAGE),
        };
        match message {
            Ok(Some(message)) => {
                let answer = perform(message);
                carry_out(client, answer);
                client.room().await;
            }
            Ok(None) => {}
            Err(error) => return close(client, &error),
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

/// Sends what comes into the queue, to the close frame. What has piled up leaves in one flush.
async fn write(
    mut writer: WebSocketWrite<impl AsyncWrite + Unpin>,
    mut queue: UnboundedReceiver<Message>,
    outbox: &Outbox,
) -> Result<(), WebSocketError> {
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let bytes = batch.iter().map(Message::size).sum();
        let end = batch
            .iter()
            .position(|message| message.opcode == OpCode::Close);
        if let Some(close) = end {
            // The library refuses what comes behind it.
            batch.truncate(close + 1);
        }
        for message in batch.drain(..) {
            writer.write_frame(message.frame()).await?;
        }
        writer.flush().await?;
        outbox.release(bytes);
        if end.is_some() {
            break;
        }
    }
    Ok(())
}

/// The library accepts frames that are not masked (RFC 6455, section 5.1), and tells the mask by
/// the frame's head alone.
fn masked(frame: &mut Frame<'_>) -> bool {
    let mut head = [0; 16];
    frame.fmt_head(&mut head);
    head[1] & 0x80 != 0
}

/// The library leaves it to the application to close after an error. Says whether it was one after
/// which there is a connection to close.
fn close(client: &Client, error: &WebSocketError) -> bool {
    let code = match error {
        WebSocketError::UnexpectedEOF | WebSocketError::IoError(_) => return false,
        // The library has sent a close frame.
        WebSocketError::InvalidCloseCode => return true,
        WebSocketError::FrameTooLarge => CloseCode::Size,
        WebSocketError::InvalidUTF8 => CloseCode::Invalid,
        _ => CloseCode::Protocol,
    };
    refuse(client, code)
}

fn refuse(client: &Client, code: CloseCode) -> bool {
    client.push(Frame::close(code.into(), b"").into());
    true
}
