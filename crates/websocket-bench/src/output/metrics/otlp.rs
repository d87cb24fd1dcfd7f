//! Metrics pushed to a collector of OpenTelemetry: OTLP over gRPC.

use super::error::MetricsError;
use super::family::{Family, Labelled, Unit, Value};
use super::figures::Figures;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_client::MetricsServiceClient;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Text;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use plan::redacted;
use record::Buckets;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tonic::codegen::http::uri::{Authority, Uri};
use tonic::transport::{Channel, Endpoint};

/// Between two pushes.
const EVERY: Duration = Duration::from_secs(5);
/// A push that is not answered within this time has failed.
const PATIENCE: Duration = Duration::from_secs(5);

/// A thread that pushes metrics until it is told to end.
pub(super) struct Push {
    /// The collector's host and port.
    place: String,
    over: Arc<Notify>,
    thread: JoinHandle<Pushes>,
}

/// What became of the pushes.
#[derive(Debug, Default)]
struct Pushes {
    count: u64,
    failed: u64,
    first_failure: Option<String>,
}

impl Push {
    /// Pushes once, and from then on every few seconds.
    ///
    /// # Errors
    /// When the first push fails.
    pub(super) fn start(url: &str, figures: Arc<Mutex<Figures>>) -> Result<Self, MetricsError> {
        let (channel, place) = collector(url)?;
        let failed = |why: String| MetricsError::Push {
            place: place.clone(),
            why: redacted(&why).into_owned(),
        };
        let channel = channel.connect_timeout(PATIENCE).timeout(PATIENCE);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| failed(error.to_string()))?;
        let began_ns = now_ns();
        let client = runtime
            .block_on(async {
                let channel = channel.connect().await.map_err(|error| words(&error))?;
                let mut client = MetricsServiceClient::new(channel);
                let pushed = push(&mut client, &figures, began_ns).await;
                pushed.map_err(|why| why.to_string())?;
                Ok(client)
            })
            .map_err(failed)?;
        let over = Arc::new(Notify::new());
        let told = Arc::clone(&over);
        let thread = thread::Builder::new()
            .name("otlp".to_owned())
            .spawn(move || go_on(&runtime, client, &figures, began_ns, &told))
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            place,
            over,
            thread,
        })
    }

    /// Pushes for the last time. In words, what was lost.
    pub(super) fn finish(self) -> Option<String> {
        self.over.notify_one();
        let pushes = self.thread.join().unwrap_or_default();
        let first = pushes.first_failure?;
        Some(format!(
            "{} of {} pushes of metrics to {} failed; the first: {first}",
            pushes.failed,
            pushes.count,
            self.place,
            first = redacted(&first)
        ))
    }
}

/// The collector at a URL, and what messages call it.
///
/// # Errors
/// Without the URL, which may have a secret, when it is not one of a host and a port alone: nothing else
/// of it would be sent.
fn collector(url: &str) -> Result<(Endpoint, String), MetricsError> {
    if url.starts_with("https://") {
        return Err(MetricsError::PushOverTls);
    }
    let parsed = url.parse::<Uri>().map_err(|_| MetricsError::NoCollector)?;
    let authority = parsed.authority().map(Authority::as_str);
    let place = authority.filter(|text| !text.contains('@'));
    let is_bare = parsed.path_and_query().is_none_or(|of| of.as_str() == "/");
    match place {
        Some(place) if parsed.scheme_str() == Some("http") && is_bare => {
            let place = format!("http://{place}");
            Ok((Endpoint::from(parsed), place))
        }
        _ => Err(MetricsError::NoCollector),
    }
}

fn go_on(
    runtime: &Runtime,
    mut client: MetricsServiceClient<Channel>,
    figures: &Mutex<Figures>,
    began_ns: u64,
    over: &Notify,
) -> Pushes {
    let mut pushes = Pushes::default();
    runtime.block_on(async {
        loop {
            let is_last = tokio::time::timeout(EVERY, over.notified()).await.is_ok();
            pushes.count += 1;
            if let Err(why) = push(&mut client, figures, began_ns).await {
                pushes.failed += 1;
                pushes.first_failure.get_or_insert_with(|| why.to_string());
            }
            if is_last {
                return pushes;
            }
        }
    })
}

/// A push that the collector did not take.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error("{}", _0.message())]
    Status(#[from] Box<tonic::Status>),
    #[error("{count} data points were rejected: {why}")]
    Points { count: i64, why: String },
}

async fn push(
    client: &mut MetricsServiceClient<Channel>,
    figures: &Mutex<Figures>,
    began_ns: u64,
) -> Result<(), NotTaken> {
    let families = figures
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .families();
    let request = request(families, began_ns, now_ns());
    let answer = client.export(request).await.map_err(Box::new);
    match answer?.into_inner().partial_success {
        Some(partial) if partial.rejected_data_points > 0 => Err(NotTaken::Points {
            count: partial.rejected_data_points,
            why: partial.error_message,
        }),
        _ => Ok(()),
    }
}

fn request(families: Vec<Family>, began_ns: u64, now_ns: u64) -> ExportMetricsServiceRequest {
    let at = At { began_ns, now_ns };
    let metrics = families.into_iter().map(|family| at.metric(family));
    let version = env!("CARGO_PKG_VERSION");
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(Resource {
                attributes: vec![
                    attribute("service.name", "websocket-bench"),
                    attribute("service.version", version),
                ],
                ..Resource::default()
            }),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(InstrumentationScope {
                    name: "websocket-bench".to_owned(),
                    version: version.to_owned(),
                    ..InstrumentationScope::default()
                }),
                metrics: metrics.collect(),
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
}

/// When something was counted from, and when it is told.
#[derive(Clone, Copy)]
struct At {
    began_ns: u64,
    now_ns: u64,
}

impl At {
    fn metric(self, family: Family) -> Metric {
        let cumulative = AggregationTemporality::Cumulative.into();
        let data = match family.value {
            Value::Gauge(numbers) => Data::Gauge(Gauge {
                data_points: self.points(numbers),
            }),
            Value::Counter(numbers) => Data::Sum(Sum {
                data_points: self.points(numbers),
                aggregation_temporality: cumulative,
                is_monotonic: true,
            }),
            Value::Histogram(buckets, sum) => Data::Histogram(Histogram {
                data_points: vec![self.histogram(&buckets, sum)],
                aggregation_temporality: cumulative,
            }),
        };
        Metric {
            name: format!("websocket_bench.{}", family.name),
            description: family.help.to_owned(),
            // UCUM, as OpenTelemetry asks for.
            unit: match family.unit {
                Unit::None => "1",
                Unit::Seconds => "s",
                Unit::Bytes => "By",
            }
            .to_owned(),
            data: Some(data),
            ..Metric::default()
        }
    }

    fn points(self, numbers: Vec<Labelled>) -> Vec<NumberDataPoint> {
        let points = numbers.into_iter().map(|(labels, number)| NumberDataPoint {
            attributes: labels
                .iter()
                .map(|(name, value)| attribute(name, value))
                .collect(),
            start_time_unix_nano: self.began_ns,
            time_unix_nano: self.now_ns,
            value: Some(Number::AsDouble(number)),
            ..NumberDataPoint::default()
        });
        points.collect()
    }

    fn histogram(self, buckets: &Buckets, sum: f64) -> HistogramDataPoint {
        let mut counts = buckets.iter().peekable();
        let mut bucket_counts: Vec<u64> = Buckets::ends()
            .map(|end_ns| {
                let count = counts.next_if(|(at_ns, _)| *at_ns == end_ns);
                count.map_or(0, |(_, count)| count)
            })
            .collect();
        // Above the last bound.
        bucket_counts.push(0);
        HistogramDataPoint {
            start_time_unix_nano: self.began_ns,
            time_unix_nano: self.now_ns,
            count: buckets.count(),
            sum: Some(sum),
            bucket_counts,
            explicit_bounds: Buckets::ends().map(|end_ns| end_ns as f64 / 1e9).collect(),
            ..HistogramDataPoint::default()
        }
    }
}

fn attribute(key: &str, value: &str) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue {
            value: Some(Text::StringValue(value.to_owned())),
        }),
        ..KeyValue::default()
    }
}

/// An error with what led to it: that of a transport says nothing alone.
fn words(error: &dyn std::error::Error) -> String {
    let mut all = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        all = error.to_string();
        next = error.source();
    }
    all
}

/// The time of day, as OpenTelemetry counts it.
fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}
