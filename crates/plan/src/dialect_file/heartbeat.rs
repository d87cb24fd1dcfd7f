//! What a client sends by the clock, so that the server knows that it lives.

use crate::{Nanos, NoTime, is_variable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What each client sends by the clock from when it is ready until its connection ends. It is no
/// request: it is in no latency and no count of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// Time between two beats of a client, like `30s`, from `10ms` to `1day`. Or what the server tells
    /// the client while it opens: the name of what is captured, with its unit, as in `{interval}ms` and
    /// `{timeout}s`.
    pub every: String,
    /// The share of that time by which a beat may come earlier, at random, from 0 to 1. The first beats
    /// are spread over the whole time in any case.
    #[serde(default)]
    pub jitter: f64,
    /// The message. It may have variables of the client.
    pub send: String,
    /// Where a rule means `heartbeat`: how long its answer may take. Without it, until the next beat.
    #[serde(default)]
    pub within: Option<Nanos>,
}

/// The time between two beats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeatInterval<'a> {
    /// The same for all clients.
    Fixed(Nanos),
    /// What the server tells a client under this name, in units of so many nanoseconds.
    Told {
        /// The name of what is captured.
        name: &'a str,
        /// Nanoseconds of a unit.
        unit_ns: u64,
    },
}

/// A text that is no time between two beats.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoInterval {
    /// It is no time.
    #[error(transparent)]
    Time(#[from] NoTime),
    /// A value of the server stands without its unit.
    #[error("a value of the server needs its unit, `ms` or `s`")]
    Unit,
    /// The braces hold no name.
    #[error("in the braces is no name")]
    Name,
}

impl Heartbeat {
    /// The shortest and the longest time between two beats. A shorter one is a load, and no heartbeat.
    pub const BOUNDS: (Nanos, Nanos) = (Nanos::millis(10), Nanos::secs(24 * 60 * 60));

    /// What `every` says.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn interval(&self) -> Result<BeatInterval<'_>, NoInterval> {
        let Some((name, unit)) = self
            .every
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'))
        else {
            return Ok(BeatInterval::Fixed(self.every.parse()?));
        };
        let unit_ns = match unit {
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => return Err(NoInterval::Unit),
        };
        match is_variable(name) {
            true => Ok(BeatInterval::Told { name, unit_ns }),
            false => Err(NoInterval::Name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_two_beats_is_fixed_or_told() {
        let of = |every: &str| Heartbeat {
            every: every.to_owned(),
            jitter: 0.0,
            send: String::new(),
            within: None,
        };
        let fixed = of("1m 30s");
        assert_eq!(fixed.interval(), Ok(BeatInterval::Fixed(Nanos::secs(90))));
        for (every, unit_ns) in [("{a-1}ms", 1_000_000), ("{a-1}s", 1_000_000_000)] {
            let told = BeatInterval::Told {
                name: "a-1",
                unit_ns,
            };
            assert_eq!(of(every).interval(), Ok(told));
        }
        for every in ["", "often", "{a}", "{a}min", "{a b}s", "{}s", "{as"] {
            assert!(of(every).interval().is_err(), "{every}");
        }
    }
}
