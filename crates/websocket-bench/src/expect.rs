//! Expectations: `clients>=5000`, `p99<50ms`, `delivery.p95<20ms`, `back.p95<5s`, `faults<=0`,
//! `drops<=0`, `lost<=0`, `silent<=0`, `received>=10000/s`.

mod timed;

use plan::{Measure, Plan, Population, Workload};
use record::{Fates, Latency, RunRecord, StepRecord, Throughput};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use timed::Timed;

/// Something that a run is expected to show.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expectation {
    /// At least so many clients were carried.
    Clients(u64),
    /// All steps together have at most so many of these.
    AtMost(Count, u64),
    /// In every step so many messages per second went this way.
    Throughput(Way, f64),
    /// In every step so many percent of the clients that were cut off were back within a duration.
    Back { percentile: f64, below: Duration },
    /// A figure of parts, of dialogues or of requests over HTTP is below a duration in every step.
    Timed(Timed, Figure, Duration),
    /// A figure of every step is below a duration.
    Latency {
        measure: Option<Measure>,
        figure: Figure,
        below: Duration,
    },
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// Faults of every class.
    Faults,
    /// Connections that ended although nothing here closed them.
    Drops,
    /// Deliveries of a watched load that did not come.
    Lost,
    /// Those of them whose connection stayed, so that the client was told nothing.
    Silent,
}

/// Where a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Sent,
    Received,
}

/// A figure of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Figure {
    Min,
    Mean,
    Max,
    Percentile(f64),
}

const FORM: &str = "expected clients>=N, sent>=N/s, received>=N/s, faults<=N, drops<=N, lost<=N, silent<=N, back.pN<TIME (or back.max), first.pN<TIME, between.pN<TIME, dialogue.pN<TIME, open.pN<TIME, http.pN<TIME or [completion.|delivery.|ack.]pN<TIME (or min, mean, max), e.g. p99<50ms";

/// A text that is no expectation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum NoExpectation {
    #[error("{FORM}")]
    Form,
    #[error("`{text}`: {source}; {FORM}")]
    Time {
        text: String,
        source: humantime::DurationError,
    },
}

impl FromStr for Expectation {
    type Err = NoExpectation;

    fn from_str(text: &str) -> Result<Self, NoExpectation> {
        use NoExpectation::Form;
        if let Some((name, value)) = text.split_once(">=") {
            let way = match name.trim() {
                "clients" => {
                    let clients = value.trim().parse();
                    return clients.map(Self::Clients).map_err(|_| Form);
                }
                "sent" => Way::Sent,
                "received" => Way::Received,
                _ => return Err(Form),
            };
            let rate = value.trim().strip_suffix("/s").and_then(|n| n.parse().ok());
            let rate = rate.filter(|rate: &f64| rate.is_finite() && *rate >= 0.0);
            return rate.map(|rate| Self::Throughput(way, rate)).ok_or(Form);
        }
        if let Some((name, value)) = text.split_once("<=") {
            let count = match name.trim() {
                "faults" => Count::Faults,
                "drops" => Count::Drops,
                "lost" => Count::Lost,
                "silent" => Count::Silent,
                _ => return Err(Form),
            };
            let most = value.trim().parse();
            return most.map(|most| Self::AtMost(count, most)).map_err(|_| Form);
        }
        let (name, value) = text.split_once('<').ok_or(Form)?;
        let below =
            humantime::parse_duration(value.trim()).map_err(|source| NoExpectation::Time {
                text: value.trim().to_owned(),
                source,
            })?;
        if let Some(figure) = name.trim().strip_prefix("back.") {
            let percentile = match figure {
                "max" => Some(100.0),
                other => percentile(other),
            };
            let percentile = percentile.ok_or(Form)?;
            return Ok(Self::Back { percentile, below });
        }
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
        let timed = figure.split_once('.');
        if let Some((timed, figure)) = timed.and_then(|(of, rest)| Some((Timed::named(of)?, rest)))
        {
            let figure = Figure::named(figure).ok_or(Form)?;
            return Ok(Self::Timed(timed, figure, below));
        }
        let figure = Figure::named(figure).ok_or(Form)?;
        Ok(Self::Latency {
            measure,
            figure,
            below,
        })
    }
}

/// `p95`, or `p99.9`.
fn percentile(text: &str) -> Option<f64> {
    let percentile = text.strip_prefix('p')?.parse().ok();
    percentile.filter(|p| *p > 0.0 && *p <= 100.0)
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clients(clients) => write!(f, "clients>={clients}"),
            Self::AtMost(count, most) => write!(f, "{}<={most}", count.name()),
            Self::Throughput(way, rate) => write!(f, "{}>={rate}/s", way.name()),
            Self::Back { percentile, below } => {
                let below = humantime::format_duration(*below);
                match percentile {
                    100.0.. => write!(f, "back.max<{below}"),
                    p => write!(f, "back.p{p}<{below}"),
                }
            }
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
                write!(f, "{figure}<{}", humantime::format_duration(*below))
            }
            Self::Timed(timed, figure, below) => {
                let below = humantime::format_duration(*below);
                write!(f, "{}.{figure}<{below}", timed.name())
            }
        }
    }
}

impl Figure {
    fn named(name: &str) -> Option<Self> {
        match name {
            "min" => Some(Self::Min),
            "mean" => Some(Self::Mean),
            "max" => Some(Self::Max),
            other => percentile(other).map(Self::Percentile),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Min => f.write_str("min"),
            Self::Mean => f.write_str("mean"),
            Self::Max => f.write_str("max"),
            Self::Percentile(p) => write!(f, "p{p}"),
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
            _ if record.steps.is_empty() => Some(format!("{self}: no step was measured")),
            Self::AtMost(count, most) => {
                let steps = record.steps.iter();
                let counted: u64 = steps.map(|step| count.in_step(step)).sum();
                (counted > *most).then(|| format!("{self}: {counted} in all steps together"))
            }
            Self::Latency { .. } | Self::Throughput(..) | Self::Back { .. } | Self::Timed(..) => {
                record
                    .steps
                    .iter()
                    .find_map(|step| self.unmet_in(step, record))
            }
        }
    }

    /// Why no step of a plan can meet this; `None` where that depends on the run.
    pub(crate) fn impossible(&self, plan: &Plan) -> Option<String> {
        let (measure, figure) = match self {
            Self::Latency {
                measure, figure, ..
            } => (measure, figure),
            Self::Timed(timed, ..) => {
                return timed.lacks(plan).map(|words| format!("{self}: {words}"));
            }
            Self::Throughput(..) if plan.workload() == Workload::Connect => {
                return Some(format!("{self}: a connect run sends no messages"));
            }
            Self::AtMost(Count::Lost | Count::Silent, _) if plan.watch().is_none() => {
                let words = "what became of each delivery is told of load.watch alone";
                return Some(format!("{self}: {words}"));
            }
            Self::Back { .. } if !plan.populations.iter().any(Population::returns_after_cut) => {
                let words = "no clients are cut off and come back (populations.life.cut)";
                return Some(format!("{self}: {words}"));
            }
            _ => return None,
        };
        if plan.watch().is_some() {
            return None;
        }
        let clients = plan.clients_at(0);
        let samples = match (plan.workload(), plan.open_loop(), plan.search()) {
            // Arrivals are random, and the tries of a search have several lengths.
            (_, Some(_), _) | (_, _, Some(_)) => return None,
            (Workload::Connect, ..) => clients,
            (Workload::Echo, ..) => plan.samples().into(),
            // How many clients a room has depends on which publish.
            (Workload::Rooms, ..) if measure.unwrap_or(plan.limits.of) == Measure::Delivery => {
                return None;
            }
            (Workload::Rooms, ..) => plan.samples().into(),
            (Workload::Broadcast, ..) => match measure.unwrap_or(plan.limits.of) {
                Measure::Delivery => u64::from(plan.samples()) * clients,
                Measure::Completion | Measure::Ack => plan.samples().into(),
            },
        };
        figure
            .beyond(samples)
            .map(|words| format!("{self}: {words}"))
    }

    fn unmet_in(&self, step: &StepRecord, record: &RunRecord) -> Option<String> {
        let (measure, figure, below) = match self {
            Self::Latency {
                measure,
                figure,
                below,
            } => (measure, figure, below),
            Self::Throughput(way, least) => {
                let rate = step.throughput.as_ref().map_or(0.0, |of| way.rate(of));
                let clients = step.clients;
                return (rate < *least)
                    .then(|| format!("{self}: {rate:.0}/s at {clients} clients"));
            }
            Self::Back { percentile, below } => {
                let clients = step.clients;
                let cut = step.churn.as_ref().and_then(|churn| churn.cut.as_ref());
                let Some(cut) = cut else {
                    return Some(format!("{self}: none were cut off at {clients} clients"));
                };
                let (back, all) = (cut.back, cut.clients);
                return match cut.back_within(*percentile) {
                    Some(ns) if u128::from(ns) < below.as_nanos() => None,
                    Some(ns) => Some(format!(
                        "{self}: {} at {clients} clients",
                        record::latency_text(ns).trim()
                    )),
                    None => Some(format!(
                        "{self}: {back} of {all} were back when the step ended at {clients} clients"
                    )),
                };
            }
            Self::Timed(timed, figure, below) => {
                let all = timed.latencies(step);
                let mut unmet = all
                    .into_iter()
                    .filter_map(|of| self.unmet_by(of, (figure, below), step));
                return unmet.next();
            }
            Self::Clients(_) | Self::AtMost(..) => return None,
        };
        let measure = measure.unwrap_or(record.plan.limits.of);
        self.unmet_by(step.measured(measure), (figure, below), step)
    }

    fn unmet_by(
        &self,
        latency: Option<&Latency>,
        (figure, below): (&Figure, &Duration),
        step: &StepRecord,
    ) -> Option<String> {
        let Some(latency) = latency else {
            return Some(format!(
                "{self}: nothing was measured at {} clients",
                step.clients
            ));
        };
        if let Some(words) = figure.beyond(latency.count) {
            let clients = step.clients;
            return Some(format!("{self}: {words} at {clients} clients"));
        }
        let ns = figure.ns(latency);
        (ns >= below.as_nanos() as f64).then(|| {
            format!(
                "{self}: {} at {} clients",
                record::latency_text(ns as u64).trim(),
                step.clients
            )
        })
    }
}

impl Count {
    const fn name(self) -> &'static str {
        match self {
            Self::Faults => "faults",
            Self::Drops => "drops",
            Self::Lost => "lost",
            Self::Silent => "silent",
        }
    }

    fn in_step(self, step: &StepRecord) -> u64 {
        let watched = |count: fn(&Fates) -> u64| {
            let of = step.watched.iter();
            of.map(|of| count(&of.of_confirmed) + count(&of.of_unconfirmed))
                .sum()
        };
        match self {
            Self::Faults => step.faults.total(),
            Self::Drops => step.faults.disconnected,
            Self::Lost => watched(Fates::lost),
            Self::Silent => watched(|of| of.lost_silent),
        }
    }
}

impl Way {
    const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }

    const fn rate(self, throughput: &Throughput) -> f64 {
        match self {
            Self::Sent => throughput.sent_per_second,
            Self::Received => throughput.received_per_second,
        }
    }
}

impl Figure {
    /// Why so many samples have no such figure: a percentile below the maximum needs a sample
    /// beyond it.
    fn beyond(self, samples: u64) -> Option<String> {
        let Self::Percentile(p) = self else {
            return None;
        };
        let share = (100.0 - p) / 100.0;
        // Percentiles are decimal: 1,000 samples have a 99.9th, whatever binary makes of it.
        let enough = p >= 100.0 || samples as f64 * share >= 1.0 - 1e-6;
        (!enough).then(|| {
            format!(
                "no percentile that high of {samples} samples: it needs one beyond it, so take at \
                 least {:.0} samples, or expect `max`",
                (1.0 / share - 1e-6).ceil()
            )
        })
    }

    fn ns(self, latency: &Latency) -> f64 {
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
    use record::{Churn, CutRecord, Json, Recorder};

    #[test]
    fn expectations_are_read_and_written_alike() {
        for text in [
            "clients>=5000",
            "p99<50ms",
            "p99.9<1s",
            "delivery.p95<20ms",
            "ack.max<1s",
            "mean<2ms",
            "faults<=0",
            "drops<=3",
            "lost<=4",
            "silent<=5",
            "received>=10000/s",
            "sent>=0.5/s",
            "back.p95<5s",
            "back.p99.9<1m",
            "back.max<10s",
        ] {
            let parsed: Expectation = text.parse().unwrap();
            assert_eq!(parsed.to_string(), text);
        }
    }

    #[test]
    fn a_percentile_needs_a_sample_beyond_it() {
        let beyond = |p, samples| Figure::Percentile(p).beyond(samples);
        for (p, enough) in [
            (50.0, 2),
            (95.0, 20),
            (99.0, 100),
            (99.9, 1_000),
            (99.99, 10_000),
        ] {
            assert_eq!(beyond(p, enough), None, "p{p}");
            let words = beyond(p, enough - 1).unwrap();
            assert!(
                words.contains(&format!("at least {enough} samples")),
                "{words}"
            );
        }
        assert_eq!(beyond(100.0, 1), None);
        assert_eq!(Figure::Max.beyond(1), None);
    }

    fn storm(cut: u64, back: u64) -> RunRecord {
        let mut came = Recorder::default();
        (1..=back).for_each(|n| came.record(n * 1_000_000_000));
        let cut = CutRecord {
            clients: cut,
            back,
            back_100_ns: (back == cut).then_some(back * 1_000_000_000),
            back_time: came.latency(),
            ..CutRecord::default()
        };
        let step = StepRecord {
            clients: 60,
            churn: Some(Box::new(Churn {
                cut: Some(cut),
                ..Churn::default()
            })),
            ..StepRecord::default()
        };
        let text = include_str!("../../record/tests/fixtures/echo-open.json");
        let record = RunRecord::from_json(text).unwrap();
        RunRecord {
            steps: vec![step],
            ..record
        }
    }

    #[test]
    fn those_that_are_not_back_are_later_than_any_time() {
        let unmet = |text: &str, record: &RunRecord| {
            let expectation: Expectation = text.parse().unwrap();
            expectation.unmet(record)
        };
        let all = storm(10, 10);
        assert_eq!(unmet("back.max<10001ms", &all), None);
        assert_eq!(unmet("back.p50<5100ms", &all), None);
        let late = unmet("back.max<10s", &all).unwrap();
        assert_eq!(late, "back.max<10s: 10000ms at 60 clients");
        let some = storm(10, 5);
        assert_eq!(unmet("back.p50<6s", &some), None);
        let none = unmet("back.max<1h", &some).unwrap();
        assert!(
            none.contains("5 of 10 were back when the step ended"),
            "{none}"
        );
        let other = RunRecord {
            steps: vec![StepRecord::default()],
            ..all
        };
        assert!(unmet("back.p50<1h", &other).is_some());
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
            "faults<0",
            "faults>=0",
            "faults<=-1",
            "drops<=0/s",
            "received>=10000",
            "received>=-1/s",
            "received>=inf/s",
            "received<=5/s",
            "back<5s",
            "back.mean<5s",
            "back.p0<5s",
            "back.p95<5",
            "",
        ] {
            assert!(text.parse::<Expectation>().is_err(), "{text}");
        }
    }
}
