//! The laws of dialogues, against reports and clients that are wrong.

use super::super::super::case::{Able, case as drawn};
use super::*;
use plan::DialectFile;
use record::Dialogues;

/// The first plan of dialogues without faults that can be carried out within this process.
fn dialogues() -> Case {
    let able = Able {
        kernel_stamps: false,
        uring: false,
    };
    let thinks = |turn: &plan::Turn| {
        let share = 1.0 - turn.jitter.unwrap_or_default();
        share > 0.0 && turn.after.is_some_and(|after| after.ns() > 0)
    };
    let mut cases = (0..).map(|seed| drawn(seed, able));
    let is_fit = |case: &Case| {
        let file = case.plan.message.definition.as_deref();
        file.is_some_and(DialectFile::is_dialogue)
            && case.plan.clients.first() > 9
            && case.server.lost.every == 0
            && !case.server.tickets
            && file.is_some_and(|file| file.send.script.iter().skip(1).all(thinks))
    };
    cases.find(is_fit).expect("seeds do not end")
}

/// What a client does wrong, and a law that it breaks.
type Misdeed = (&'static str, fn(&mut Asked));

fn of_step(reported: &mut Reported) -> &mut Dialogues {
    reported.steps[0].dialogues.as_mut().unwrap()
}

#[test]
fn each_way_to_misreport_dialogues_breaks_its_law() {
    let (case, told, mut honest) = carried_out_of(dialogues);
    honest.exit = Some(0);
    assert_eq!(broken(&case, &told, &honest), []);
    let reports: [Misreport; 5] = [
        ("dialogues that began", |of| of_step(of).begun += 1),
        ("dialogues that finished", |of| of_step(of).finished -= 1),
        ("dialogues that did not finish", |of| {
            of_step(of).unfinished += 1
        }),
        ("answers to first requests", |of| {
            of_step(of).kinds[0].answers -= 1
        }),
        ("answers to later requests", |of| {
            of_step(of).kinds[1].answers += 1
        }),
    ];
    for (law, change) in reports {
        let mut reported = honest.clone();
        change(&mut reported);
        let laws = broken(&case, &told, &reported);
        assert!(laws.iter().any(|of| of.law == law), "{law}: {laws:?}");
    }
    let clients: [Misdeed; 3] = [
        ("values that answers told", |of| of.repeats = None),
        ("requests out of their turn", |of| {
            of.kind = Some("other".into())
        }),
        ("time to think", |of| of.at_ns = 0),
    ];
    for (law, change) in clients {
        let mut told = told.clone();
        let mut asked = told.asked.iter_mut();
        let later = asked.rfind(|of| of.repeats.is_some()).unwrap();
        change(later);
        let laws = broken(&case, &told, &honest);
        assert!(laws.iter().any(|of| of.law == law), "{law}: {laws:?}");
    }
}
