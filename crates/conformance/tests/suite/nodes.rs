//! Nodes that know each other, nodes that do not, and the checks at one of several.

use super::{PATIENCE, is_late};
use conformance::{Target, formed, verify};
use std::time::Duration;
use test_servers::cluster::{Broker, BrokerOptions, Node, NodeOptions};

fn node(broker: &Broker) -> Node {
    Node::start(NodeOptions::new(broker.addr())).unwrap()
}

fn broker() -> Broker {
    Broker::start(BrokerOptions::default()).unwrap()
}

fn target(node: &Node, timeout: Duration) -> Target {
    Target {
        multi_process: true,
        timeout,
        ..Target::new(node.addr())
    }
}

/// Far more than it takes on any machine.
const MOST_ATTEMPTS: u64 = 10_000;

/// Until they have formed: a node may be without its broker for a moment.
fn form(nodes: &[Node]) {
    let targets: Vec<Target> = nodes
        .iter()
        .map(|node| target(node, Duration::from_secs(1)))
        .collect();
    let mut attempts = 0..MOST_ATTEMPTS;
    let has_formed = attempts.any(|attempt| formed(&targets, attempt).is_ok());
    assert!(has_formed, "the nodes do not know each other");
}

#[test]
fn nodes_with_one_broker_form_a_cluster_and_pass_every_check() {
    let broker = broker();
    let nodes = [(); 3].map(|()| node(&broker));
    form(&nodes);
    for patience in PATIENCE {
        let outcomes = verify(&target(&nodes[0], patience), &mut |_| {});
        let failed: Vec<_> = outcomes.iter().filter(|outcome| outcome.failed()).collect();
        if failed.is_empty() {
            return;
        }
        assert!(is_late(&outcomes, patience, None), "{failed:#?}");
    }
    panic!("no check was answered in time");
}

#[test]
fn a_node_with_another_broker_is_named() {
    let (one, other) = (broker(), broker());
    let nodes = [node(&one), node(&one), node(&other)];
    form(&nodes[..2]);
    form(&nodes[2..]);
    let short = Duration::from_millis(500);
    let targets: Vec<Target> = nodes.iter().map(|node| target(node, short)).collect();
    let apart = formed(&targets, 1 << 16).unwrap_err().to_string();
    assert!(
        apart.starts_with("node 1: waiting for the broadcast of node 3: "),
        "{apart}"
    );
}
