//! What a run has shown so far, as other programs collect it.

use super::family::{Family, Labelled, Unit, Value, figures};
use super::http::HttpTotals;
use super::streams::StreamTotals;
use record::{Buckets, Event, Faults, Feed, Recorder, StepRecord, TimeRow};
use std::collections::BTreeMap;

/// Messages, bytes and completions; of steps that have ended exactly, of the one under way as far as
/// it has been told.
#[derive(Clone, Debug, Default)]
struct Totals {
    sent: u64,
    received: u64,
    sent_bytes: u64,
    received_bytes: u64,
    faults: u64,
    completed: Buckets,
    completed_ns: f64,
}

/// What servers sent by themselves in steps that have ended.
#[derive(Clone, Copy, Debug, Default)]
struct FeedTotals {
    messages: u64,
    missing: u64,
    repeats: u64,
}

impl FeedTotals {
    fn add(&mut self, of: &Feed) {
        let numbers = of.numbers.unwrap_or_default();
        self.messages += of.messages;
        self.missing = self.missing.saturating_add(numbers.missing);
        self.repeats += numbers.repeats;
    }
}

/// What a run has shown so far.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// Labels of the run.
    labels: Vec<(&'static str, String)>,
    step: u32,
    clients: u64,
    wanted: u64,
    done: Totals,
    under_way: Totals,
    faults: Faults,
    feed: Option<FeedTotals>,
    /// Connections that ended in steps that have ended, by how they did.
    drops: BTreeMap<String, u64>,
    streams: StreamTotals,
    http: HttpTotals,
    last: Option<Box<StepRecord>>,
    carried: Option<u64>,
    has_ended: bool,
}

impl Figures {
    pub(super) fn new(workload: &str, server_type: &str) -> Self {
        Self {
            labels: vec![
                ("version", env!("CARGO_PKG_VERSION").to_owned()),
                ("workload", workload.to_owned()),
                ("server_type", server_type.to_owned()),
            ],
            ..Self::default()
        }
    }

    /// Takes in what has happened.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Connecting {
                step,
                connected,
                wanted,
            } => (self.step, self.clients, self.wanted) = (*step, *connected, *wanted),
            Event::Measuring { step, clients, .. } => {
                (self.step, self.clients, self.wanted) = (*step, *clients, *clients);
            }
            Event::Holding {
                step, connected, ..
            }
            | Event::Watching {
                step, connected, ..
            } => (self.step, self.clients) = (*step, *connected),
            Event::Interval { row, .. } => self.under_way.add_row(row),
            Event::Step { record, .. } => {
                self.under_way = Totals::default();
                self.done.add_step(record);
                self.faults.merge(&record.faults);
                if let Some(feed) = &record.feed {
                    self.feed.get_or_insert_default().add(feed);
                }
                for cause in record.drops.iter().flat_map(|drops| &drops.causes) {
                    *self.drops.entry(cause.name()).or_default() += cause.count;
                }
                self.streams.add(record);
                self.http.add(record);
                if record.passed() {
                    self.carried = self.carried.max(Some(record.clients));
                }
                self.last = Some(record.clone());
            }
            Event::End { outcome } => {
                self.has_ended = true;
                self.carried = outcome.carried_clients;
            }
            Event::WarmingUp { .. } | Event::WarmedUp { .. } => {}
        }
    }

    /// Every metric as it is now.
    pub(super) fn families(&self) -> Vec<Family> {
        let (done, now) = (&self.done, &self.under_way);
        let mut completed = done.completed.clone();
        completed.merge(&now.completed);
        let counter = |name, help, unit, value: u64| Family {
            name,
            help,
            unit,
            value: Value::Counter(vec![(Vec::new(), value as f64)]),
        };
        let gauge = |name, help, unit, value: Option<f64>| Family {
            name,
            help,
            unit,
            value: Value::Gauge(value.map(|value| (Vec::new(), value)).into_iter().collect()),
        };
        let of_feed = |name, help, of: &dyn Fn(&FeedTotals) -> u64| Family {
            name,
            help,
            unit: Unit::None,
            value: Value::Counter(
                self.feed
                    .iter()
                    .map(|feed| (Vec::new(), of(feed) as f64))
                    .collect(),
            ),
        };
        let none = Unit::None;
        let last = self.last.as_deref();
        let generator = last.map(|step| &step.generator);
        let mut all = vec![
            Family {
                name: "run",
                help: "What runs: 1, with its version, workload and server type as labels",
                unit: none,
                value: Value::Gauge(vec![(self.labels.clone(), 1.0)]),
            },
            gauge(
                "run_ended",
                "1 when the run has ended, else 0",
                none,
                Some(f64::from(u8::from(self.has_ended))),
            ),
            gauge(
                "step",
                "Number of the step under way, from 0",
                none,
                Some(self.step.into()),
            ),
            gauge(
                "clients",
                "Clients that are connected",
                none,
                Some(self.clients as f64),
            ),
            gauge(
                "clients_wanted",
                "Clients that the step under way needs",
                none,
                Some(self.wanted as f64),
            ),
            gauge(
                "clients_carried",
                "Clients of the largest step that passed",
                none,
                self.carried.map(|clients| clients as f64),
            ),
            counter(
                "requests_sent",
                "Requests written",
                none,
                done.sent + now.sent,
            ),
            counter(
                "messages_received",
                "Messages received, each of them checked",
                none,
                done.received + now.received,
            ),
            counter(
                "sent",
                "Bytes of the frames written",
                Unit::Bytes,
                done.sent_bytes + now.sent_bytes,
            ),
            counter(
                "received",
                "Bytes of the frames received",
                Unit::Bytes,
                done.received_bytes + now.received_bytes,
            ),
            counter(
                "faults",
                "Faults of the server, of all classes",
                none,
                done.faults.max(self.faults.total()) + now.faults,
            ),
            Family {
                name: "step_faults",
                help: "Faults of the server by class, of steps that have ended",
                unit: none,
                value: Value::Counter(
                    self.faults
                        .classes()
                        .iter()
                        .map(|(class, count)| (vec![("class", (*class).to_owned())], *count as f64))
                        .collect(),
                ),
            },
            Family {
                name: "completion",
                help: "From the intended send to the last receipt of a broadcast, or to the answer of an echo; in a connect run from the intended start to the accepted upgrade",
                unit: Unit::Seconds,
                value: Value::Histogram(completed, (done.completed_ns + now.completed_ns) / 1e9),
            },
            Family {
                name: "step_latency",
                help: "Percentiles of the last step that has ended",
                unit: Unit::Seconds,
                value: Value::Gauge(last.map(quantiles).unwrap_or_default()),
            },
            Family {
                name: "step_connections_ended",
                help: "Connections that the generator did not close, of steps that have ended, by how they ended",
                unit: none,
                value: Value::Counter(
                    self.drops
                        .iter()
                        .map(|(how, count)| (vec![("how", how.clone())], *count as f64))
                        .collect(),
                ),
            },
            of_feed(
                "step_feed_messages",
                "Messages that the server sent by itself, of steps that have ended",
                &|of| of.messages,
            ),
            of_feed(
                "step_feed_missing",
                "Numbers of such messages that are missing, of steps that have ended",
                &|of| of.missing,
            ),
            of_feed(
                "step_feed_repeats",
                "Numbers of such messages that came once more, of steps that have ended",
                &|of| of.repeats,
            ),
            gauge(
                "step_feed_rate",
                "Such messages per second in the last step that has ended",
                none,
                last.and_then(|step| Some(step.feed.as_ref()?.per_second)),
            ),
            gauge(
                "step_passed",
                "1 when the last step that has ended passed, else 0",
                none,
                last.map(|step| f64::from(u8::from(step.passed()))),
            ),
            gauge(
                "generator_busiest_thread_ratio",
                "CPU time of the generator's busiest thread in the last step that has ended, as a share of its length",
                none,
                generator.map(|of| of.busiest_thread),
            ),
            gauge(
                "generator_largest_lag",
                "Longest round of the generator's event loops in the last step that has ended",
                Unit::Seconds,
                generator.map(|of| of.largest_lag_ns as f64 / 1e9),
            ),
        ];
        all.extend(self.streams.families(last));
        all.extend(self.http.families(last));
        all
    }
}

impl Totals {
    fn add_row(&mut self, row: &TimeRow) {
        self.sent += row.sent;
        self.received += row.received;
        self.sent_bytes += row.sent_bytes;
        self.received_bytes += row.received_bytes;
        self.faults += row.faults;
        self.completed.merge(&row.buckets);
        // What replaces this when the step has ended is exact and must not be less.
        let least = row
            .buckets
            .iter()
            .map(|(end_ns, count)| Buckets::begin(end_ns) as f64 * count as f64);
        self.completed_ns += least.sum::<f64>();
    }

    fn add_step(&mut self, step: &StepRecord) {
        if let Some(all) = &step.throughput {
            self.sent += all.sent;
            self.received += all.received;
            self.sent_bytes += all.sent_bytes;
            self.received_bytes += all.received_bytes;
        }
        self.faults += step.faults.total();
        if let Some(completion) = &step.completion {
            let recorder = completion
                .recorder()
                .unwrap_or_else(|_| Recorder::default());
            self.completed.merge(&recorder.buckets());
            self.completed_ns += completion.mean_ns * completion.count as f64;
        }
    }
}

fn quantiles(step: &StepRecord) -> Vec<Labelled> {
    let of = [
        ("completion", &step.completion),
        ("delivery", &step.delivery),
        ("ack", &step.ack),
    ];
    let mut all = Vec::new();
    for (name, latency) in of {
        for (quantile, ns) in latency.iter().flat_map(figures) {
            let labels = vec![("of", name.to_owned()), ("quantile", quantile.to_owned())];
            all.push((labels, ns as f64 / 1e9));
        }
    }
    all
}
