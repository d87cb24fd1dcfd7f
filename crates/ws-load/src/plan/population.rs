//! Which client belongs to which population, and which clients a sample waits for: pure functions of
//! the clients' numbers and of the shares.
//!
//! A sample waits for the clients that stay and read everything, and they alone send. A client that
//! reads slowly or leaves is a part of the load: what it takes is checked, and no sample waits for it.

use super::spread;
use plan::Population;

/// What sets the draws of populations apart from others.
const POPULATION_DRAWS: u64 = 0x50;

/// The population of client number `client` of the whole run.
///
/// The clients of a population are spread evenly over the numbers, and within workers and rooms as
/// evenly as draws are (`spread.rs`). Client 0 is awaited, where a population is.
pub(crate) fn population_of(populations: &[Population], client: u64) -> &Population {
    if let [all] = populations {
        return all;
    }
    let all: u64 = populations.iter().map(|of| u64::from(of.share)).sum();
    let begin = spread::place(POPULATION_DRAWS, 0);
    let circle = u128::from(spread::place(POPULATION_DRAWS, client).wrapping_sub(begin));
    let mut place = ((circle * u128::from(all)) >> 64) as u64;
    let awaited = populations.iter().filter(|of| of.is_awaited());
    let others = populations.iter().filter(|of| !of.is_awaited());
    for of in awaited.chain(others) {
        let share = u64::from(of.share);
        if place < share {
            return of;
        }
        place -= share;
    }
    &populations[0]
}

/// The client that sends what `drawn` was drawn for: the first at or after that one which samples wait
/// for. Which client sends must not depend on who is there, nor on how the workers share the clients.
pub(crate) fn sender_from(populations: &[Population], drawn: u64, clients: u64) -> u64 {
    if populations.iter().all(Population::is_awaited) {
        return drawn;
    }
    let mut from = drawn..clients;
    let awaited = from.find(|client| population_of(populations, *client).is_awaited());
    // Client 0 is awaited.
    awaited.unwrap_or(0)
}

/// How many of the workers have a client that samples wait for. Worker `n` of `of` has every `of`-th
/// of the run's `clients` clients, from number `n`.
pub(crate) fn listening(
    populations: &[Population],
    clients: u64,
    workers: impl Iterator<Item = (u32, u32)>,
) -> u32 {
    let listens = |&(n, of): &(u32, u32)| {
        let mut own = (u64::from(n)..clients).step_by(of as usize);
        own.any(|client| population_of(populations, client).is_awaited())
    };
    workers.filter(listens).count() as u32
}

/// How many of the run's `clients` clients belong to populations of which `is` holds.
pub(crate) fn count_of(
    populations: &[Population],
    clients: u64,
    is: impl Fn(&Population) -> bool,
) -> u64 {
    if !populations.iter().any(&is) {
        return 0;
    }
    let belongs = |client: &u64| is(population_of(populations, *client));
    (0..clients).filter(belongs).count() as u64
}

#[cfg(test)]
mod tests {
    use super::super::sender_of;
    use super::*;
    use plan::{Cut, Life, Nanos, Reading};
    use proptest::prelude::*;

    /// A population for each share, named by its rate.
    fn populations(shares: &[u32]) -> Vec<Population> {
        let of = |(name, &share)| Population {
            share,
            reads: Reading::BytesPerSecond(name as u32),
            ..Population::default()
        };
        shares.iter().enumerate().map(of).collect()
    }

    /// After each client the counts differ from the shares by less than `bound` clients.
    fn assert_even(shares: &[u32], clients: impl Iterator<Item = u64>, bound: f64) {
        let populations = populations(shares);
        let all: u32 = shares.iter().sum();
        let mut counts = vec![0_u32; shares.len()];
        for (before, client) in clients.enumerate() {
            let Reading::BytesPerSecond(name) = population_of(&populations, client).reads else {
                panic!("client {client} belongs to no population");
            };
            counts[name as usize] += 1;
            for (count, share) in counts.iter().zip(shares) {
                let exact = (before + 1) as f64 * f64::from(*share) / f64::from(all);
                let deviation = (f64::from(*count) - exact).abs();
                assert!(
                    deviation < bound,
                    "client {client}: {counts:?} of {shares:?}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn shares_come_out_right_for_any_prefix(shares in prop::collection::vec(1u32..1000, 1..8)) {
            assert_even(&shares, 0..20_000, 6.0);
        }
    }

    #[test]
    fn halves_of_twenty_clients_are_ten_each_or_one_more() {
        let populations = populations(&[1, 1]);
        let first = (0..20).filter(|client| {
            population_of(&populations, *client).reads == Reading::BytesPerSecond(0)
        });
        assert!((9..=11).contains(&first.count()));
    }

    #[test]
    fn the_largest_share_beside_the_smallest_is_given_out_whole() {
        let populations = populations(&[1, 1_000_000]);
        let small = (0..3_000_000).filter(|client| {
            population_of(&populations, *client).reads == Reading::BytesPerSecond(0)
        });
        assert!((1..=5).contains(&small.count()));
    }

    #[test]
    fn the_first_client_is_awaited_wherever_its_population_stands() {
        let mut all = populations(&[5, 1]);
        all[1].reads = Reading::Full;
        assert_eq!(population_of(&all, 0).reads, Reading::Full);
        let is_slow = |of: &Population| !of.is_awaited();
        assert_eq!(count_of(&all, 1, is_slow), 0);
        assert!((4_980..5_020).contains(&count_of(&all, 6_000, is_slow)));
    }

    #[test]
    fn clients_that_leave_or_read_slowly_send_nothing_and_the_others_as_they_were_drawn() {
        let leaving = Population {
            share: 3,
            life: Life::Cut(Cut { at: Nanos(0) }),
            ..Population::default()
        };
        let slow = populations(&[3])[0];
        for other in [leaving, slow] {
            let all = [other, Population::default()];
            for (clients, sample) in [1, 2, 3, 50]
                .into_iter()
                .flat_map(|n| (0..1_000).map(move |s| (n, s)))
            {
                let drawn = sender_of(7, sample, clients);
                let sender = sender_from(&all, drawn, clients);
                assert!(sender < clients && population_of(&all, sender).is_awaited());
                assert!(sender == drawn || !population_of(&all, drawn).is_awaited());
            }
        }
        let stays = [Population::default()];
        assert!((0..50).all(|n| sender_from(&stays, n, 50) == n));
    }

    #[test]
    fn workers_listen_that_have_a_client_which_reads_everything() {
        let mut all = populations(&[99, 1]);
        all[1].reads = Reading::Full;
        let workers = || (0..4).map(|n| (n, 4));
        assert_eq!(listening(&all, 4, workers()), 1);
        assert_eq!(listening(&all, 4_000, workers()), 4);
        let full = [Population::default()];
        assert_eq!(listening(&full, 3, workers()), 3);
        assert_eq!(listening(&full, 3_000, workers()), 4);
    }
}
