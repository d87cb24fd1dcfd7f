//! One direction of the network as a rule: when a packet that is sent now arrives, if it does.
//!
//! Pure: the clock is handed in. Times are nanoseconds since some moment.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use record::Network;
use std::collections::VecDeque;

/// Packets that may wait for the rate: as many as netem's limit and the queue of an Ethernet
/// interface of Linux have by default (tc-netem(8); DEFAULT_TX_QUEUE_LEN in net/ethernet/eth.c).
const WAITING: usize = 1000;
/// For how long a delay stays as it was drawn. Were it drawn for each packet, and the order kept, then
/// under load each packet would wait for the slowest of those before it.
const DRAWN_FOR: u64 = 50_000_000;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It arrives at this time.
    Arrives(u64),
    /// It is lost, as it was asked for.
    Lost,
    /// Too many wait for the rate.
    Overflows,
}

/// One direction.
#[derive(Debug)]
pub(super) struct Line {
    delay: u64,
    jitter: u64,
    loss: f64,
    rate: Option<u64>,
    random: ChaCha8Rng,
    /// When the draw of the delay ends, and what was drawn.
    drawn: (u64, u64),
    /// When the packets that wait for the rate begin to be sent.
    begins: VecDeque<u64>,
    /// When the last packet has been sent whole.
    free: u64,
    /// When the last packet arrives: none overtakes it.
    last: u64,
}

impl Line {
    /// A direction of this network. The draws of each `direction` are the same each time: of equal
    /// traffic the same packets are lost.
    pub(super) fn new(network: &Network, direction: u64) -> Self {
        Self {
            delay: network.delay_ns / 2,
            jitter: network.jitter_ns / 2,
            loss: network.loss,
            rate: network.rate,
            random: ChaCha8Rng::seed_from_u64(direction),
            drawn: (0, network.delay_ns / 2),
            begins: VecDeque::new(),
            free: 0,
            last: 0,
        }
    }

    /// What becomes of a packet of so many bytes that is sent now.
    pub(super) fn take(&mut self, now: u64, bytes: usize) -> Fate {
        if self.loss > 0.0 && self.random.random_bool(self.loss) {
            return Fate::Lost;
        }
        let Some(sent) = self.through_the_rate(now, bytes) else {
            return Fate::Overflows;
        };
        let arrives = (sent + self.delay_at(now)).max(self.last);
        self.last = arrives;
        Fate::Arrives(arrives)
    }

    /// When the packet has been sent whole; `None` when it finds no room.
    fn through_the_rate(&mut self, now: u64, bytes: usize) -> Option<u64> {
        let Some(rate) = self.rate else {
            return Some(now);
        };
        while self.begins.front().is_some_and(|begins| *begins <= now) {
            self.begins.pop_front();
        }
        if self.begins.len() >= WAITING {
            return None;
        }
        let begins = now.max(self.free);
        let takes = bytes as u128 * 8 * 1_000_000_000 / u128::from(rate);
        self.free = begins + takes as u64;
        self.begins.push_back(begins);
        Some(self.free)
    }

    fn delay_at(&mut self, now: u64) -> u64 {
        if self.jitter > 0 && now >= self.drawn.0 {
            let drawn = self
                .random
                .random_range(self.delay - self.jitter..=self.delay + self.jitter);
            self.drawn = (now + DRAWN_FOR, drawn);
        }
        self.drawn.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::parse;

    const MS: u64 = 1_000_000;

    fn line(text: &str) -> Line {
        Line::new(&parse(text).unwrap(), 1)
    }

    #[test]
    fn half_of_the_delay_lies_in_each_direction() {
        let mut line = line("delay=20ms");
        assert_eq!(line.take(0, 1500), Fate::Arrives(10 * MS));
        assert_eq!(line.take(5, 1500), Fate::Arrives(10 * MS + 5));
    }

    #[test]
    fn jitter_keeps_order_bounds_and_the_mean() {
        let mut line = line("delay=20ms jitter=8ms");
        let (mut last, mut sum, mut changes) = (0, 0, 0);
        let (packets, apart) = (100_000, MS / 2);
        let mut before = 0;
        for at in (0..packets).map(|n| n * apart) {
            let Fate::Arrives(arrives) = line.take(at, 60) else {
                panic!("lost");
            };
            assert!(arrives >= last, "a packet overtakes another");
            let delay = arrives - at;
            assert!((6 * MS..=14 * MS).contains(&delay), "{delay}");
            changes += u64::from(delay != before);
            (last, before) = (arrives, delay);
            sum += delay;
        }
        let mean = sum as f64 / packets as f64 / MS as f64;
        assert!((9.5..10.7).contains(&mean), "{mean}");
        assert!(changes >= 900, "{changes}");
    }

    #[test]
    fn the_share_that_was_asked_for_is_lost_and_the_same_packets_each_time() {
        let lost = || {
            let mut line = line("loss=1%");
            let all = (0..100_000).filter(|n| line.take(*n, 60) == Fate::Lost);
            all.collect::<Vec<u64>>()
        };
        let once = lost();
        assert!((850..1150).contains(&once.len()), "{}", once.len());
        assert_eq!(once, lost());
    }

    #[test]
    fn the_rate_spaces_packets_and_a_thousand_wait() {
        let mut line = line("rate=8mbit");
        // 8 Mbit/s are a byte in a microsecond.
        assert_eq!(line.take(0, 1000), Fate::Arrives(MS));
        assert_eq!(line.take(0, 500), Fate::Arrives(MS + MS / 2));
        assert_eq!(line.take(10 * MS, 500), Fate::Arrives(10 * MS + MS / 2));
        let now = 20 * MS;
        let took = (0..1500).filter(|_| line.take(now, 1000) != Fate::Overflows);
        // One is being sent, the others wait.
        assert_eq!(took.count(), 1001);
        assert_eq!(line.take(now + MS, 1000), Fate::Arrives(now + 1002 * MS));
    }
}
