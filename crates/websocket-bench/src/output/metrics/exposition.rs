//! Metrics in the text format of OpenMetrics, which Prometheus reads.

use super::family::{Family, Unit, Value};
use super::figures::Figures;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry;
use record::Buckets;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The type of the answer.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Every metric as it is now.
///
/// # Errors
/// When a name or label cannot be written.
pub(super) fn text(figures: &Arc<Mutex<Figures>>) -> Result<String, fmt::Error> {
    let mut registry = registry::Registry::with_prefix("websocket_bench");
    registry.register_collector(Box::new(Now(Arc::clone(figures))));
    let mut out = String::new();
    text::encode(&mut out, &registry)?;
    Ok(out)
}

#[derive(Debug)]
struct Now(Arc<Mutex<Figures>>);

impl Collector for Now {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let families = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .families();
        families
            .iter()
            .try_for_each(|family| write(family, &mut encoder))
    }
}

fn write(family: &Family, encoder: &mut DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
    let unit = match family.unit {
        Unit::None => None,
        Unit::Seconds => Some(registry::Unit::Seconds),
        Unit::Bytes => Some(registry::Unit::Bytes),
    };
    let kind = match family.value {
        Value::Gauge(_) => MetricType::Gauge,
        Value::Counter(_) => MetricType::Counter,
        Value::Histogram(..) => MetricType::Histogram,
    };
    let mut metric = encoder.encode_descriptor(family.name, family.help, unit.as_ref(), kind)?;
    match &family.value {
        Value::Gauge(numbers) => {
            for (labels, number) in numbers {
                match labels.is_empty() {
                    true => metric.encode_gauge(number)?,
                    false => metric.encode_family(labels)?.encode_gauge(number)?,
                }
            }
        }
        Value::Counter(numbers) => {
            for (labels, number) in numbers {
                match labels.is_empty() {
                    true => metric.encode_counter::<NoLabelSet, _, f64>(number, None)?,
                    false => {
                        let mut metric = metric.encode_family(labels)?;
                        metric.encode_counter::<NoLabelSet, _, f64>(number, None)?;
                    }
                }
            }
        }
        Value::Histogram(buckets, sum) => {
            let (bounds, all) = (bounds(buckets), buckets.count());
            metric.encode_histogram::<NoLabelSet>(*sum, all, &bounds, None)?;
        }
    }
    Ok(())
}

/// Every bucket with its end in seconds. A histogram of Prometheus has the same buckets at all times.
fn bounds(buckets: &Buckets) -> Vec<(f64, u64)> {
    let mut counts = buckets.iter().peekable();
    let mut bounds: Vec<(f64, u64)> = Buckets::ends()
        .map(|end_ns| {
            let count = counts.next_if(|(at_ns, _)| *at_ns == end_ns);
            (end_ns as f64 / 1e9, count.map_or(0, |(_, count)| count))
        })
        .collect();
    bounds.push((f64::INFINITY, 0));
    bounds
}
