//! `--otlp`: what a collector gets, and what is said where it takes nothing.

use crate::support::{honest, no_listener, record, run, undisturbed, url};
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use tonic::{Request, Response, Status};

/// A collector that takes so many pushes, and keeps them.
#[derive(Clone)]
pub(crate) struct Collector {
    takes: usize,
    pub(crate) pushes: Arc<Mutex<Vec<ExportMetricsServiceRequest>>>,
}

#[tonic::async_trait]
impl MetricsService for Collector {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let mut pushes = self.pushes.lock().unwrap();
        if pushes.len() >= self.takes {
            return Err(Status::resource_exhausted("the disk is full"));
        }
        pushes.push(request.into_inner());
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

impl Collector {
    pub(crate) fn start(takes: usize) -> (Self, SocketAddr) {
        let pushes = Arc::default();
        let collector = Self { takes, pushes };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let service = MetricsServiceServer::new(collector.clone());
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
                let server = tonic::transport::Server::builder();
                server.serve_with_incoming(service, incoming).await.unwrap();
            });
        });
        (collector, addr)
    }

    /// A metric of the last push.
    #[track_caller]
    fn last(&self, name: &str) -> Data {
        let pushes = self.pushes.lock().unwrap();
        let scope = &pushes.last().unwrap().resource_metrics[0].scope_metrics[0];
        let mut metrics = scope.metrics.iter();
        let metric = metrics.find(|metric| metric.name == format!("websocket_bench.{name}"));
        metric
            .unwrap_or_else(|| panic!("no {name}"))
            .data
            .clone()
            .unwrap()
    }

    #[track_caller]
    fn number(&self, name: &str) -> f64 {
        let points = match self.last(name) {
            Data::Gauge(gauge) => gauge.data_points,
            Data::Sum(sum) => {
                assert!(sum.is_monotonic);
                sum.data_points
            }
            other => panic!("{name}: {other:?}"),
        };
        match points[0].value {
            Some(Value::AsDouble(number)) => number,
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn a_collector_gets_the_run_while_it_lasts_and_its_end() {
    let (server, folder) = (honest(), tempfile::tempdir().unwrap());
    let json = folder.path().join("run.json");
    let mut collector = None;
    undisturbed(|| {
        let (started, addr) = Collector::start(usize::MAX);
        collector = Some(started);
        run(&format!(
            "broadcast {} --step-size 20 --total-steps 1 --limit-rtt 20s --rate 200 --duration 7s --otlp http://{addr} --json {}",
            url(server.addr()),
            json.display()
        ))
    })
    .exits(0);
    let collector = collector.unwrap();
    // The first before the run, one in its middle, and its end.
    assert!(collector.pushes.lock().unwrap().len() >= 3);
    let step = record(&json).steps.remove(0);
    let traffic = step.throughput.unwrap();
    assert_eq!(collector.number("run_ended"), 1.0);
    assert_eq!(collector.number("requests_sent"), traffic.sent as f64);
    assert_eq!(
        collector.number("messages_received"),
        traffic.received as f64
    );
    assert_eq!(collector.number("clients_carried"), 20.0);
    let Data::Histogram(histogram) = collector.last("completion") else {
        panic!("completion is a histogram");
    };
    let point = &histogram.data_points[0];
    let completion = step.completion.unwrap();
    assert_eq!(point.count, completion.count);
    assert_eq!(point.bucket_counts.iter().sum::<u64>(), completion.count);
    assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
    let mean = point.sum.unwrap() / point.count as f64;
    assert!((mean - completion.mean_ns / 1e9).abs() < 1e-9, "{mean}");
    assert!(point.start_time_unix_nano < point.time_unix_nano);
}

#[test]
fn a_collector_that_takes_no_more_is_told_of_and_the_result_stands() {
    let server = honest();
    let (_, addr) = Collector::start(1);
    let arguments = "--step-size 5 --total-steps 1 --limit-rtt 20s";
    run(&format!(
        "echo {} {arguments} --otlp http://{addr}",
        url(server.addr())
    ))
    .exits(0)
    .says(&["1 of 1 pushes of metrics", "the disk is full"]);
}

#[test]
fn a_collector_that_is_not_there_is_told_before_the_run() {
    let (server, addr) = (honest(), no_listener());
    for (collector, words) in [
        (format!("http://{addr}"), "refused"),
        (
            "https://127.0.0.1:4317".to_owned(),
            "expected http://HOST:PORT",
        ),
        ("http://".to_owned(), "expected http://HOST:PORT"),
        (
            format!("http://{addr}/v1/metrics"),
            "without a user, a path and a query",
        ),
    ] {
        run(&format!("echo {} --otlp {collector}", url(server.addr())))
            .exits(1)
            .says_in_one_line(&["--otlp", words]);
    }
}
