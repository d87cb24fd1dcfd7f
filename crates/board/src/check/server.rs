//! What the server used in each step, against what was sampled of it over time, and in a `connect` run
//! against what the generator read.
//!
//! A step has the largest sample of its time. That is no less than the largest of the intervals within
//! it, and no more than the largest of those that it touches. Records from before do not say where in
//! the series a step was: then it is no less than the largest of as many intervals in a row, wherever
//! these are, and no more than the largest of all.

use super::claim::Claims;
use record::{Measurement, Memory, RunRecord, ServerRow, ServerSeries, ServerStep};

/// Share by which two readings of the memory of a process may differ that were made within a moment,
/// and bytes on top of it: a server that has been started may still give back what it needed for that.
const READINGS: (f64, u64) = (0.1, 1 << 20);

/// How long the reading takes with which a step begins.
const READ_NS: u64 = 50_000_000;

/// The unit in which the kernel tells the parts of CPU time, proc_pid_stat(5).
const TICK_NS: u64 = 10_000_000;

/// A kind of memory: of one reading, and of an interval.
struct Kind {
    name: &'static str,
    of: fn(&Memory) -> Option<u64>,
    in_row: fn(&ServerRow) -> Option<u64>,
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "resident_bytes",
        of: |memory| Some(memory.resident_bytes),
        in_row: |row| Some(row.resident_bytes),
    },
    Kind {
        name: "proportional_bytes",
        of: |memory| memory.proportional_bytes,
        in_row: |row| row.proportional_bytes,
    },
    Kind {
        name: "sockets_bytes",
        of: |memory| memory.sockets_bytes,
        in_row: |row| row.sockets_bytes,
    },
];

pub(super) fn check(of: &Measurement, run: &RunRecord) -> Vec<String> {
    let mut claims = Claims::new("");
    let used = Used {
        before: "",
        steps: ("server_steps", &of.server_steps),
        series: ("server_series", of.server_series.as_ref()),
        idle: of.idle.as_ref(),
    };
    if used.check(&mut claims, cores(of, run), run) {
        for (index, (server, step)) in of.server_steps.iter().zip(&run.steps).enumerate() {
            let place = format!("server_steps.{index}");
            let read_of = (server, step.connections.as_deref());
            read(&mut claims, &place, of, read_of);
        }
    }
    claims.wrong()
}

/// What the proxy used in each step, in the same way.
pub(super) fn proxy(of: &Measurement, run: &RunRecord) -> Vec<String> {
    let mut claims = Claims::new("");
    if let Some(proxy) = &of.proxy {
        let used = Used {
            before: "proxy.",
            steps: ("proxy.steps", &proxy.steps),
            series: ("proxy.series", proxy.series.as_ref()),
            idle: proxy.idle.as_ref(),
        };
        used.check(&mut claims, cores(of, run), run);
        let asked = run.plan.connection.tls.is_some();
        claims.equal("proxy.ends_tls", proxy.ends_tls, "the plan", asked);
    }
    claims.wrong()
}

/// The cores that the server and its proxy may use.
fn cores(of: &Measurement, run: &RunRecord) -> u64 {
    let pinned = of.pinning.as_ref();
    let pinned = pinned.map(|pinning| pinning.server_cpus.len() as u64);
    pinned.unwrap_or(run.environment.cores.into())
}

/// What was used, and the names of its parts.
struct Used<'a> {
    before: &'static str,
    steps: (&'static str, &'a [ServerStep]),
    series: (&'static str, Option<&'a ServerSeries>),
    idle: Option<&'a Memory>,
}

impl Used<'_> {
    /// False where it does not have what could be looked at.
    fn check(&self, claims: &mut Claims, cores: u64, run: &RunRecord) -> bool {
        let (name, steps) = self.steps;
        if steps.len() != run.steps.len() {
            let (found, due) = (steps.len(), run.steps.len());
            claims.no(format!("{name} has {found} steps, and the run {due}"));
            return false;
        }
        let (by, series) = self.series;
        let Some(series) = series.filter(|series| !series.rows.is_empty()) else {
            claims.no(format!(
                "{by}: does not say what was used over time; measure it again"
            ));
            return false;
        };
        if let Some(idle) = self.idle {
            for kind in &KINDS {
                let name = format!("{}idle.{}", self.before, kind.name);
                // The first reading is that of the idle server. A busy machine may need a whole interval for
                // it, and then the first row has none.
                let first = series.rows.iter().find_map(kind.in_row);
                let idle = (kind.of)(idle);
                claims.at_most(&name, idle, by, first);
                claims.at_least(&name, idle, by, first.map(|_| 0));
            }
        }
        for (index, (server, step)) in steps.iter().zip(&run.steps).enumerate() {
            let place = format!("{name}.{index}");
            let clients = format!("{place}.clients");
            claims.equal(clients, server.clients, "its step", step.clients);
            let most_ns = with_lag(server.elapsed_ns.saturating_mul(cores));
            let cpu = format!("{place}.cpu_ns");
            claims.at_most(cpu, server.cpu_ns, "its cores", most_ns);
            split(claims, &place, server);
            used(claims, &place, server, (by, series));
        }
        true
    }
}

/// The parts of the CPU time against the whole. They are kept in hundredths of a second for each
/// process, rounded down, and read a moment before.
fn split(claims: &mut Claims, place: &str, server: &ServerStep) {
    let parts = server.user_ns.zip(server.kernel_ns);
    claims.equal(
        format!("{place}.kernel_ns"),
        server.kernel_ns.is_some(),
        "user_ns",
        server.user_ns.is_some(),
    );
    let Some((user_ns, kernel_ns)) = parts else {
        return;
    };
    let sum_ns = user_ns.saturating_add(kernel_ns);
    let rounding_ns = u64::from(server.memory.processes).saturating_mul(2 * TICK_NS);
    let with_rounding = |cpu_ns: u64| with_lag(cpu_ns).saturating_add(rounding_ns);
    let name = format!("{place}.user_ns and kernel_ns");
    claims.at_most(&name, sum_ns, "cpu_ns", with_rounding(server.cpu_ns));
    claims.at_least(&name, with_rounding(sum_ns), "cpu_ns", server.cpu_ns);
}

/// The step against the series.
fn used(
    claims: &mut Claims,
    place: &str,
    server: &ServerStep,
    (by, series): (&str, &ServerSeries),
) {
    let Window { touched, within } = Window::new(server, series);
    for kind in &KINDS {
        let stored = (kind.of)(&server.memory);
        let name = format!("{place}.memory.{}", kind.name);
        let largest = |rows: &[ServerRow]| rows.iter().filter_map(kind.in_row).max();
        let most = largest(touched);
        claims.at_most(&name, stored, by, most);
        let is_known = series.rows.iter().all(|row| (kind.in_row)(row).is_some());
        let least = within.iter().filter_map(|rows| largest(rows)).min();
        let least = least.filter(|_| is_known).or(most.map(|_| 0));
        claims.at_least(&name, stored, by, least);
    }
    let name = format!("{place}.cpu_ns");
    let spent = |rows: &[ServerRow]| {
        let each = rows.iter().map(|row| row.cpu_ns);
        each.fold(0, u64::saturating_add)
    };
    claims.at_most(&name, server.cpu_ns, by, with_lag(spent(touched)));
    let least = within.iter().map(|rows| spent(rows)).min();
    claims.at_least(
        &name,
        with_lag(server.cpu_ns),
        by,
        least.unwrap_or_default(),
    );
}

/// The intervals in which a step may have been.
struct Window<'a> {
    /// All of which it may have a part.
    touched: &'a [ServerRow],
    /// Those that may lie within it: as many in a row as there are in any case, for each place.
    within: Vec<&'a [ServerRow]>,
}

impl<'a> Window<'a> {
    fn new(server: &ServerStep, series: &'a ServerSeries) -> Self {
        let rows = &series.rows;
        let interval_ns = series.interval_ns.max(1);
        let row = |ns: u64| usize::try_from(ns).map_or(rows.len(), |row| row.min(rows.len()));
        let Some(from_ns) = server.from_ns else {
            let whole = row((server.elapsed_ns / interval_ns).saturating_sub(1));
            return Self {
                touched: rows,
                within: match whole {
                    0 => Vec::new(),
                    whole => rows.windows(whole).collect(),
                },
            };
        };
        let to_ns = from_ns.saturating_add(server.elapsed_ns);
        let touched = row(from_ns / interval_ns)..row(to_ns / interval_ns + 1);
        let within = row((from_ns + READ_NS).div_ceil(interval_ns))..row(to_ns / interval_ns);
        Self {
            touched: rows.get(touched).unwrap_or_default(),
            within: rows.get(within).into_iter().collect(),
        }
    }
}

/// CPU time as it may be when a clock was read a little later: clocks of processes are read one
/// after the other, ten times a second.
fn with_lag(cpu_ns: u64) -> u64 {
    (cpu_ns / 100)
        .saturating_mul(105)
        .saturating_add(150_000_000)
}

/// The step and the idle server against what the generator of a `connect` run has read of the same
/// processes.
fn read(
    claims: &mut Claims,
    place: &str,
    of: &Measurement,
    (server, connections): (&ServerStep, Option<&record::Connections>),
) {
    let Some(used) = connections.and_then(|connections| connections.server) else {
        return;
    };
    for (name, ours, theirs) in [
        ("idle".to_owned(), of.idle.as_ref(), &used.before),
        (format!("{place}.memory"), Some(&server.memory), &used.after),
    ] {
        for kind in &KINDS[..2] {
            let (Some(ours), Some(theirs)) = (ours.and_then(kind.of), (kind.of)(theirs)) else {
                continue;
            };
            let apart = (theirs as f64 * READINGS.0) as u64 + READINGS.1;
            let name = format!("{name}.{}", kind.name);
            let by = "the generator's reading";
            claims.at_most(&name, ours, by, theirs.saturating_add(apart));
            claims.at_least(&name, ours, by, theirs.saturating_sub(apart));
        }
    }
}
