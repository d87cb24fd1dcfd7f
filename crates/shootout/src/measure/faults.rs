//! The faults of a plan: when each is due, what was done, and when that really was.
//!
//! Times count from the first message of the generator, which tells it by the monotonic clock of this
//! machine. Does not know how a fault is done; `supervise` does.

use crate::supervise::{Server, UnderWay};
use board::status::LATEST_FAULT_NS;
use plan::{Fault, FaultPart};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use record::{Event, FaultDone};
use std::collections::BTreeSet;
use std::time::Duration;

/// How often it is seen whether a fault is done.
const LOOK: Duration = Duration::from_millis(10);

/// The faults of a row, in the order of their times.
#[derive(Debug)]
pub(super) struct Timetable {
    faults: Vec<(FaultDone, State)>,
    /// When the first message was due.
    start_ns: Option<u64>,
}

#[derive(Debug)]
enum State {
    Awaited,
    UnderWay(UnderWay),
    Over,
}

impl Timetable {
    /// What is due when, with what the seed draws.
    pub(super) fn new(faults: &[Fault], seed: u64) -> Self {
        let mut draws = ChaCha8Rng::seed_from_u64(seed);
        let mut faults: Vec<(FaultDone, State)> = faults
            .iter()
            .map(|fault| {
                let later = draws.random_range(0..=fault.jitter.ns());
                let done = FaultDone {
                    planned: *fault,
                    due_ns: fault.at.ns() + later,
                    began_ns: None,
                    ended_ns: None,
                    failure: None,
                };
                (done, State::Awaited)
            })
            .collect();
        faults.sort_by_key(|(done, _)| done.due_ns);
        Self {
            faults,
            start_ns: None,
        }
    }

    /// The nodes whose way to the broker is cut or slowed, of these faults.
    pub(super) fn links(faults: &[Fault]) -> BTreeSet<u32> {
        let number = |fault: &Fault| match fault.what {
            FaultPart::Link(number) => Some(number),
            FaultPart::Node(_) | FaultPart::Broker | FaultPart::Proxy => None,
        };
        faults.iter().filter_map(number).collect()
    }

    pub(super) fn event(&mut self, event: &Event) {
        if let Event::Watching { start_ns, .. } = event {
            self.start_ns.get_or_insert(*start_ns);
        }
    }

    /// Does what is due, and says how soon there is more. Must be called from a thread that outlives the
    /// server.
    pub(super) fn act(&mut self, server: &mut Server) -> Duration {
        let Some(start_ns) = self.start_ns else {
            return Duration::MAX;
        };
        let now_ns = || monotonic_ns().saturating_sub(start_ns);
        for (done, state) in &mut self.faults {
            match state {
                State::Awaited if done.due_ns <= now_ns() => *state = begin(done, server, now_ns()),
                State::Awaited | State::Over => {}
                State::UnderWay(under_way) => {
                    if let Some(result) = under_way.look(server) {
                        end(done, result.map_err(|error| error.to_string()), now_ns());
                        *state = State::Over;
                    }
                }
            }
        }
        let mut left = self.faults.iter().map(|(done, state)| match state {
            State::Awaited => Duration::from_nanos(done.due_ns.saturating_sub(now_ns())),
            State::UnderWay(_) => LOOK,
            State::Over => Duration::MAX,
        });
        left.next()
            .map_or(Duration::MAX, |first| left.fold(first, Duration::min))
    }

    /// What was done, when the run is over.
    pub(super) fn finish(self) -> Vec<FaultDone> {
        let over = self.faults.into_iter().map(|(mut done, state)| {
            done.failure = match state {
                State::Awaited => Some("the run ended before it was due".into()),
                State::UnderWay(_) => Some("the run ended before it was done".into()),
                State::Over => done.failure,
            };
            done
        });
        over.collect()
    }
}

/// Begins a fault that is due. One that is late is done all the same, because later faults may depend on it.
fn begin(done: &mut FaultDone, server: &mut Server, now_ns: u64) -> State {
    match server.begin(done.planned.deed, done.planned.what) {
        Ok(under_way) => {
            done.began_ns = Some(now_ns);
            let late = now_ns - done.due_ns;
            if late > LATEST_FAULT_NS {
                done.failure = Some(format!("it began {} ms late", late / 1_000_000).into());
            }
            State::UnderWay(under_way)
        }
        Err(error) => {
            done.failure = Some(error.to_string().into());
            State::Over
        }
    }
}

fn end(done: &mut FaultDone, result: Result<(), String>, now_ns: u64) {
    match result {
        Ok(()) => done.ended_ns = Some(now_ns),
        Err(why) => done.failure = Some(why.into()),
    }
}

/// The clock of the generator's events, which every kernel has.
fn monotonic_ns() -> u64 {
    let now = host_facts::process::clock(libc::CLOCK_MONOTONIC);
    now.map_or(0, |now| now.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{FaultDeed, Nanos};

    fn fault(at: u64, jitter: u64, what: FaultPart) -> Fault {
        Fault {
            at: Nanos::secs(at),
            jitter: Nanos::secs(jitter),
            deed: FaultDeed::Kill,
            what,
        }
    }

    fn dues(faults: &[Fault], seed: u64) -> Vec<u64> {
        let done = Timetable::new(faults, seed).finish();
        done.iter().map(|done| done.due_ns).collect()
    }

    #[test]
    fn times_are_those_of_the_plan_and_of_the_seed() {
        let exact = [
            fault(20, 0, FaultPart::Broker),
            fault(10, 0, FaultPart::Node(1)),
        ];
        assert_eq!(dues(&exact, 1), [10_000_000_000, 20_000_000_000]);
        let loose = [
            fault(10, 5, FaultPart::Broker),
            fault(20, 5, FaultPart::Node(1)),
        ];
        assert_eq!(dues(&loose, 1), dues(&loose, 1));
        assert_ne!(dues(&loose, 1), dues(&loose, 2));
        for (at, due) in [10, 20].into_iter().zip(dues(&loose, 7)) {
            assert!((at * 1_000_000_000..=(at + 5) * 1_000_000_000).contains(&due));
        }
    }

    #[test]
    fn what_the_run_did_not_come_to_has_failed() {
        let done = Timetable::new(&[fault(10, 0, FaultPart::Broker)], 1).finish();
        assert_eq!(done[0].began_ns, None);
        let objection = board::status::faults(&done).unwrap_err();
        assert_eq!(
            objection.reason,
            "the fault \"kill broker\", due at 10.0 s, did not happen as planned: the run ended before \
             it was due"
        );
    }

    #[test]
    fn ways_are_made_where_one_is_cut() {
        let faults = [FaultPart::Link(2), FaultPart::Node(1), FaultPart::Link(2)];
        let faults = faults.map(|what| fault(1, 0, what));
        assert_eq!(Timetable::links(&faults), BTreeSet::from([2]));
    }
}
