//! Every task of docs/cookbook.md, carried out as the page has it against a server that demands what
//! servers of that kind demand. Most are carried out once more, against one that fails or refuses.

mod handshakes;
mod loads;
mod page;
mod protocols;
mod results;
mod servers;
mod task;

use std::collections::BTreeSet;
use std::thread;

/// A heading of the page, and how it is carried out.
type Case = (&'static str, fn(task::Task));

const GROUPS: [&[Case]; 10] = [
    handshakes::CONNECTIONS,
    handshakes::LOGINS,
    protocols::FRAMEWORKS,
    protocols::BROKERS,
    protocols::OTHERS,
    loads::RATES,
    loads::SEARCHES,
    loads::CLIENTS,
    results::VERDICTS,
    results::OUTPUTS,
];

/// Carries out the tasks of a group, one after the other.
fn carry_out(group: &[Case]) {
    for (heading, case) in group {
        case(task::Task::new(heading));
    }
}

/// Carries them out side by side: those that mostly wait for a message that does not come.
fn carry_out_at_once(group: &'static [Case]) {
    thread::scope(|scope| {
        for case in group {
            scope.spawn(|| carry_out(std::slice::from_ref(case)));
        }
    });
}

#[test]
fn each_task_of_the_page_is_carried_out_once() {
    let of_page: Vec<&str> = page::entries().iter().map(|e| &*e.heading).collect();
    let tested: Vec<&str> = GROUPS
        .iter()
        .flat_map(|group| group.iter().map(|c| c.0))
        .collect();
    let unique: BTreeSet<&str> = tested.iter().copied().collect();
    assert_eq!(unique.len(), tested.len());
    assert_eq!(unique, of_page.iter().copied().collect());
    assert!(of_page.len() >= 30);
}

#[test]
fn connections() {
    carry_out(handshakes::CONNECTIONS);
}

#[test]
fn logins() {
    carry_out(handshakes::LOGINS);
}

#[test]
fn frameworks() {
    carry_out_at_once(protocols::FRAMEWORKS);
}

#[test]
fn rabbitmq() {
    carry_out(&protocols::BROKERS[..1]);
}

#[test]
fn mosquitto() {
    carry_out(&protocols::BROKERS[1..2]);
}

#[test]
fn soketi() {
    carry_out(&protocols::BROKERS[2..4]);
}

#[test]
fn centrifuge() {
    carry_out(&protocols::BROKERS[4..6]);
}

#[test]
fn nats() {
    carry_out(&protocols::BROKERS[6..7]);
}

#[test]
fn mosquitto_with_users() {
    carry_out(&protocols::BROKERS[7..8]);
}

#[test]
fn wamp_and_signalr() {
    carry_out(&protocols::BROKERS[8..]);
}

#[test]
fn other_protocols() {
    carry_out_at_once(protocols::OTHERS);
}

#[test]
fn rates() {
    carry_out(loads::RATES);
}

#[test]
fn searches() {
    carry_out(loads::SEARCHES);
}

#[test]
fn clients() {
    carry_out(loads::CLIENTS);
}

#[test]
fn verdicts() {
    carry_out(results::VERDICTS);
}

#[test]
fn outputs() {
    carry_out(results::OUTPUTS);
}
