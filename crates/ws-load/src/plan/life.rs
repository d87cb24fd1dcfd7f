//! When clients leave and come back, and what they must have heard: pure functions of the client's
//! number, the cycle, the number of failures and the seed.
//!
//! Which server is loaded moves none of the draws: a client that had to try three times takes the
//! delays of three tries, and its next stay is the same as if it had come at once.

use super::mix;
use plan::{Backoff, ComesAndGoes};

/// What a random number is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Draw {
    Stay = 0x51,
    Away = 0x52,
    Delay = 0x53,
}

/// Evenly distributed in (0, 1].
fn uniform(seed: u64, draw: Draw, client: u64, cycle: u32, failures: u32) -> f64 {
    let stream = mix(mix(seed ^ draw as u64, client), cycle.into());
    ((mix(stream, failures.into()) >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// For how long a client stays in a cycle, counted from 0, and is away then, in nanoseconds.
///
/// Exponentially distributed, as the gaps of independent users are: how long a client has been there
/// says nothing about when it leaves. The longest is 37 times the mean.
pub(crate) fn times(of: ComesAndGoes, seed: u64, client: u64, cycle: u32) -> (u64, u64) {
    let drawn =
        |draw, mean_ns: u64| (-uniform(seed, draw, client, cycle, 0).ln() * mean_ns as f64) as u64;
    (
        drawn(Draw::Stay, of.stays.ns()),
        drawn(Draw::Away, of.away.ns()),
    )
}

/// How long a client waits before an attempt, after so many failures in this cycle, in nanoseconds.
pub(crate) fn delay_ns(of: Backoff, seed: u64, client: u64, cycle: u32, failures: u32) -> u64 {
    let grown = of.first.ns() as f64 * of.factor.powf(failures.into());
    let whole = grown.min(of.most.ns() as f64);
    let random = uniform(seed, Draw::Delay, client, cycle, failures);
    (whole * (1.0 - of.jitter * random)) as u64
}

/// What is known of a client's hearing from when it was ready until it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    /// When it was ready.
    pub(crate) ready_ns: u64,
    /// When the first message to it was read.
    pub(crate) first_ns: Option<u64>,
    /// When the latest of those messages that it heard was sent.
    pub(crate) latest_sent_ns: u64,
    /// When it began to leave, or now.
    pub(crate) left_ns: u64,
}

/// A message that was sent and of which nothing is awaited any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) sent_ns: u64,
    /// When the last client that it waited for had it.
    pub(crate) completed_ns: u64,
}

/// A server that has queued a message for all others, and goes on for a second without this client,
/// has lost it. The same time as that of the checks for servers of several processes.
const BORDER_NS: u64 = 1_000_000_000;
/// Until then a server that a storm of connections has delayed may make a client known, and may keep
/// what it has for it.
const SILENCE_NS: u64 = 5_000_000_000;

/// Whether a client must have heard a message.
///
/// It must be known to the server at the send: it had heard something before it, or was ready for
/// longer than a server may take. And the message must have been on its way to it: the client heard
/// another that was sent a second or more after this one was complete, which stands behind it in the
/// same stream; or it was there for longer after that than a server may take. All else lies in the
/// borders of a visit, and is neither required nor forbidden.
pub(crate) const fn must_hear(heard: Heard, message: Sent) -> bool {
    let since_first = match heard.first_ns {
        Some(first_ns) => message.sent_ns > first_ns,
        None => false,
    };
    let is_known = since_first || message.sent_ns > heard.ready_ns.saturating_add(SILENCE_NS);
    let was_passed = message.completed_ns.saturating_add(BORDER_NS) < heard.latest_sent_ns;
    let was_waited_for = message.completed_ns.saturating_add(SILENCE_NS) < heard.left_ns;
    is_known && (was_passed || was_waited_for)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Nanos;
    use proptest::prelude::*;

    const S: u64 = 1_000_000_000;
    const TIMES: ComesAndGoes = ComesAndGoes {
        stays: Nanos::secs(10),
        away: Nanos::secs(2),
    };

    fn backoff(jitter: f64) -> Backoff {
        Backoff {
            jitter,
            ..Backoff::default()
        }
    }

    /// Distance of a sample from the exponential distribution of that mean (Kolmogorov-Smirnov).
    fn distance(mut times: Vec<u64>, mean_ns: u64) -> f64 {
        times.sort_unstable();
        let n = times.len() as f64;
        let of = |(i, ns): (usize, &u64)| {
            let expected = 1.0 - (-(*ns as f64) / mean_ns as f64).exp();
            (expected - i as f64 / n)
                .abs()
                .max((expected - (i + 1) as f64 / n).abs())
        };
        times.iter().enumerate().map(of).fold(0.0, f64::max)
    }

    #[test]
    fn stays_and_times_away_are_exponential_over_clients_and_over_cycles() {
        let count = 20_000;
        let over_clients: Vec<_> = (0..count).map(|n| times(TIMES, 7, n, 3)).collect();
        let over_cycles: Vec<_> = (0..count as u32).map(|n| times(TIMES, 7, 3, n)).collect();
        // 1.63/sqrt(n) is the critical value at 1 percent.
        let critical = 1.63 / (count as f64).sqrt();
        for drawn in [over_clients, over_cycles] {
            let (stays, away): (Vec<u64>, Vec<u64>) = drawn.into_iter().unzip();
            assert!(distance(stays, TIMES.stays.ns()) < critical);
            assert!(distance(away, TIMES.away.ns()) < critical);
        }
    }

    #[test]
    fn a_stay_and_the_time_away_after_it_are_independent() {
        let pairs: Vec<_> = (0..20_000).map(|n| times(TIMES, 1, n, 0)).collect();
        let both = pairs
            .iter()
            .filter(|(stay, away)| *stay > TIMES.stays.ns() && *away > TIMES.away.ns());
        // 1/e each: 2,707 expected, standard deviation 48; six of them either way.
        let both = both.count();
        assert!((2_419..2_995).contains(&both), "{both}");
    }

    /// The bits of what is drawn for are set in one seed and not in the other.
    #[test]
    fn every_bit_of_the_seed_counts() {
        let of = |seed| times(TIMES, seed, 3, 1);
        let draws = Draw::Stay as u64;
        assert_ne!(of(draws).0, of(0).0);
    }

    #[test]
    fn full_and_equal_jitter_are_those_of_the_source() {
        let fraction = |jitter, n| {
            let of = backoff(jitter);
            delay_ns(of, 1, n, 0, 0) as f64 / of.first.ns() as f64
        };
        for (jitter, least) in [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)] {
            let drawn: Vec<f64> = (0..10_000).map(|n| fraction(jitter, n)).collect();
            assert!(drawn.iter().all(|of| (least - 1e-6..=1.0).contains(of)));
            let mean = drawn.iter().sum::<f64>() / 1e4;
            // Standard deviation of the mean of 10,000: at most 0.0029; six of them.
            assert!((mean - f64::midpoint(least, 1.0)).abs() < 0.018, "{mean}");
        }
    }

    proptest! {
        #[test]
        fn draws_are_the_same_each_time(seed: u64, client: u64, cycle: u32, failures: u32) {
            prop_assert_eq!(times(TIMES, seed, client, cycle), times(TIMES, seed, client, cycle));
            let of = backoff(0.5);
            let delay = delay_ns(of, seed, client, cycle, failures);
            prop_assert_eq!(delay, delay_ns(of, seed, client, cycle, failures));
            prop_assert!(delay <= of.most.ns());
        }

        #[test]
        fn without_jitter_delays_grow_to_the_longest(failures in 0u32..1000, factor in 1.0f64..100.0) {
            let of = Backoff { factor, ..backoff(0.0) };
            let (this, next) = (
                delay_ns(of, 1, 2, 3, failures),
                delay_ns(of, 1, 2, 3, failures + 1),
            );
            prop_assert!(of.first.ns() <= this && this <= next && next <= of.most.ns());
            prop_assert_eq!(delay_ns(of, 1, 2, 3, 0), of.first.ns());
            if this < of.most.ns() && next < of.most.ns() {
                prop_assert!((next as f64 / this as f64 - factor).abs() < 0.001);
            }
        }

        /// A visit that began earlier, lasted longer or heard more requires all that it did before.
        #[test]
        fn what_a_visit_requires_a_longer_one_does_too(
            ready in 0u64..20, first in prop::option::of(0u64..20), latest in 0u64..20,
            left in 0u64..20, sent in 0u64..20, took in 0u64..10, more in 0u64..5,
        ) {
            let heard = Heard {
                ready_ns: ready * S,
                first_ns: first.map(|first| first * S),
                latest_sent_ns: latest * S,
                left_ns: left * S,
            };
            let message = Sent { sent_ns: sent * S, completed_ns: (sent + took) * S };
            let longer = [
                Heard { left_ns: heard.left_ns + more * S, ..heard },
                Heard { latest_sent_ns: heard.latest_sent_ns + more * S, ..heard },
                Heard { ready_ns: heard.ready_ns.saturating_sub(more * S), ..heard },
                Heard { first_ns: heard.first_ns.map(|ns| ns.saturating_sub(more * S)), ..heard },
            ];
            for longer in longer {
                prop_assert!(!must_hear(heard, message) || must_hear(longer, message));
            }
            // What was sent before it was ready, or was incomplete when it left, is never required.
            if ready <= first.unwrap_or(ready) && (sent <= ready || sent + took >= left.max(latest)) {
                prop_assert!(!must_hear(heard, message));
            }
        }
    }

    proptest! {
        /// A client that must have heard a message must have heard one that was sent later and was
        /// complete earlier.
        #[test]
        fn what_is_required_of_a_slower_message_is_of_a_faster_one(
            ready in 0u64..20, first in prop::option::of(0u64..20), latest in 0u64..20,
            left in 0u64..20, sent in 0u64..20, took in 0u64..10, later in 0u64..5, sooner in 0u64..5,
        ) {
            let heard = Heard {
                ready_ns: ready * S,
                first_ns: first.map(|first| first * S),
                latest_sent_ns: latest * S,
                left_ns: left * S,
            };
            let slower = Sent { sent_ns: sent * S, completed_ns: (sent + took) * S };
            let faster = Sent {
                sent_ns: slower.sent_ns + later * S,
                completed_ns: slower.completed_ns.saturating_sub(sooner * S),
            };
            prop_assert!(!must_hear(heard, slower) || must_hear(heard, faster));
        }
    }

    /// Ready at 10 s, first message read at 11 s, left at 20 s; messages took 100 ms.
    #[test]
    fn a_message_within_a_visit_is_required_and_one_in_its_borders_is_not() {
        let ms = |ms: u64| ms * 1_000_000;
        let heard = Heard {
            ready_ns: ms(10_000),
            first_ns: Some(ms(11_000)),
            latest_sent_ns: ms(19_000),
            left_ns: ms(20_000),
        };
        let required = |heard, at_ms| {
            let (sent_ns, completed_ns) = (ms(at_ms), ms(at_ms + 100));
            let message = Sent {
                sent_ns,
                completed_ns,
            };
            must_hear(heard, message)
        };
        for (at_ms, expected) in [
            (9_000, false),
            (10_500, false),
            (11_000, false),
            (11_001, true),
            (17_899, true),
            // A second before the latest that was heard.
            (17_900, false),
            (19_950, false),
        ] {
            assert_eq!(required(heard, at_ms), expected, "{at_ms}");
        }
        // Heard nothing: known after five seconds, and waited for until five before the end.
        let deaf = Heard {
            first_ns: None,
            latest_sent_ns: 0,
            left_ns: ms(22_000),
            ..heard
        };
        for (at_ms, expected) in [
            (15_000, false),
            (15_001, true),
            (16_899, true),
            (16_900, false),
        ] {
            assert_eq!(required(deaf, at_ms), expected, "{at_ms}");
        }
        // Silent from 12 s on: what it missed is required when it has waited for five seconds.
        let silent = Heard {
            latest_sent_ns: ms(12_000),
            ..heard
        };
        assert!(required(silent, 14_899) && !required(silent, 14_900));
    }
}
