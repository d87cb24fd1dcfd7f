//! Expectations: `clients>=5000`, `p99<50ms`, `delivery.p95<20ms`.

use crate::format;
use run_record::{Latency, Measure, RunRecord, StepRecord};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Something that a run is expected to show.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expectation {
    /// At least so many clients were carried.
    Clients(u64),
    /// A figure of every step is below a duration.
    Latency {
        measure: Option<Measure>,
        figure: Figure,
        below: Duration,
    },
}

/// A figure of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Figure {
    Min,
    Mean,
    Max,
    Percentile(f64),
}

impl FromStr for Expectation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "expected clients>=N or [completion.|delivery.|ack.]pN<TIME (or min, mean, max), e.g. p99<50ms";
        if let Some((name, value)) = text.split_once(">=") {
            return match (name.trim(), value.trim().parse()) {
                ("clients", Ok(clients)) => Ok(Self::Clients(clients)),
                _ => Err(FORM.to_owned()),
            };
        }
        let (name, value) = text.split_once('<').ok_or(FORM)?;
        let below = humantime::parse_duration(value.trim())
            .map_err(|error| format!("`{}`: {error}; {FORM}", value.trim()))?;
        let (measure, figure) = match name.trim().split_once('.') {
            Some((measure @ ("completion" | "delivery" | "ack"), figure)) => {
                (Some(measure), figure)
            }
            _ => (None, name.trim()),
        };
        let measure = measure.map(|name| match name {
            "delivery" => Measure::Delivery,
            "ack" => Measure::Ack,
            _ => Measure::Completion,
        });
        let figure = match figure {
            "min" => Figure::Min,
            "mean" => Figure::Mean,
            "max" => Figure::Max,
            other => other
                .strip_prefix('p')
                .and_then(|p| p.parse().ok())
                .filter(|p| *p > 0.0 && *p <= 100.0)
                .map(Figure::Percentile)
                .ok_or(FORM)?,
        };
        Ok(Self::Latency {
            measure,
            figure,
            below,
        })
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clients(clients) => write!(f, "clients>={clients}"),
            Self::Latency {
                measure,
                figure,
                below,
            } => {
                match measure {
                    Some(Measure::Completion) => f.write_str("completion.")?,
                    Some(Measure::Delivery) => f.write_str("delivery.")?,
                    Some(Measure::Ack) => f.write_str("ack.")?,
                    None => {}
                }
                match figure {
                    Figure::Min => f.write_str("min")?,
                    Figure::Mean => f.write_str("mean")?,
                    Figure::Max => f.write_str("max")?,
                    Figure::Percentile(p) => write!(f, "p{p}")?,
                }
                write!(f, "<{}", humantime::format_duration(*below))
            }
        }
    }
}

impl Expectation {
    /// Why the record does not meet this; `None` when it does. Without a measured step nothing is
    /// met.
    pub(crate) fn unmet(&self, record: &RunRecord) -> Option<String> {
        match self {
            Self::Clients(wanted) => {
                let carried = record.outcome.carried_clients.unwrap_or(0);
                (carried < *wanted).then(|| format!("{self}: {carried} clients were carried"))
            }
            Self::Latency { .. } if record.steps.is_empty() => {
                Some(format!("{self}: no step was measured"))
            }
            Self::Latency { .. } => record
                .steps
                .iter()
                .find_map(|step| self.unmet_in(step, record)),
        }
    }

    fn unmet_in(&self, step: &StepRecord, record: &RunRecord) -> Option<String> {
        let Self::Latency {
            measure,
            figure,
            below,
        } = self
        else {
            return None;
        };
        let measure = measure.unwrap_or(record.plan.limit.measure);
        let Some(latency) = step.measured(measure) else {
            return Some(format!(
                "{self}: nothing was measured at {} clients",
                step.clients
            ));
        };
        let ns = figure.of(latency);
        (ns >= below.as_nanos() as f64).then(|| {
            format!(
                "{self}: {} at {} clients",
                format::latency(ns as u64).trim(),
                step.clients
            )
        })
    }
}

impl Figure {
    fn of(self, latency: &Latency) -> f64 {
        match self {
            Self::Min => latency.min_ns as f64,
            Self::Mean => latency.mean_ns,
            Self::Max => latency.max_ns as f64,
            Self::Percentile(p) => latency
                .recorder()
                .map_or(f64::INFINITY, |recorder| recorder.percentile(p) as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_are_read_and_written_alike() {
        for text in [
            "clients>=5000",
            "p99<50ms",
            "p99.9<1s",
            "delivery.p95<20ms",
            "ack.max<1s",
            "mean<2ms",
        ] {
            let parsed: Expectation = text.parse().unwrap();
            assert_eq!(parsed.to_string(), text);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "p99",
            "p99>5ms",
            "p0<5ms",
            "p101<5ms",
            "clients>=many",
            "p95<5",
            "fast.p95<5ms",
            "",
        ] {
            assert!(text.parse::<Expectation>().is_err(), "{text}");
        }
    }
}
