//! (k) Clients that read slowly take so many bytes per second as the plan says, by the kernel's counts.
//!
//! A client takes what its receive buffer holds and then waits for as long as that takes at its rate.
//! So the bytes of one read are those of the time until the next: from the first read to the last, the
//! last one's bytes left out, the speed is exact. What the kernel holds unread is asked for again and
//! again, which tells the moment of each read to within two looks.

use super::bench::{Bench, at_rate, nanos, recorder, started};
use super::{Chapter, Findings};
use crate::Part;
use crate::error::Unmade;
use host_facts::{Side, Sockets};
use plan::{Arrivals, Population, Reading, Workload};
use record::{Check, StepRecord, Unit};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use test_servers::{NullOptions, NullServer};

pub(super) const CHAPTER: Chapter = Chapter {
    part: Part::K,
    id: "k",
    name: "reading speeds",
    proves: "Clients that read slowly by plan take so many bytes per second, no more and no less, and \
             those that have stopped take none.",
    takes: (Duration::from_secs(7), Duration::from_secs(5)),
    measure,
};

/// Bytes per second of the clients that read slowly.
const SPEEDS: [u32; 3] = [40_000, 300_000, 900_000];
/// By equal shares, so many clients of each speed and so many that have stopped; the rest read all.
const EACH: usize = 2;
const CLIENTS: u32 = 10;
/// 100 messages of 12 KB in a second: more than the fastest of them takes.
const RATE: f64 = 100.0;
const PADDING: u32 = 12_000;
/// Time between two looks at the sockets.
const LOOKS: Duration = Duration::from_millis(5);
/// Of the full and the short form. A read of the slowest brings what takes 1.5 s at its speed, and two
/// reads at least must come between the times below.
const LENGTHS: (Duration, Duration) = (Duration::from_millis(6_000), Duration::from_millis(4_500));
/// When buffers are full and connections opened.
const SETTLED: Duration = Duration::from_millis(700);
/// Before the end of the schedule, when all connections are read again.
const BEFORE_END: Duration = Duration::from_millis(200);
/// More bytes than of a handshake.
const UPGRADED: u64 = 8_000;
/// What comes within so short a time is one read: the slowest loop that is not put aside.
const ONE_READ: Duration = Duration::from_millis(25);
/// A client may be slower by this share, which is what waking up costs it, and faster by this one.
const SLOWER: f64 = 0.03;
const FASTER: f64 = 0.005;
/// A speed that is known less closely shows nothing.
const OPEN: f64 = 0.1;

fn measure(bench: &Bench<'_>) -> Result<Findings, Unmade> {
    let server = started(NullServer::start(NullOptions::default()))?;
    let time = bench.time(LENGTHS.0, LENGTHS.1);
    let mut plan = bench.plan(server.addr(), Workload::Broadcast, CLIENTS);
    plan.load = at_rate(RATE, Arrivals::Constant, time);
    plan.message.padding = PADDING;
    let slow = SPEEDS.map(Reading::BytesPerSecond);
    let all = [Reading::Full].into_iter().chain(slow);
    let reading = |reads| Population {
        reads,
        ..Population::default()
    };
    plan.populations = all.chain([Reading::Stopped]).map(reading).collect();
    let ended = AtomicBool::new(false);
    let port = server.addr().port();
    let (step, looks) = std::thread::scope(|scope| {
        let looking = scope.spawn(|| look(port, &ended));
        let step = bench.run(&plan);
        ended.store(true, Ordering::Relaxed);
        (step, looking.join().unwrap_or_default())
    });
    let step = step?;
    Ok(Findings {
        checks: judge(&step, &looks, time),
        ..Findings::default()
    })
}

/// What was read of each socket, by its port, between two readings of the clock.
struct Look {
    before: Instant,
    after: Instant,
    read: Vec<(u16, u64)>,
}

fn look(port: u16, ended: &AtomicBool) -> Vec<Look> {
    let mut sockets = Sockets::new(port, Side::Remote);
    let mut looks = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        let before = Instant::now();
        let Some(read) = sockets.read_bytes() else {
            break;
        };
        looks.push(Look {
            before,
            after: Instant::now(),
            read,
        });
        std::thread::sleep(LOOKS);
    }
    looks
}

/// What one socket had read by a look.
#[derive(Clone, Copy)]
struct Taken {
    before: Instant,
    after: Instant,
    bytes: u64,
}

/// How fast a socket was read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Speed {
    bytes_per_second: f64,
    /// The share by which it may be off.
    open: f64,
    /// Mean bytes of a read; 0 where there were not two.
    bytes_per_read: f64,
    /// Bytes of all reads.
    bytes: u64,
}

/// The speeds of all sockets while messages flowed, the slowest first.
fn speeds(looks: &[Look], time: Duration) -> Vec<Speed> {
    let mut sockets: BTreeMap<u16, Vec<Taken>> = BTreeMap::new();
    let flowing = |look: &&Look| look.read.iter().any(|(_, bytes)| *bytes > UPGRADED);
    let Some(began) = looks.iter().find(flowing).map(|look| look.before) else {
        return Vec::new();
    };
    let window = began + SETTLED..began + time.saturating_sub(BEFORE_END);
    for look in looks.iter().filter(|look| window.contains(&look.after)) {
        for (port, bytes) in &look.read {
            sockets.entry(*port).or_default().push(Taken {
                before: look.before,
                after: look.after,
                bytes: *bytes,
            });
        }
    }
    let mut speeds: Vec<Speed> = sockets.into_values().map(speed).collect();
    speeds.sort_by_key(|speed| speed.bytes);
    speeds
}

fn speed(mut taken: Vec<Taken>) -> Speed {
    // A count may be too large for a moment, never too small.
    for at in (1..taken.len()).rev() {
        taken[at - 1].bytes = taken[at - 1].bytes.min(taken[at].bytes);
    }
    // Each read: the last look before it, and the first after it.
    let mut reads: Vec<(Taken, Taken)> = Vec::new();
    for pair in taken.windows(2) {
        let (last, next) = (pair[0], pair[1]);
        let is_same = |(_, seen): &(Taken, Taken)| next.before < seen.after + ONE_READ;
        if next.bytes > last.bytes && !reads.last().is_some_and(is_same) {
            reads.push((last, next));
        }
    }
    let [begin, .., end] = &taken[..] else {
        return Speed::default();
    };
    let all = end.bytes - begin.bytes;
    let [first, .., last] = &reads[..] else {
        return Speed {
            bytes: all,
            ..Speed::default()
        };
    };
    let bytes = (last.0.bytes - first.0.bytes) as f64;
    let shortest = last.0.before.saturating_duration_since(first.1.after);
    let longest = last.1.after.saturating_duration_since(first.0.before);
    let (shortest, longest) = (shortest.as_secs_f64(), longest.as_secs_f64());
    let seconds = f64::midpoint(shortest, longest);
    Speed {
        bytes_per_second: bytes / seconds,
        open: (longest - shortest) / 2.0 / seconds,
        bytes_per_read: bytes / (reads.len() - 1) as f64,
        bytes: all,
    }
}

fn judge(step: &StepRecord, looks: &[Look], time: Duration) -> Vec<Check> {
    let silent = looks
        .is_empty()
        .then(|| "this kernel does not tell what was read of a socket".to_owned());
    let lag = recorder(step.send_lag.as_ref()).percentile(100.0);
    let read = recorder(step.generator.receive_lag.as_ref()).percentile(100.0);
    let late = Duration::from_nanos(lag.max(read));
    let speeds = speeds(looks, time);
    let mut checks = vec![Check::exactly(
        "connections",
        CLIENTS.into(),
        speeds.len() as u64,
    )];
    let mut slowest = speeds.chunks(EACH);
    let stopped = slowest.next().unwrap_or_default().iter();
    let most = stopped.map(|speed| speed.bytes).max().unwrap_or_default();
    checks.push(Check::exactly("bytes of stopped clients", 0, most));
    for rate in SPEEDS {
        for speed in slowest.next().unwrap_or_default() {
            checks.push(held(rate, *speed, late));
        }
    }
    checks.push(Check::exactly("faults", 0, step.faults.total()));
    let checks = checks.into_iter();
    checks.map(|check| check.unless(silent.clone())).collect()
}

/// Holds the speed of one client against that of the plan.
fn held(rate: u32, speed: Speed, late: Duration) -> Check {
    let rate = f64::from(rate);
    let least = rate * (1.0 - SLOWER) * (1.0 - speed.open);
    let most = rate * (1.0 + FASTER) * (1.0 + speed.open);
    let measured = speed.bytes_per_second;
    // Each read was late by so much at most, as far as the records tell.
    let pause = speed.bytes_per_read / rate;
    let put_aside = least * pause / (pause + late.as_secs_f64());
    let is_explained = match pause > 0.0 {
        true => measured < least && measured >= put_aside,
        false => late > ONE_READ,
    };
    let busy = is_explained.then(|| {
        format!(
            "too little CPU: the generator was up to {} ms late",
            nanos(late) / 1_000_000
        )
    });
    let open = (speed.open > OPEN).then(|| {
        format!(
            "too little CPU: the moments of the reads are known only to {:.0} percent",
            speed.open * 100.0
        )
    });
    let name = format!("{rate} bytes per second");
    Check {
        known: Some(rate),
        ..Check::between(&name, Unit::Count, measured, Some(least), Some(most))
    }
    .unless(busy)
    .shows_nothing(open)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bench, failed, planted, step, uninterrupted, worst};
    use super::*;
    use plan::Plan;
    use record::ProofVerdict;

    const TIME: Duration = Duration::from_secs(4);

    /// What a socket has read by `at`, where reads of 30,000 bytes come at this speed.
    fn read_by(at: Duration, rate: u32) -> u64 {
        let read: u32 = 30_000;
        let pause = f64::from(read) / f64::from(rate);
        let reads = (at.as_secs_f64() / pause).floor();
        10_000 + reads as u64 * u64::from(read)
    }

    /// Looks at two sockets of each speed, two that have stopped and two that read all.
    // timed: an origin for times that are made up; nothing is measured.
    fn looks(rates: [u32; 3]) -> Vec<Look> {
        let began = Instant::now();
        let looks = (0..800).map(|number| {
            let at = Duration::from_millis(5) * number;
            let slow = rates.into_iter().flat_map(|rate| [rate; EACH]);
            let read = slow.map(|rate| read_by(at, rate));
            let all = read
                .chain([10_000; EACH])
                .chain([read_by(at, 1_200_000); EACH]);
            Look {
                before: began + at,
                after: began + at + Duration::from_micros(100),
                read: (1..).zip(all).collect(),
            }
        });
        looks.collect()
    }

    #[test]
    fn the_speeds_of_the_plan_pass() {
        let checks = judge(&step(), &looks(SPEEDS), TIME);
        assert_eq!(worst(&checks), ProofVerdict::Pass, "{checks:?}");
    }

    #[test]
    fn other_speeds_fail() {
        for (place, share) in [
            (0, 1.05),
            (1, 1.05),
            (2, 1.05),
            (0, 0.9),
            (1, 0.9),
            (2, 0.9),
        ] {
            let mut rates = SPEEDS;
            rates[place] = (f64::from(rates[place]) * share) as u32;
            let checks = judge(&step(), &looks(rates), TIME);
            let expected = format!("{} bytes per second", SPEEDS[place]);
            assert_eq!(failed(&checks), [expected.as_str(); EACH], "{checks:?}");
        }
    }

    #[test]
    fn a_client_that_has_stopped_takes_nothing() {
        let mut looks = looks(SPEEDS);
        let half = looks.len() / 2;
        for look in &mut looks[half..] {
            look.read[6].1 += 1;
        }
        let checks = judge(&step(), &looks, TIME);
        assert_eq!(failed(&checks), ["bytes of stopped clients"]);
    }

    #[test]
    fn without_counts_nothing_is_said() {
        assert_eq!(
            worst(&judge(&step(), &[], TIME)),
            ProofVerdict::Inconclusive
        );
    }

    #[test]
    fn a_late_generator_excuses_slowness_and_not_speed() {
        let speed = |bytes_per_second| Speed {
            bytes_per_second,
            open: 0.0,
            bytes_per_read: 30_000.0,
            bytes: 300_000,
        };
        let verdict =
            |measured, ms| held(300_000, speed(measured), Duration::from_millis(ms)).verdict;
        assert_eq!(verdict(299_000.0, 0), ProofVerdict::Pass);
        assert_eq!(verdict(270_000.0, 0), ProofVerdict::Fail);
        assert_eq!(verdict(270_000.0, 20), ProofVerdict::Inconclusive);
        assert_eq!(verdict(200_000.0, 20), ProofVerdict::Fail);
        assert_eq!(verdict(310_000.0, 20), ProofVerdict::Fail);
        // Not read twice: only a loop that was put aside explains that.
        let never = |ms| held(300_000, Speed::default(), Duration::from_millis(ms)).verdict;
        assert_eq!(never(5), ProofVerdict::Fail);
        assert_eq!(never(60), ProofVerdict::Inconclusive);
    }

    /// What fails of a part that is measured; `None` when the machine or the kernel cannot tell.
    fn found_by(generate: &dyn Fn(&Plan) -> Result<StepRecord, Unmade>) -> Option<Vec<String>> {
        let found = measure(&bench(generate)).unwrap();
        let failed = failed(&found.checks)
            .into_iter()
            .map(str::to_owned)
            .collect();
        (found.verdict() != ProofVerdict::Inconclusive).then_some(failed)
    }

    /// Whether these checks fail, and no other. A machine that is busy can make others fail: that these
    /// do each time is held in any case.
    #[track_caller]
    fn assert_found(expected: &[&str], generate: &dyn Fn(&Plan) -> Result<StepRecord, Unmade>) {
        let mut found = Vec::new();
        // An honest generator is to be found right at once, or once more.
        let tries = if expected.is_empty() { 2 } else { 5 };
        for _ in 0..tries {
            let Some(failed) = found_by(generate) else {
                continue;
            };
            let missing = expected
                .iter()
                .find(|name| !failed.iter().any(|of| of == *name));
            assert_eq!(missing, None, "{failed:?}");
            if failed == expected {
                return;
            }
            found.push(failed);
        }
        assert!(
            found.is_empty(),
            "{expected:?} was never found alone: {found:?}"
        );
    }

    #[test]
    fn the_generator_reads_as_it_is_told() {
        assert_found(&[], &uninterrupted);
    }

    #[test]
    fn a_generator_that_reads_at_another_speed_fails() {
        let faster = planted(|plan| {
            for population in &mut plan.populations {
                if let Reading::BytesPerSecond(rate @ 300_000) = &mut population.reads {
                    *rate += *rate / 10;
                }
            }
        });
        let expected = ["300000 bytes per second"; EACH];
        assert_found(&expected, &faster);
        let stops_late = planted(|plan| {
            for population in &mut plan.populations {
                if population.reads == Reading::Stopped {
                    population.reads = Reading::BytesPerSecond(10_000);
                }
            }
        });
        assert_found(&["bytes of stopped clients"], &stops_late);
    }
}
