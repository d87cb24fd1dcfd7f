//! Nodes pass broadcasts on by their broker, and both lose exactly what they were told to lose.

use crate::support::{Client, connect};
use std::net::TcpStream;
use std::time::Duration;
use test_servers::cluster::{Broker, BrokerOptions, Node, NodeOptions};

type Peer = Client<TcpStream>;

/// A broker, and two nodes with a client each, that know of each other.
struct Pair {
    broker: Option<Broker>,
    _nodes: [Node; 2],
    clients: [Peer; 2],
}

fn pair(broker: BrokerOptions, node: impl Fn(&mut NodeOptions)) -> Pair {
    let broker = Broker::start(broker).unwrap();
    let nodes = [(); 2].map(|()| {
        let mut options = NodeOptions::new(broker.addr());
        node(&mut options);
        Node::start(options).unwrap()
    });
    let clients = [0, 1].map(|at: usize| Client::upgrade(connect(nodes[at].addr())).unwrap());
    let mut pair = Pair {
        broker: Some(broker),
        _nodes: nodes,
        clients,
    };
    pair.form();
    pair
}

impl Pair {
    /// Until a broadcast of each reaches both.
    fn form(&mut self) {
        for from in 0..2 {
            while !self.heard_by_both(from, &format!("\"hello {from}\"")) {}
        }
    }

    // timed: a node that is not there yet answers nothing, and is asked again.
    fn heard_by_both(&mut self, from: usize, hello: &str) -> bool {
        self.clients[from].text("broadcast", hello);
        let heard = |client: &mut Peer| {
            let short = Some(Duration::from_millis(200));
            client.stream.set_read_timeout(short).unwrap();
            let heard = loop {
                match client.next() {
                    Ok(message) if message.contains(hello) => break true,
                    Ok(_) => {}
                    Err(_) => break false,
                }
            };
            let long = Some(Duration::from_secs(60));
            client.stream.set_read_timeout(long).unwrap();
            heard
        };
        let [one, other] = &mut self.clients;
        heard(one) & heard(other)
    }

    /// Has a client publish this many messages of a load generator, and one more that is none.
    fn publish(&mut self, from: usize, count: u64) {
        for number in 1..=count {
            let payload = format!(r#"{{"stamp":"{number:016x}"}}"#);
            self.clients[from].text("broadcast", &payload);
        }
        self.clients[from].text("broadcast", "\"last\"");
    }

    /// The numbers of the broadcasts that came to a client, and of the results, until the last.
    fn heard(&mut self, at: usize) -> (Vec<u64>, Vec<u64>) {
        let (mut broadcasts, mut results) = (Vec::new(), Vec::new());
        loop {
            let message = self.clients[at].next().unwrap();
            let value: serde_json::Value = serde_json::from_str(&message).unwrap();
            let is_broadcast = value["type"] == "broadcast";
            match value["payload"]["stamp"].as_str() {
                Some(stamp) => {
                    let number = u64::from_str_radix(stamp, 16).unwrap();
                    let to = if is_broadcast {
                        &mut broadcasts
                    } else {
                        &mut results
                    };
                    to.push(number);
                }
                None if is_broadcast && value["payload"] == "last" => return (broadcasts, results),
                None => {}
            }
        }
    }
}

fn numbers(of: impl IntoIterator<Item = u64>) -> Vec<u64> {
    of.into_iter().collect()
}

#[test]
fn each_client_hears_each_broadcast_once_and_in_order() {
    let mut pair = pair(BrokerOptions::default(), |_| {});
    for from in [0, 1] {
        pair.publish(from, 500);
        assert_eq!(pair.heard(from), (numbers(1..=500), numbers(1..=500)));
        assert_eq!(pair.heard(1 - from), (numbers(1..=500), Vec::new()));
    }
}

#[test]
fn the_broker_drops_doubles_and_delays_as_many_as_it_is_told() {
    let broker = BrokerOptions {
        after: 2,
        drop: 3,
        twice: 2,
        delay: Duration::from_millis(20),
        ..BrokerOptions::default()
    };
    let mut pair = pair(broker, |_| {});
    pair.publish(0, 9);
    let came = numbers([1, 2, 6, 6, 7, 7, 8, 9]);
    assert_eq!(pair.heard(0), (came.clone(), numbers(1..=9)));
    assert_eq!(pair.heard(1), (came, Vec::new()));
    assert_eq!(pair.broker.as_ref().unwrap().dropped(), 3);
}

#[test]
fn a_node_answers_what_it_forgets() {
    let forgetful = |node: &mut NodeOptions| (node.after, node.forget) = (1, 2);
    let mut pair = pair(BrokerOptions::default(), forgetful);
    pair.publish(1, 5);
    let (broadcasts, mut results) = pair.heard(1);
    // It answers at once what it does not pass on.
    results.sort_unstable();
    assert_eq!((broadcasts, results), (numbers([1, 4, 5]), numbers(1..=5)));
    assert_eq!(pair.heard(0), (numbers([1, 4, 5]), Vec::new()));
}

#[test]
fn a_loud_node_tells_its_clients_that_something_was_lost() {
    let broker = BrokerOptions {
        drop: 2,
        then_close: true,
        ..BrokerOptions::default()
    };
    let mut pair = pair(broker, |node| node.loud = true);
    pair.publish(0, 2);
    for client in &mut pair.clients {
        let ended = loop {
            match client.next() {
                Ok(message) if message.starts_with("close") => break message,
                Ok(message) => {
                    let is_other = message.contains("broadcastResult") || message.contains("hello");
                    assert!(is_other, "{message}");
                }
                Err(error) => panic!("{error}"),
            }
        };
        assert_eq!(ended, format!("close {:?}", 1012u16.to_be_bytes()));
    }
}

#[test]
fn nodes_go_on_when_their_broker_is_back() {
    let mut pair = pair(BrokerOptions::default(), |_| {});
    let address = pair.broker.take().map(|broker| broker.addr()).unwrap();
    assert!(!pair.heard_by_both(0, "\"without a broker\""));
    pair.broker = Some(
        Broker::start(BrokerOptions {
            address,
            ..BrokerOptions::default()
        })
        .unwrap(),
    );
    pair.form();
    pair.publish(0, 3);
    assert_eq!(pair.heard(1).0, numbers(1..=3));
}
