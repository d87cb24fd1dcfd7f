//! Clients that return, and whose server sends them a message together with the answer that makes them ready.

use crate::lines;
use crate::raw_peer::frame;
use crate::support::run_with_dialect;
use plan::{ComesAndGoes, Life, Nanos, Plan, Population};
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use ws_proto::Opcode;

const NEWS: &str = r#"
name = "news"
summary = "A client that enters gets the latest message at once."

[open]
send = '{"enter":{client}}'

[[open.receive]]
means = "ready"
when = { "/entered" = true }

[send]
broadcast = '{"say":{payload}}'
acknowledged = false

[[receive]]
means = "delivery"
when = { "/say" = { is = ["object"] } }
payload = "/say"
example = '{"say":{payload}}'
"#;

const PLAN: &str = r#"
[clients.steps]
first = 10
count = 1
[[populations]]
[[populations]]
life = { comes_and_goes = { stays = "200ms", away = "50ms" } }
[load.open]
rate = 50.0
duration = "2s"
[limits]
time = "20s"
sample_timeout = "30s"
"#;

#[derive(Default)]
struct News {
    members: Mutex<Vec<TcpStream>>,
    latest: Mutex<Option<String>>,
    /// Messages that went out in one write with the answer to an entry.
    together: AtomicU64,
}

/// A server that hands messages to those who stay, and to those who come and go the latest one alone.
fn start() -> (SocketAddr, &'static News) {
    let leaves = Population {
        life: Life::ComesAndGoes(ComesAndGoes {
            stays: Nanos::millis(200),
            away: Nanos::millis(50),
        }),
        ..Population::default()
    };
    let plan =
        Plan::new("ws://h/").with(|plan| plan.populations = vec![Population::default(), leaves]);
    let news: &'static News = Box::leak(Box::default());
    let addr = lines::start(move || {
        let plan = plan.clone();
        move |line: &str, mut client: &TcpStream| {
            let entered = line
                .strip_prefix("{\"enter\":")
                .map(|rest| &rest[..rest.len() - 1]);
            let Some(number) = entered.map(|number| number.parse().unwrap()) else {
                *news.latest.lock().unwrap() = Some(line.to_owned());
                let members = news.members.lock().unwrap();
                return members.iter().for_each(|member| lines::write(member, line));
            };
            let mut answer = frame(Opcode::Text, br#"{"entered":true}"#);
            if !ws_load::population_of(&plan, number).leaves() {
                let mut members = news.members.lock().unwrap();
                members.push(client.try_clone().unwrap());
            } else if let Some(latest) = &*news.latest.lock().unwrap() {
                answer.extend(frame(Opcode::Text, latest.as_bytes()));
                news.together.fetch_add(1, Ordering::SeqCst);
            }
            let _ = client.write_all(&answer);
        }
    });
    (addr, news)
}

#[test]
fn a_message_that_comes_with_the_answer_to_an_opening_is_heard_in_the_visit_that_begins() {
    let (addr, news) = start();
    let (ran, record) = run_with_dialect(NEWS, addr, PLAN, "");
    let step = &record.steps[0];
    let churn = step.churn.as_ref().unwrap();
    let together = news.together.load(Ordering::SeqCst);
    // Of those who enter as the step ends, it is open whether they read it.
    let surely = together.saturating_sub(5);
    assert!(surely > 0, "{ran:#?}");
    let heard = churn.messages;
    assert!(
        (surely..=together).contains(&heard),
        "{heard} of {together}: {ran:#?}"
    );
    let faults = (step.faults.misdirected, step.faults.duplicate);
    assert_eq!(faults, (0, 0), "{}", step.faults);
}
