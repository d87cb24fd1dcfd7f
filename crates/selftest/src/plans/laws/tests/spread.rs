//! The law of kinds and rooms, against spreads that are none.

use super::*;
use plan::Zipf;
use test_servers::oracle::Connection;

/// What a server knows after `clients` clients have subscribed, each to the room that `room` returns.
fn subscribed(clients: u64, room: impl Fn(u64) -> u32) -> Told {
    let connections = (0..clients).map(|client| Connection {
        id: client,
        client: Some(client),
        room: Some(room(client)),
        was_refused: false,
        opened_ns: 0,
        ended_ns: None,
        fed: Fed::default(),
    });
    Told {
        connections: connections.collect(),
        ..Told::default()
    }
}

#[test]
fn kinds_that_keep_to_rooms_of_their_own_break_a_law_and_draws_do_not() {
    let mut case = case();
    case.plan.audience = Audience::Room(Rooms::Zipf(Zipf {
        rooms: 4,
        exponent: 0.0,
    }));
    let leaves = |client: u64| ws_load::population_of(&case.plan, client).leaves();
    let law = "kinds of clients are spread over rooms";
    let laws = |told: &Told| laws_beside(told, &case, vec![StepRecord::default()], None);
    let apart = subscribed(200, |client| u32::from(leaves(client)));
    assert!(laws(&apart).contains(&law), "{:?}", laws(&apart));
    let drawn = subscribed(200, |client| (client / 7 % 4) as u32);
    assert!(!laws(&drawn).contains(&law), "{:?}", laws(&drawn));
}
