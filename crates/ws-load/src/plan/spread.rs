//! Places of clients on a circle of 2^64 points, from which populations and rooms take their shares.
//!
//! A share must hold for any number of clients, within each worker, which has every n-th client, and
//! within each room. Multiples of one number cannot do that: among the first 64 of them there is
//! always one that hardly moves on (Dirichlet's approximation theorem), and a worker of so many has
//! its clients side by side. So places are drawn, and drawn evenly: 16 clients in a row take one
//! sixteenth of the circle each, in an order that is drawn for them. Workers and rooms then have what
//! independent draws give them, or less uneven shares.

use super::mix;

/// Clients whose places are drawn together: a power of two.
const BLOCK: u64 = 16;

/// From one client of a block to the next, in sixteenths of the circle. These have no factor in common
/// with the block, and so reach all of it; 1 and 15 would have neighbours side by side.
const STEPS: [u64; 6] = [3, 5, 7, 9, 11, 13];

/// The fractional part of the golden ratio, in 64 bits: the multiples of no other number lie more
/// evenly on a circle (Knuth, The Art of Computer Programming, volume 3, 6.4).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The place of client number `client` of the whole run. What is drawn with another `key` is
/// independent of it.
pub(super) fn place(key: u64, client: u64) -> u64 {
    let (block, member) = (client / BLOCK, client % BLOCK);
    let drawn = mix(key, block);
    let step = STEPS[(drawn >> 32) as usize % STEPS.len()];
    let part = drawn.wrapping_add(member * step) % BLOCK;
    part * (u64::MAX / BLOCK + 1) + block.wrapping_mul(GOLDEN) / BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share_of(share: f64) -> u64 {
        (share * 2f64.powi(64)) as u64
    }

    /// How far from its share the count of clients below it is after each of the clients.
    fn deviations(
        key: u64,
        share: f64,
        clients: impl Iterator<Item = u64>,
    ) -> impl Iterator<Item = f64> {
        let mut below = 0.0;
        clients.enumerate().map(move |(before, client)| {
            below += f64::from(u8::from(place(key, client) < share_of(share)));
            below - (before + 1) as f64 * share
        })
    }

    proptest! {
        #[test]
        fn any_number_of_clients_has_its_shares(key: u64, share in 0.0f64..1.0) {
            let mut all = deviations(key, share, 0..20_000);
            prop_assert!(all.all(|deviation| deviation.abs() < 6.0));
        }
    }

    /// Law: the counts of workers vary about as those of independent draws at most, of any number of
    /// workers, after 10 clients of each and after 100. The places within a sixteenth are multiples of
    /// one number, and of some numbers of workers those show.
    #[test]
    fn workers_differ_as_independent_draws_do_at_most() {
        for (workers, each) in (2..=64).flat_map(|workers| [(workers, 10), (workers, 100)]) {
            for share in [0.5, 0.25, 0.1] {
                let (mut squares, mut draws) = (0.0, 0.0);
                for (key, worker) in (0..40).flat_map(|key| (0..workers).map(move |n| (key, n))) {
                    let own = (worker..workers * each).step_by(workers as usize);
                    let deviation = deviations(key, share, own).last().unwrap();
                    squares += deviation * deviation;
                    draws += 1.0;
                }
                let of_independent = each as f64 * share * (1.0 - share);
                let ratio = squares / draws / of_independent;
                // A variance of `draws` squares lies within 6 of its standard deviations.
                let bound = 1.25 + 6.0 * (2.0_f64 / draws).sqrt();
                assert!(
                    ratio < bound,
                    "{workers} workers, {share}: {ratio} of {bound}"
                );
            }
        }
    }

    #[test]
    fn keys_are_independent() {
        // Chi-squared of 8 times 8 cells with 49 degrees of freedom: six standard deviations.
        let mut cells = [[0.0; 8]; 8];
        for client in 0..64_000 {
            let [a, b] = [1, 2].map(|key| (place(key, client) >> 61) as usize);
            cells[a][b] += 1.0;
        }
        let squares = cells.iter().flatten().map(|n: &f64| (n - 1_000.0).powi(2));
        let chi = squares.sum::<f64>() / 1_000.0;
        assert!(chi < 49.0 + 6.0 * (2.0_f64 * 49.0).sqrt(), "{chi}");
    }
}
