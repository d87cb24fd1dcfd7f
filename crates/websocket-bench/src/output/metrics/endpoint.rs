//! The address at which metrics are read: `GET /metrics`.

use super::error::MetricsError;
use super::exposition;
use super::figures::Figures;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Connections that are served at once; others wait.
const AT_ONCE: usize = 64;
/// A request head must have come within this time, and the answer be read within this time.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than any scraper's request head.
const LARGEST_HEAD: usize = 16 * 1024;

/// When metrics were read.
#[derive(Debug, Default)]
pub(super) struct Scrapes {
    pub(super) count: u64,
    pub(super) last: Option<Instant>,
    pub(super) longest_gap: Duration,
}

impl Scrapes {
    fn note(&mut self, now: Instant) {
        if let Some(last) = self.last {
            self.longest_gap = self.longest_gap.max(now - last);
        }
        self.last = Some(now);
        self.count += 1;
    }
}

/// Serves metrics until the process ends.
///
/// # Errors
/// When the address cannot be listened on.
pub(super) fn serve(
    addr: SocketAddr,
    figures: Arc<Mutex<Figures>>,
) -> Result<Arc<Mutex<Scrapes>>, MetricsError> {
    let failed = |source| MetricsError::Endpoint { addr, source };
    let listener = TcpListener::bind(addr).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failed)?;
    let scrapes = Arc::new(Mutex::new(Scrapes::default()));
    let noted = Arc::clone(&scrapes);
    thread::Builder::new()
        .name("metrics".to_owned())
        .spawn(move || runtime.block_on(accept(listener, figures, noted)))
        .map_err(failed)?;
    Ok(scrapes)
}

async fn accept(listener: TcpListener, figures: Arc<Mutex<Figures>>, scrapes: Arc<Mutex<Scrapes>>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // The load has taken all files; some will be free again.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (figures, scrapes) = (Arc::clone(&figures), Arc::clone(&scrapes));
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let answer = answer(&request, &figures, &scrapes);
                async { Ok::<_, Infallible>(answer) }
            });
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .max_buf_size(LARGEST_HEAD)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), answer);
            // Who does not read its answer has read nothing.
            let _ = tokio::time::timeout(PATIENCE, served).await;
            drop(place);
        });
    }
}

fn answer(
    request: &Request<Incoming>,
    figures: &Arc<Mutex<Figures>>,
    scrapes: &Mutex<Scrapes>,
) -> Response<Full<Bytes>> {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET is answered\n");
        let allowed = hyper::header::HeaderValue::from_static("GET, HEAD");
        refused.headers_mut().insert(ALLOW, allowed);
        return refused;
    }
    if request.uri().path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "metrics are at /metrics\n");
    }
    let Ok(text) = exposition::text(figures) else {
        return plain(
            StatusCode::INTERNAL_SERVER_ERROR,
            "not all metrics can be written\n",
        );
    };
    let mut scrapes = scrapes.lock().unwrap_or_else(PoisonError::into_inner);
    scrapes.note(Instant::now());
    of_type(StatusCode::OK, exposition::CONTENT_TYPE, text)
}

fn plain(status: StatusCode, words: &'static str) -> Response<Full<Bytes>> {
    of_type(status, "text/plain; charset=utf-8", words.to_owned())
}

fn of_type(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static(kind);
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
