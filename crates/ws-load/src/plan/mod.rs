//! Pure schedules: the n-th choice of a run is a function of n and the seed.
//!
//! Nothing here reads a clock, a socket or a counter, so a plan can be replayed and tested alone.

mod audience;
mod bounds;
mod life;
mod population;
mod rooms;
mod schedule;
mod script;
mod search;
mod spread;

pub(crate) use audience::{Audience, Hearers, Hearing, Parties, most_under_way};
pub(crate) use bounds::longest_message;
pub(crate) use life::{Heard, Sent, delay_ns, must_hear, times};
pub(crate) use population::{count_of, listening, population_of, sender_from};
pub(crate) use rooms::{RoomTable, WorkerRooms};
pub(crate) use schedule::Schedule;
pub(crate) use script::Script;
pub(crate) use search::{Hunt, briefly};

use plan::Plan;

/// A well-mixed 64-bit value from a seed and an index: the output function of SplitMix64
/// (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
pub(crate) const fn mix(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Which of `clients` clients sends sample number `sample` of the whole run.
pub(crate) const fn sender_of(seed: u64, sample: u64, clients: u64) -> u64 {
    // The high half of a 64x64 product maps evenly onto 0..clients without a division.
    ((mix(seed, sample) as u128 * clients as u128) >> 64) as u64
}

/// How many attempts to connect `worker` of `workers` may have under way: all of them together have as
/// many as the plan permits.
pub(crate) fn attempts_at_once(plan: &Plan, worker: u32, workers: u32) -> u32 {
    share_of(
        plan.connection.at_once.into(),
        worker.into(),
        workers.into(),
    ) as u32
}

/// Connections are opened by the clock, however many attempts are under way.
pub(crate) fn opens_by_clock(plan: &Plan) -> bool {
    plan.connect().is_some_and(|connect| connect.rate.is_some())
}

/// How many of `clients` clients, dealt out in turn, belong to `worker` of `workers`.
pub(crate) const fn share_of(clients: u64, worker: u64, workers: u64) -> u64 {
    clients / workers + (worker < clients % workers) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_add_up_and_differ_by_at_most_one(clients in 0u64..100_000, workers in 1u64..64) {
            let shares: Vec<u64> = (0..workers).map(|w| share_of(clients, w, workers)).collect();
            prop_assert_eq!(shares.iter().sum::<u64>(), clients);
            prop_assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }

        #[test]
        fn a_sender_is_always_a_client(seed: u64, sample: u64, clients in 1u64..u64::MAX) {
            prop_assert!(sender_of(seed, sample, clients) < clients);
        }
    }

    /// The first outputs that are published for the seed 1234567.
    #[test]
    fn it_is_splitmix64() {
        let outputs: [u64; 5] = std::array::from_fn(|n| mix(1_234_567, n as u64));
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(outputs, published);
    }

    #[test]
    fn senders_are_spread_evenly() {
        let mut counts = [0u32; 10];
        for sample in 0..10_000 {
            counts[sender_of(7, sample, 10) as usize] += 1;
        }
        // Binomial(10000, 0.1): standard deviation 30; six of them either way.
        assert!(
            counts.iter().all(|c| (820..=1180).contains(c)),
            "{counts:?}"
        );
    }
}
