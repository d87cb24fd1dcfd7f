//! Whether a network was what it was asked to be, from what was found of it.
//!
//! docs/network.md states these bounds.

use record::{Latency, Network, NetworkProbe, NetworkTraffic, NetworkUse};
use run_page::figures;

/// The median of the round trips may be longer than asked for by this share of it, and this long:
/// this is what waking two programs takes.
const LONGER: f64 = 0.1;
const WAKING_NS: u64 = 1_000_000;
/// Histograms tell times within a thousandth apart.
const RESOLUTION: f64 = 0.002;
/// Bits of a datagram of the probe with its headers, in each direction.
const PROBE_BITS: u64 = 2 * 36 * 8;
/// A count may be so many standard deviations from what is expected; chance alone brings as much once
/// in 16,000 counts.
const DEVIATIONS: f64 = 4.0;
/// 99 of 100 packets may be later than due by this, and by this share of the delay.
const LATE_NS: u64 = 2_000_000;
const LATE_SHARE: f64 = 0.1;

/// What speaks against it, in words.
pub(crate) fn objection(of: &NetworkUse) -> Option<String> {
    let asked = &of.asked;
    let ways = [
        ("to the server", &of.to_server),
        ("to the clients", &of.to_clients),
    ];
    let mut traffic = ways
        .into_iter()
        .filter_map(|(way, traffic)| against_traffic(asked, way, traffic.as_ref()?));
    let of_probe = of
        .probe
        .as_ref()
        .and_then(|probe| against_probe(asked, probe));
    let words = of_probe.or_else(|| traffic.next())?;
    Some(format!("the network was not what was asked for: {words}"))
}

fn against_probe(asked: &Network, probe: &NetworkProbe) -> Option<String> {
    let lost = 1.0 - (1.0 - asked.loss).powi(2);
    if let Some(words) = against_count(probe.lost, probe.sent, lost) {
        return Some(format!("{words} of its datagrams there and back"));
    }
    let Some(found) = &probe.round_trip else {
        return Some("no datagram came back".to_owned());
    };
    let sending = asked
        .rate
        .map_or(0, |rate| PROBE_BITS * 1_000_000_000 / rate.max(1));
    let least = asked.delay_ns - asked.jitter_ns;
    let longer = (asked.delay_ns as f64 * LONGER) as u64 + WAKING_NS + sending;
    let most = asked.delay_ns + asked.jitter_ns + longer;
    let (shortest, median) = (found.min_ns, found.p50_ns);
    if (shortest as f64) < least as f64 * (1.0 - RESOLUTION) || median > most {
        return Some(format!(
            "its round trips took {} at least and {} in the median, where {} to {} are right",
            time(shortest),
            time(median),
            time(least),
            time(most)
        ));
    }
    None
}

fn against_traffic(asked: &Network, way: &str, of: &NetworkTraffic) -> Option<String> {
    if of.missed > 0 {
        return Some(format!(
            "this machine could not carry {} packets {way} in time and dropped them",
            of.missed
        ));
    }
    if let Some(words) = against_count(of.lost, of.packets, asked.loss) {
        return Some(format!("{words} of the packets {way}"));
    }
    let most = LATE_NS + (asked.delay_ns as f64 * LATE_SHARE) as u64;
    let is_late = |late: &&Latency| late.p99_ns > most;
    of.late.as_ref().filter(is_late).map(|late| {
        format!(
            "of the packets {way} one in a hundred came {} or more later than due, where {} are \
             right: this machine could not keep up, give it fewer clients or more cores",
            time(late.p99_ns),
            time(most)
        )
    })
}

fn time(ns: u64) -> String {
    figures::time(ns as f64)
}

/// What speaks against so many of all, where each is one with this probability.
fn against_count(found: u64, all: u64, probability: f64) -> Option<String> {
    let expected = all as f64 * probability;
    let deviation = (expected * (1.0 - probability)).sqrt();
    let is_far =
        (found as f64 - expected).abs() > DEVIATIONS * deviation + f64::from(probability > 0.0);
    is_far.then(|| format!("it lost {found} of {all}, where {expected:.1} are expected,"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Recorder;

    const MS: u64 = 1_000_000;

    fn latency(ns: &[u64]) -> Option<Latency> {
        let mut recorder = Recorder::default();
        for ns in ns {
            recorder.record(*ns);
        }
        recorder.latency()
    }

    fn network(loss: f64) -> NetworkUse {
        let traffic = NetworkTraffic {
            packets: 10_000,
            bytes: 900_000,
            lost: (10_000.0 * loss) as u64,
            overflowed: 0,
            missed: 0,
            late: latency(&[20_000]),
        };
        NetworkUse {
            asked: Network {
                name: None,
                delay_ns: 20 * MS,
                jitter_ns: 4 * MS,
                loss,
                rate: Some(1_000_000),
            },
            congestion_control: None,
            probe: Some(NetworkProbe {
                sent: 1000,
                lost: (2000.0 * loss) as u64,
                round_trip: latency(&[16 * MS, 20 * MS, 24 * MS]),
            }),
            to_server: Some(traffic.clone()),
            to_clients: Some(traffic),
        }
    }

    fn said(loss: f64, change: impl FnOnce(&mut NetworkUse)) -> Option<String> {
        let mut of = network(loss);
        change(&mut of);
        objection(&of)
    }

    #[test]
    fn what_was_asked_for_is_found() {
        for loss in [0.0, 0.001, 0.01, 0.1] {
            assert_eq!(said(loss, |_| ()), None, "{loss}");
        }
        assert_eq!(said(0.01, |of| of.probe = None), None);
        assert_eq!(said(0.01, |of| of.to_clients = None), None);
    }

    #[test]
    fn each_difference_is_named() {
        let probe = |change: fn(&mut NetworkProbe)| {
            said(0.01, |of| change(of.probe.as_mut().unwrap())).unwrap()
        };
        let short = probe(|probe| probe.round_trip = latency(&[15 * MS, 20 * MS]));
        assert!(short.contains("took 15.0 ms at least"), "{short}");
        let long = probe(|probe| probe.round_trip = latency(&[28 * MS, 28 * MS]));
        assert!(long.contains("28.0 ms in the median"), "{long}");
        assert!(probe(|probe| probe.lost = 50).contains("it lost 50 of 1000"));
        assert!(probe(|probe| probe.lost = 0).contains("where 19.9 are expected"));
        assert!(probe(|probe| probe.round_trip = None).contains("no datagram came back"));

        let traffic = |change: fn(&mut NetworkTraffic)| {
            said(0.01, |of| change(of.to_clients.as_mut().unwrap())).unwrap()
        };
        assert!(traffic(|of| of.lost = 150).contains("150 of 10000"));
        assert!(traffic(|of| of.missed = 1).contains("dropped them"));
        let late = traffic(|of| of.late = latency(&[5 * MS]));
        assert!(
            late.contains("packets to the clients one in a hundred came 5"),
            "{late}"
        );
    }

    #[test]
    fn a_single_packet_is_too_much_where_no_loss_was_asked_for() {
        let lost = |of: &mut NetworkUse| of.to_server.as_mut().unwrap().lost = 1;
        assert!(said(0.0, lost).is_some());
    }
}
