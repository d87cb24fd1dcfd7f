//! Messages of rooms: four clients, of which each second one is in the same room.

use super::*;
use crate::plan::Hearing as _;
use plan::{Population, Rooms};

const ROOMS: Audience = Audience::Room(Rooms::Equal(2));

/// A verifier of the four clients and a step whose first sample is sent; its sender's slot.
fn verifier_of_rooms() -> (Verifier, Arc<StepLedger>, u32) {
    let plan = crate::test_plan("ws://h/").with(|plan| {
        plan.audience = ROOMS;
        plan.message.padding = 0;
    });
    let codec = codec(&plan, None);
    let mut verifier = Verifier::new(codec, STAMPS, Measure::Completion, 0, 1, Arc::default());
    for slot in 0..4 {
        verifier.client_in_room(slot, slot % 2, true);
        verifier.client_ready(slot);
    }
    let clients = 4;
    let terms = with(TERMS, |of| {
        of.audience = ROOMS;
        of.step.clients = clients;
        of.step.samples = 20;
        of.parties = ROOMS.parties(&[Population::default()], clients, std::iter::once((0, 1)));
    });
    let step = open(&mut verifier, terms);
    let sender = step.sender(0) as u32;
    send(&step, 0, sender, 100);
    (verifier, step, sender)
}

fn hear_in(verifier: &mut Verifier, slot: u32, name: &str, room: u32, index: u32) {
    let stamp = STAMPS.stamp(FIRST + u64::from(index));
    let text = format!(
        r#"{{"type":"{name}","topic":"room-{room}","payload":{{"stamp":"{stamp:016x}"}}}}"#
    );
    verifier.message(slot, Opcode::Text, text.as_bytes(), 150 * US);
}

#[test]
fn a_message_is_complete_when_its_room_has_it() {
    let (mut verifier, step, sender) = verifier_of_rooms();
    let room = step.room(0);
    assert_eq!(room, sender % 2);
    for slot in [room, room + 2] {
        hear_in(&mut verifier, slot, "message", room, 0);
    }
    assert_eq!(verifier.finished, 0);
    hear_in(&mut verifier, sender, "publishResult", room, 0);
    assert_faults(&verifier, "none");
    assert_eq!((verifier.finished, step.settled()), (1, 1));
    assert_eq!(us(&verifier.tally.latencies.delivery), [50, 50]);
}

#[test]
fn what_comes_to_another_room_or_under_its_name_is_misdirected() {
    let (mut verifier, step, sender) = verifier_of_rooms();
    let (room, other) = (step.room(0), 1 - step.room(0));
    for (slot, named) in [(other, room), (other, other), (room, other)] {
        hear_in(&mut verifier, slot, "message", named, 0);
    }
    assert_faults(&verifier, "3 misdirected");
    hear_in(&mut verifier, sender, "publishResult", other, 0);
    assert_faults(&verifier, "4 misdirected");
}

#[test]
fn a_client_that_reads_slowly_hears_its_room_alone() {
    let (mut verifier, step, _) = verifier_of_rooms();
    let index = (0..20).find(|index| step.room(*index) == 1).unwrap();
    for index in 1..=index {
        send(&step, index, step.sender(index) as u32, 100);
    }
    let slot = 5;
    verifier.client_in_room(slot, 1, false);
    verifier.slow_client_ready(slot);
    hear_in(&mut verifier, slot, "message", 1, index);
    assert_faults(&verifier, "none");
    hear_in(&mut verifier, slot, "message", 0, index);
    assert_faults(&verifier, "1 misdirected");
}
