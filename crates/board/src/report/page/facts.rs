//! Where and how a run was made: environment and plan. A fact that is not the same for all
//! measurements shows every value that it had.

use super::super::load::Run;
use super::super::words::measure_name;
use super::super::{figures, words};
use plan::{Clients, Load, Plan};
use record::{Environment, Measurement, NetworkUse, Pinning, RunRecord};

/// Values that are shown of a fact, so that runs against many ports do not fill the page.
const SHOWN: usize = 6;

/// Facts of one run.
pub(super) struct Facts {
    pub(super) run: String,
    pub(super) environment: Vec<Fact>,
    pub(super) plan: Vec<Fact>,
}

/// A name and its values.
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) text: String,
    /// The exact value, where it is one number.
    pub(super) value: Option<String>,
}

/// Text and exact value.
type Shown = (String, Option<String>);

pub(super) fn facts(run: &Run) -> Facts {
    let records: Vec<&RunRecord> = run
        .measurements
        .iter()
        .filter_map(|measurement| measurement.run.as_ref())
        .collect();
    Facts {
        run: run.name.clone(),
        environment: environment(&records, &run.measurements),
        plan: plan(&records),
    }
}

fn environment(records: &[&RunRecord], measurements: &[Measurement]) -> Vec<Fact> {
    let of = |name, value: fn(&Environment) -> Shown| {
        fact(
            name,
            records.iter().map(|record| value(&record.environment)),
        )
    };
    let facts = [
        of("kernel", |at| word(&at.kernel)),
        of("distribution", |at| known(at.distribution.as_deref())),
        of("CPU", |at| known(at.cpu_model.as_deref())),
        of("cores online", |at| number(at.cores)),
        of("cores allowed", |at| word(&cpus(&at.allowed_cpus))),
        of("memory", |at| {
            at.memory_bytes.map_or_else(
                || known(None),
                |bytes| (figures::bytes(bytes as f64), Some(bytes.to_string())),
            )
        }),
        of("open files, soft limit", |at| count(at.file_limit.soft)),
        of("open files, hard limit", |at| count(at.file_limit.hard)),
        of("local ports", |at| match at.local_ports {
            Some((first, last)) => word(&format!("{first} to {last}")),
            None => known(None),
        }),
        of("longest accept queue", |at| {
            at.somaxconn.map_or_else(|| known(None), number)
        }),
        of("clock source", |at| known(at.clock_source.as_deref())),
        fact(
            "pinning",
            measurements
                .iter()
                .filter(|measurement| measurement.run.is_some())
                .map(|measurement| word(&pinning(measurement.pinning.as_ref()))),
        ),
        fact(
            "network",
            measurements
                .iter()
                .filter(|measurement| measurement.run.is_some())
                .map(|measurement| word(&network(measurement.network.as_ref()))),
        ),
        fact(
            "generator",
            records
                .iter()
                .map(|record| word(&format!("{} {}", record.tool.name, record.tool.version))),
        ),
    ];
    facts.into_iter().flatten().collect()
}

fn network(of: Option<&NetworkUse>) -> String {
    let Some(of) = of else {
        return "loopback".to_owned();
    };
    match &of.congestion_control {
        None => of.asked.to_string(),
        Some(control) => format!("{}; congestion control {control}", of.asked),
    }
}

fn plan(records: &[&RunRecord]) -> Vec<Fact> {
    let of = |name, value: fn(&Plan) -> Shown| {
        fact(name, records.iter().map(|record| value(&record.plan)))
    };
    let facts = [
        of("workload", |plan| match &plan.name {
            Some(name) => word(name),
            None => word(plan.workload().name()),
        }),
        of("request", |plan| word(plan.workload().name())),
        of("dialect", |plan| word(words::dialect(plan.message.dialect))),
        of("requests in flight", |plan| match &plan.load {
            Load::Closed(closed) => number(closed.in_flight),
            _ => word("as the load brings"),
        }),
        of("samples per step", |plan| match &plan.load {
            Load::Closed(closed) => number(closed.samples),
            _ => word("as the load brings"),
        }),
        of("clients of the first step", |plan| {
            count(plan.clients_at(0))
        }),
        of("clients added per step", |plan| match &plan.clients {
            Clients::Steps(steps) => count(steps.add.into()),
            Clients::Search(_) => word("as the search needs"),
        }),
        of("steps at most", |plan| {
            plan.steps().map_or_else(|| word("until the limit"), number)
        }),
        of("padding of a payload", |plan| {
            (
                match plan.message.lines {
                    Some(_) => plan.message.padding_in_words(),
                    None => format!("{} bytes", plan.message.padding_in_words()),
                },
                Some(plan.message.padding_in_words()),
            )
        }),
        of("content of answers", |plan| {
            word(plan.unchecked().unwrap_or("checked, every byte"))
        }),
        of("limited latency", |plan| word(measure_name(plan.limits.of))),
        of("limit percentile", |plan| {
            let percentile = figures::percentile(plan.limits.percentile);
            (percentile.clone(), Some(percentile))
        }),
        of("limit", |plan| time(plan.limits.time.ns())),
        of("time-out of a connection", |plan| {
            time(plan.connection.timeout.ns())
        }),
        of("time-out of a sample", |plan| {
            time(plan.limits.sample_timeout.ns())
        }),
        of("handshakes at once", |plan| number(plan.connection.at_once)),
        of("generator threads", |plan| number(plan.generator.threads)),
        of("seed", |plan| {
            (
                plan.generator.seed.to_string(),
                Some(plan.generator.seed.to_string()),
            )
        }),
        of("origin", |plan| {
            word(plan.connection.origin.as_deref().unwrap_or("none"))
        }),
        of("source addresses", |plan| {
            let addresses: Vec<String> = plan
                .target
                .local_addrs
                .iter()
                .map(ToString::to_string)
                .collect();
            word(
                if addresses.is_empty() {
                    "the system's choice".to_owned()
                } else {
                    addresses.join(", ")
                }
                .as_str(),
            )
        }),
        of("URL", |plan| word(&plan.target.url)),
        of("TLS", |plan| {
            let Some(tls) = &plan.connection.tls else {
                return word("not asked for");
            };
            let sessions = match tls.resumption {
                true => "a client resumes its own sessions",
                false => "no session is resumed",
            };
            let (min, max) = (tls.min.name(), tls.max.name());
            word(&format!("offered {min} to {max}; {sessions}"))
        }),
        of("certificate checked", |plan| {
            word(if plan.target.verify_certificate {
                "yes, where there is one"
            } else {
                "no"
            })
        }),
        of("certificate authorities", |plan| {
            match &plan.target.ca_file {
                Some(file) => word(&file.display().to_string()),
                None => word("the system's"),
            }
        }),
    ];
    facts.into_iter().flatten().collect()
}

/// A fact with all its different values; `None` without any.
fn fact(name: &'static str, values: impl Iterator<Item = Shown>) -> Option<Fact> {
    let mut different: Vec<Shown> = Vec::new();
    for value in values {
        if !different.contains(&value) {
            different.push(value);
        }
    }
    let more = different.len().saturating_sub(SHOWN);
    let value = match different.as_slice() {
        [] => return None,
        [(_, value)] => value.clone(),
        _ => None,
    };
    let texts: Vec<&str> = different
        .iter()
        .take(SHOWN)
        .map(|(text, _)| text.as_str())
        .collect();
    let mut text = texts.join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    Some(Fact { name, text, value })
}

fn word(text: &str) -> Shown {
    (text.to_owned(), None)
}

fn known(text: Option<&str>) -> Shown {
    word(text.unwrap_or("unknown"))
}

fn number(number: u32) -> Shown {
    count(number.into())
}

fn count(number: u64) -> Shown {
    (figures::count(number), Some(number.to_string()))
}

fn time(ns: u64) -> Shown {
    (figures::time(ns as f64), Some(ns.to_string()))
}

fn cpus(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let texts: Vec<String> = ranges
        .iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    texts.join(", ")
}

fn pinning(pinning: Option<&Pinning>) -> String {
    match pinning {
        Some(pinning) => format!(
            "server on {}, generator on {}",
            cpus(&pinning.server_cpus),
            cpus(&pinning.generator_cpus)
        ),
        None => "none: server and generator share all cores".to_owned(),
    }
}
