//! One step of a run: its counts against one another, its latencies against the limit, its verdict
//! against all of them.

use super::claim::Claims;
use super::samples::count;
use super::{beside, clients, drops, held, watched};
use plan::{Audience, Load, Measure};
use record::{InFlight, Latency, RunRecord, StepRecord, Throughput, Verdict, judge};

/// How far apart two ways to compute a figure may be by rounding.
const ROUNDING: f64 = 1e-6;

pub(super) fn check(index: usize, step: &StepRecord, run: &RunRecord) -> Vec<String> {
    let mut claims = Claims::new(format!("run.steps.{index}"));
    load(&mut claims, index, step, run);
    limited(&mut claims, step, run);
    counted(&mut claims, step, run);
    in_flight(&mut claims, step, run);
    clients::check(&mut claims, step, run);
    held::check(&mut claims, step);
    drops::check(&mut claims, step);
    beside::check(&mut claims, step, run);
    watched::check(&mut claims, step, &run.plan);
    concluded(&mut claims, step, run);
    claims.wrong()
}

/// How many clients and samples there were to be.
fn load(claims: &mut Claims, index: usize, step: &StepRecord, run: &RunRecord) {
    let plan = &run.plan;
    claims.at_most("samples", step.samples, "its plan", step.samples_planned);
    if plan.search().is_some() {
        return;
    }
    let clients = plan.clients_at(u32::try_from(index).unwrap_or(u32::MAX));
    match plan.load {
        // Those that were refused or cut off are not there.
        Load::Connect(_) if !step.passed() => {
            claims.at_most("clients", step.clients, "its plan", clients);
        }
        _ => claims.equal("clients", step.clients, "its plan", clients),
    }
    if let Load::Closed(closed) = &plan.load {
        let planned = u64::from(closed.samples);
        claims.equal("samples_planned", step.samples_planned, "its plan", planned);
    }
}

/// The latency that the limit applies to, in both of its forms.
fn limited(claims: &mut Claims, step: &StepRecord, run: &RunRecord) {
    let limits = &run.plan.limits;
    let chosen = match run.plan.limited() {
        Measure::Completion => &step.completion,
        Measure::Delivery => &step.delivery,
        Measure::Ack => &step.ack,
    };
    let at_limit = |of: &Option<Latency>| {
        let recorder = of.as_ref()?.recorder().ok()?;
        Some(recorder.percentile(limits.percentile))
    };
    let made = at_limit(chosen);
    claims.equal("limited_ns", step.limited_ns, "its histogram", made);
    let at_least = at_limit(&step.limited_at_least);
    claims.equal(
        "limited_at_least_ns",
        step.limited_at_least_ns,
        "its histogram",
        at_least,
    );
    claims.at_most("limited_at_least_ns", at_least, "limited_ns", made);
    let is_over = made.is_some_and(|ns| ns > limits.time.ns());
    claims.equal("over_limit", step.over_limit, "its limit", is_over);
}

/// What was counted in the step against what was in its seconds and in its distributions.
fn counted(claims: &mut Claims, step: &StepRecord, run: &RunRecord) {
    let completed = count(step.completion.as_ref());
    if step.connections.is_none() && step.watched.is_none() {
        claims.equal("samples", step.samples, "completion", completed);
    }
    if run.plan.audience == Audience::Everyone && step.connections.is_none() {
        let delivered = count(step.delivery.as_ref());
        claims.at_least("delivery.count", delivered, "completion", completed);
    }
    let Some(of) = step.throughput else {
        return;
    };
    let messages = step.generator.messages;
    claims.equal(
        "throughput.received",
        of.received,
        "generator.messages",
        messages,
    );
    let rates = |of: Throughput| {
        [
            ("sent_per_second", of.sent_per_second),
            ("received_per_second", of.received_per_second),
            ("sent_bytes_per_second", of.sent_bytes_per_second),
            ("received_bytes_per_second", of.received_bytes_per_second),
        ]
    };
    for ((name, stored), (_, made)) in rates(of).into_iter().zip(rates(of.over(step.elapsed_ns))) {
        close(
            claims,
            &format!("throughput.{name}"),
            stored,
            "elapsed_ns",
            made,
        );
    }
    let Some(series) = &step.series else {
        return;
    };
    let mut all = Throughput::default();
    let (mut complete, mut faults) = (0, 0);
    for row in &series.rows {
        all.sent += row.sent;
        all.received += row.received;
        all.sent_bytes += row.sent_bytes;
        all.received_bytes += row.received_bytes;
        complete += row.completed;
        faults += row.faults;
    }
    for (name, stored, made) in [
        ("throughput.sent", of.sent, all.sent),
        ("throughput.received", of.received, all.received),
        ("throughput.sent_bytes", of.sent_bytes, all.sent_bytes),
        (
            "throughput.received_bytes",
            of.received_bytes,
            all.received_bytes,
        ),
        ("completion.count", completed, complete),
        ("faults", step.faults.total(), faults),
    ] {
        claims.equal(name, stored, "its series", made);
    }
}

/// Little's law, of which one side is a count and the other is made of distributions.
fn in_flight(claims: &mut Claims, step: &StepRecord, run: &RunRecord) {
    let from_send = step.uncorrected.as_ref().or(step.completion.as_ref());
    let (Some(law), Some(from_send)) = (step.in_flight, from_send) else {
        return;
    };
    let warm_up_ns = run.plan.open_loop().map_or(0, |open| open.warm_up.ns());
    let timed_ns = step.elapsed_ns.saturating_sub(warm_up_ns).max(1) as f64;
    let pace = from_send.count as f64 / timed_ns;
    let made = InFlight::new(law.seen, pace, from_send.mean_ns, law.known_after_ns);
    let names = ["in_flight.expected", "in_flight.deviation"];
    let pairs = [
        (law.expected, made.expected),
        (law.deviation, made.deviation),
    ];
    for (name, (stored, made)) in names.into_iter().zip(pairs) {
        close(claims, name, stored, "its distributions", made);
    }
}

/// A rate near the generator's ceiling, which is known where the run was made alone, makes a failure
/// the generator's. A hold that was broken off is no pass.
fn concluded(claims: &mut Claims, step: &StepRecord, run: &RunRecord) {
    use Verdict::{Fail, GeneratorLimited, Interrupted, Noisy, Pass};
    let made = judge(step, &run.plan, None).verdict;
    let is_held = step.connections.is_some();
    let is_so = match (step.verdict, made) {
        (Interrupted, _) => step.faults.is_empty(),
        (GeneratorLimited, Fail) => step.faults.is_empty(),
        (Noisy, Pass) => is_held,
        (stored, made) => stored == made,
    };
    if !is_so {
        let (stored, made) = (step.verdict.name(), made.name());
        claims.no(format!("verdict is {stored}, and by its figures {made}"));
    }
}

/// A figure that is computed from others.
fn close(claims: &mut Claims, name: &str, stored: f64, by: &str, made: f64) {
    if (stored - made).abs() > ROUNDING * (1.0 + made.abs()) {
        claims.equal(name, stored, by, made);
    }
}
