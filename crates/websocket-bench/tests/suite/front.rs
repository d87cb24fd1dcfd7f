//! What stands before an honest server and looks at each request: a gate with rules of its own, or a
//! proxy. Whatever passes goes on to the server, byte by byte.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use test_servers::{NullOptions, NullServer};

/// What becomes of a request.
pub(crate) enum Verdict {
    /// It goes to the server, whose answer gets these lines besides.
    Pass(&'static str),
    /// This answer, and the bytes behind it go to the server.
    Tunnel(&'static str),
    /// This answer, and the end of the connection.
    Refuse(String),
    /// No answer.
    Silence,
    /// This, over and over until the client has gone.
    Endless(&'static str),
}

type Judge = Arc<dyn Fn(&str) -> Verdict + Send + Sync>;

/// A front before a server. Both end with the test.
pub(crate) struct Front {
    pub(crate) addr: SocketAddr,
    /// The heads of all requests.
    heads: Receiver<String>,
    /// Ends with it.
    _server: NullServer,
}

trait Socket: Read + Write + Send + Sized + 'static {
    fn twin(&self) -> Self;
    fn end(&self);
}

impl Socket for TcpStream {
    fn twin(&self) -> Self {
        self.try_clone().unwrap()
    }

    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Socket for UnixStream {
    fn twin(&self) -> Self {
        self.try_clone().unwrap()
    }

    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Front {
    pub(crate) fn start(judge: impl Fn(&str) -> Verdict + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        Self::over(addr, None, judge, move || listener.accept().unwrap().0)
    }

    /// One before a server of the test.
    pub(crate) fn before(
        server: SocketAddr,
        judge: impl Fn(&str) -> Verdict + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        Self::over(addr, Some(server), judge, move || {
            listener.accept().unwrap().0
        })
    }

    /// One on a Unix socket.
    pub(crate) fn on_unix(path: &Path) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let pass = |_: &str| Verdict::Pass("");
        Self::over(nowhere, None, pass, move || listener.accept().unwrap().0)
    }

    fn over<S: Socket>(
        addr: SocketAddr,
        behind: Option<SocketAddr>,
        judge: impl Fn(&str) -> Verdict + Send + Sync + 'static,
        accept: impl Fn() -> S + Send + 'static,
    ) -> Self {
        let server = NullServer::start(NullOptions::default()).unwrap();
        let backend = behind.unwrap_or(server.addr());
        let judge: Judge = Arc::new(judge);
        let (tell, heads) = channel();
        thread::spawn(move || {
            loop {
                let (client, judge, tell) = (accept(), Arc::clone(&judge), tell.clone());
                // The client may disconnect at any time.
                thread::spawn(move || serve(client, backend, &judge, &tell));
            }
        });
        Self {
            addr,
            heads,
            _server: server,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}/ws", self.addr)
    }

    /// The heads of the requests that have come.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.heads.try_iter().collect()
    }
}

fn serve<S: Socket>(
    mut client: S,
    backend: SocketAddr,
    judge: &Judge,
    tell: &Sender<String>,
) -> Option<()> {
    let head = read_head(&mut client)?;
    let text = String::from_utf8(head.clone()).ok()?;
    let _ = tell.send(text.clone());
    match judge(&text) {
        Verdict::Refuse(answer) => client.write_all(answer.as_bytes()).ok(),
        Verdict::Silence => client.read_exact(&mut [0]).ok(),
        Verdict::Endless(line) => loop {
            client.write_all(line.as_bytes()).ok()?;
        },
        Verdict::Tunnel(answer) => {
            client.write_all(answer.as_bytes()).ok()?;
            pump(client, TcpStream::connect(backend).ok()?)
        }
        Verdict::Pass(lines) => {
            let mut server = TcpStream::connect(backend).ok()?;
            server.set_nodelay(true).ok()?;
            server.write_all(&head).ok()?;
            let mut answer = read_head(&mut server)?;
            answer.truncate(answer.len() - 2);
            answer.extend_from_slice(lines.as_bytes());
            answer.extend_from_slice(b"\r\n");
            client.write_all(&answer).ok()?;
            pump(client, server)
        }
    }
}

fn read_head(from: &mut impl Read) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        from.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    Some(head)
}

fn pump(client: impl Socket, server: TcpStream) -> Option<()> {
    let (from, to) = (client.twin(), server.twin());
    let up = thread::spawn(move || copy(from, to));
    copy(server, client);
    up.join().ok()
}

fn copy(mut from: impl Socket, mut to: impl Socket) {
    let _ = std::io::copy(&mut from, &mut to);
    from.end();
    to.end();
}
