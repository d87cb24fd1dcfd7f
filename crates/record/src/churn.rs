//! What became of clients that left during a step, and of those that stayed meanwhile.

use super::{Latency, Recorder, Told};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Clients that left and came back. No sample waits for them, and they send nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Churn {
    /// How many clients of the step may leave.
    pub clients: u64,
    /// How often one left with a close handshake.
    pub left: u64,
    /// How many of these close frames the server did not answer, in time or before the step ended
    /// them.
    pub unclosed: u64,
    /// Attempts to connect again.
    pub attempts: u64,
    /// Those of them that failed. Each is followed by another one, if the plan says so.
    pub failures: AttemptFailures,
    /// The first of these failures, in words.
    pub first_failure: Option<Told>,
    /// How many of these attempts were under way when the step ended.
    pub unfinished: u64,
    /// How often a client was ready again.
    pub reconnected: u64,
    /// From the moment at which a client that comes and goes was to be back until it was: its failed
    /// attempts and the delays between them included.
    pub reconnect: Option<Latency>,
    /// From the moment at which an attempt was due until the client was ready, of attempts that
    /// succeeded.
    pub handshake: Option<Latency>,
    /// How late attempts were made: the generator was busy, or `connection.at_once` others were
    /// under way.
    pub attempt_lag: Option<Latency>,
    /// The part of it in which fewer than `connection.at_once` were under way: the generator was busy.
    /// Absent in records from before it was told apart.
    #[serde(default)]
    pub generator_lag: Option<Latency>,
    /// How often messages to such a client were checked: from when it was ready until it left, or
    /// until the step ended.
    pub visits: u64,
    /// Messages that they took; they are among `generator.messages`.
    pub messages: u64,
    /// Messages that they should have had and did not get; they are among `faults.lost`.
    pub lost: u64,
    /// Messages that they had twice; they are among `faults.duplicate`.
    pub duplicate: u64,
    /// Connections of theirs that the server ended; they are among `faults.disconnected`.
    pub disconnected: u64,
    /// Changes of rooms, where the plan has clients that change them.
    pub rooms: Option<RoomChanges>,
    /// The cut, where the plan has one.
    pub cut: Option<CutRecord>,
}

/// Subscriptions that ended and began while their connections stayed. Requests under way at the end
/// of the step are in none of the counts of answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoomChanges {
    /// How many clients of the step change rooms.
    pub clients: u64,
    /// How often one asked to be unsubscribed.
    pub left: u64,
    /// How often one asked to be subscribed.
    pub asked: u64,
    /// How often that was confirmed.
    pub joined: u64,
    /// Requests of both kinds that the server did not answer in time; they are among
    /// `faults.unanswered`.
    pub unanswered: u64,
    /// From the moment at which a client was to be subscribed until that was confirmed: the time for
    /// which a busy generator, or `connection.at_once`, held the request back included.
    pub join: Option<Latency>,
}

/// Attempts to connect again that failed, by what they failed of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct AttemptFailures {
    /// Nothing took the connection.
    pub refused: u64,
    /// No answer within `connection.timeout`.
    pub timed_out: u64,
    /// The connection ended before the client was ready.
    pub closed: u64,
    /// The upgrade, TLS or the subscription was answered with something else than yes.
    pub rejected: u64,
    /// This machine had no port or file left. None of it is the server's.
    pub machine: u64,
    /// Any other error of the network.
    pub other: u64,
}

impl AttemptFailures {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.refused + self.timed_out + self.closed + self.rejected + self.machine + self.other
    }

    /// Adds those of another part.
    pub const fn merge(&mut self, other: &Self) {
        self.refused += other.refused;
        self.timed_out += other.timed_out;
        self.closed += other.closed;
        self.rejected += other.rejected;
        self.machine += other.machine;
        self.other += other.other;
    }
}

/// Clients that were cut off at one moment, and what the others felt of it. All times count from the
/// planned moment of the cut.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CutRecord {
    /// The planned moment, since the start of the schedule, in nanoseconds.
    pub at_ns: u64,
    /// How many clients were cut.
    pub clients: u64,
    /// How late the last of them was, in nanoseconds.
    pub late_ns: u64,
    /// How many of them were ready again before the step ended.
    pub back: u64,
    /// Time until half of them were, in nanoseconds. Absent where fewer came back.
    pub back_50_ns: Option<u64>,
    /// The same of 95 percent.
    pub back_95_ns: Option<u64>,
    /// The same of all.
    pub back_100_ns: Option<u64>,
    /// From the cut until a client was ready again, of those that were.
    pub back_time: Option<Latency>,
    /// Completion of the timed samples that were complete when the cut came.
    pub before: Option<Latency>,
    /// Of those that were under way or due between the cut and the moment at which all clients were
    /// back; where some never were, of all from the cut on.
    pub during: Option<Latency>,
    /// Of those that were due after it.
    pub after: Option<Latency>,
}

impl CutRecord {
    /// The time in nanoseconds until `percentile` percent of them were ready again. `None` where fewer
    /// were when the step ended, and of nothing.
    pub fn back_within(&self, percentile: f64) -> Option<u64> {
        if percentile >= 100.0 {
            return self.back_100_ns;
        }
        let came = self.back_time.as_ref()?.recorder().ok()?;
        // As in `Recorder::percentile`.
        let rank = percentile / 100.0 * self.clients as f64 * (1.0 - 2.0 * f64::EPSILON);
        time_of(rank.ceil() as u64, &came)
    }
}

/// The time within which `percent` of `all` had come, where `came` holds the times of those that
/// did. `None` when fewer did, and of nothing.
pub fn time_until(percent: u32, all: u64, came: &Recorder) -> Option<u64> {
    time_of((all * u64::from(percent)).div_ceil(100), came)
}

/// The time within which so many had come.
fn time_of(rank: u64, came: &Recorder) -> Option<u64> {
    let is_reached = rank > 0 && came.count() >= rank;
    is_reached.then(|| came.percentile(rank as f64 * 100.0 / came.count() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_share_of_those_that_were_cut_counts_those_that_never_came() {
        let mut came = Recorder::default();
        for ms in 1..=96_u64 {
            came.record(ms * 1_000_000);
        }
        let ms = |percent| time_until(percent, 100, &came).map(|ns| (ns + 500_000) / 1_000_000);
        assert_eq!([ms(50), ms(95), ms(100)], [Some(50), Some(95), None]);
        assert_eq!(time_until(100, 96, &came), Some(came.percentile(100.0)));
        assert_eq!(time_until(50, 0, &came), None);
        assert_eq!(time_until(50, 1, &Recorder::default()), None);
    }

    #[test]
    fn a_percentile_of_those_that_were_cut_is_among_those_that_were_back() {
        let mut came = Recorder::default();
        (1..=96_u64).for_each(|ms| came.record(ms * 1_000_000));
        let cut = CutRecord {
            clients: 100,
            back: 96,
            back_time: came.latency(),
            ..CutRecord::default()
        };
        let ms = |percentile| {
            cut.back_within(percentile)
                .map(|ns| (ns + 500_000) / 1_000_000)
        };
        let expected = [Some(1), Some(50), Some(95), Some(96), None, None];
        assert_eq!([0.5, 50.0, 95.0, 95.5, 96.1, 100.0].map(ms), expected);
        assert_eq!(CutRecord::default().back_within(50.0), None);
    }

    proptest! {
        #[test]
        fn it_is_the_time_at_that_rank(
            mut times in prop::collection::vec(1_000u64..1_000_000_000, 1..300),
            never in 0u64..300, percent in 1u32..=100,
        ) {
            let mut came = Recorder::default();
            times.iter().for_each(|ns| came.record(*ns));
            times.sort_unstable();
            let all = times.len() as u64 + never;
            let rank = (all * u64::from(percent)).div_ceil(100) as usize;
            match time_until(percent, all, &came) {
                None => prop_assert!(rank > times.len()),
                Some(ns) => {
                    let exact = times[rank - 1];
                    prop_assert!(ns.abs_diff(exact) <= 1_000 + exact / 1_000, "{ns} {exact}");
                }
            }
        }
    }
}
