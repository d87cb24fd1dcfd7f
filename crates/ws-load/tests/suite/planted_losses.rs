//! Messages that are watched over two nodes with a broker that loses, doubles and delays as many as it is
//! told to, and with a node that confirms what it forgets: each is counted exactly, and in its class.

use crate::engine::common::{eventually, fates, plan, run, watching};
use ::plan::{Io, Nanos, Timestamps};
use record::{DropHow, Fates, StepRecord, Watched};
use std::time::Duration;
use test_servers::cluster::{Broker, BrokerOptions, Node, NodeOptions};

const CLIENTS: u32 = 12;
/// A hundred a second for two seconds.
const MESSAGES: u64 = 200;
const DUE: u64 = MESSAGES * CLIENTS as u64;
const EACH: u64 = CLIENTS as u64;

/// Two nodes with one broker, and how their messages fared.
fn watched(broker: BrokerOptions, node: impl Fn(&mut NodeOptions)) -> Watched {
    *watched_step(broker, node).watched.unwrap()
}

fn watched_step(broker: BrokerOptions, node: impl Fn(&mut NodeOptions)) -> StepRecord {
    let broker = Broker::start(broker).unwrap();
    let nodes = [(); 2].map(|()| {
        let mut options = NodeOptions::new(broker.addr());
        node(&mut options);
        Node::start(options).unwrap()
    });
    eventually("the nodes have their broker", || broker.nodes() == 2);
    let one = plan(nodes[0].addr(), Io::Epoll, Timestamps::User);
    let plan = watching(one, CLIENTS, Nanos::secs(2)).with(|plan| {
        plan.target.nodes = nodes.iter().map(Node::addr).collect();
    });
    let measured = run(&plan);
    let [step] = &measured.steps[..] else {
        panic!("{:?}", measured.outcome);
    };
    assert!(step.faults.is_empty(), "{}", step.faults);
    step.clone()
}

#[test]
fn what_a_broker_drops_doubles_and_delays_is_counted_in_its_class() {
    let delay = Duration::from_millis(30);
    let of = watched(
        BrokerOptions {
            after: 20,
            drop: 7,
            twice: 5,
            delay,
            ..BrokerOptions::default()
        },
        |_| {},
    );
    let due = Fates {
        live: DUE - 7 * EACH,
        lost_silent: 7 * EACH,
        ..Fates::default()
    };
    assert_eq!(of.of_confirmed, due);
    assert_eq!((of.sent, of.confirmed), (MESSAGES, MESSAGES));
    assert_eq!((of.duplicate, of.repeated, of.reordered), (5 * EACH, 0, 0));
    assert_eq!((of.silent_clients, of.bystanders), (EACH, EACH));
    for latency in [of.same_node, of.cross_node] {
        let latency = latency.unwrap();
        // Half of each message's listeners are on its node.
        assert_eq!(latency.count, (DUE - 7 * EACH) / 2);
        assert!(
            u128::from(latency.min_ns) >= delay.as_nanos(),
            "{latency:?}"
        );
    }
}

#[test]
fn what_nodes_confirm_and_forget_is_lost_in_silence() {
    let of = watched(BrokerOptions::default(), |node| {
        (node.after, node.forget) = (10, 4);
    });
    // Each of the two nodes forgets as many.
    let lost = 2 * 4 * EACH;
    let due = Fates {
        live: DUE - lost,
        lost_silent: lost,
        ..Fates::default()
    };
    assert_eq!((of.of_confirmed, of.confirmed), (due, MESSAGES));
    assert_eq!(of.of_unconfirmed, Fates::default());
}

#[test]
fn what_is_lost_by_nodes_that_end_the_connections_is_no_silent_loss() {
    let step = watched_step(
        BrokerOptions {
            after: 50,
            drop: 3,
            then_close: true,
            ..BrokerOptions::default()
        },
        |node| node.loud = true,
    );
    let of = step.watched.unwrap();
    let fates = fates(&of);
    assert_eq!(fates.lost_silent, 0, "{of:?}");
    assert!(fates.lost_cut >= 3 * EACH, "{of:?}");
    assert_eq!(fates.all(), of.sent * EACH);
    assert_eq!(of.bystanders, 0);
    let drops = step.drops.unwrap();
    let [cause] = &drops.causes[..] else {
        panic!("one cause: {drops:?}");
    };
    let told = (cause.how, cause.code, cause.count);
    assert_eq!(told, (DropHow::Closed, Some(1012), EACH));
    // Those that came back hear everything again.
    assert_eq!(of.timeline.ready.last(), Some(&EACH));
    assert!(
        of.timeline
            .live
            .iter()
            .skip(15)
            .take(5)
            .all(|live| *live > 0)
    );
}
