//! Plans of captures against servers that say something else in each session.

use super::{Talk, entry, har, of};
use crate::lines::{self, write};
use crate::raw_peer::frame;
use crate::replay::{Heard, await_messages, counted, import, replay};
use record::{End, Faults};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use ws_proto::Opcode;

/// A server that answers each message of a client by what is made of it and of the client's number.
fn server(answer: impl Fn(usize, &str, &TcpStream) + Send + Sync + 'static) -> (SocketAddr, Heard) {
    let heard: Heard = Arc::new(Mutex::new(Vec::new()));
    let (of_all, answer, next) = (Arc::clone(&heard), Arc::new(answer), AtomicUsize::new(0));
    let addr = lines::start(move || {
        let (heard, answer) = (Arc::clone(&of_all), Arc::clone(&answer));
        let own = next.fetch_add(1, Ordering::Relaxed);
        let mut place = None;
        move |line: &str, client: &TcpStream| {
            {
                let mut all = heard.lock().unwrap();
                let place = *place.get_or_insert_with(|| {
                    all.push(Vec::new());
                    all.len() - 1
                });
                all[place].push(line.to_owned());
            }
            answer(own, line, client);
        }
    });
    (addr, heard)
}

#[test]
fn sessions_of_a_namespace_have_identifiers_of_their_own() {
    let (addr, heard) = server(|own, line, client| match line {
        "40/admin," => write(client, &format!("40/admin,{{\"sid\":\"sid-{own}\"}}")),
        line => {
            let number = line.strip_prefix("42/admin,").unwrap();
            let number = &number[..number.find('[').unwrap()];
            write(client, &format!("43/admin,{number}[{own}]"));
        }
    });
    let talk = (0..100).fold(
        Talk::default()
            .told(r#"0{"sid":"recorded","pingInterval":25000}"#)
            .sent("40/admin,")
            .told(r#"40/admin,{"sid":"recorded"}"#),
        |talk, n| {
            talk.sent(&format!("42/admin,{n}[\"say\",{n}]"))
                .told(&format!("43/admin,{n}[7]"))
        },
    );
    let folder = tempfile::tempdir().unwrap();
    let capture = har(&[entry(&format!("ws://{addr}/socket.io/?EIO=4"), talk)]);
    let more = ["--clients", "3", "--rate", "300"];
    let (ran, plan) = import(&capture, folder.path(), &more);
    assert!(
        ran.stderr.contains("101 of them have an answer"),
        "{ran:#?}"
    );
    let (ran, record) = replay(&plan, &[]);
    assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
    assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
    assert_eq!(record.steps[0].samples, 303);
    await_messages(&heard, 303);
    assert_eq!(counted(&heard).into_values().collect::<Vec<_>>(), [3]);
}

#[test]
fn a_text_that_is_another_in_each_session_is_awaited_by_its_beginning() {
    let (addr, _) = server(|own, _, client| {
        write(
            client,
            &format!("welcome {:032x}", 0x9f86_d081_884c_7d65_u64 + own as u64),
        );
    });
    let talk = Talk::default()
        .sent("hello")
        .told("welcome 9f86d081884c7d659a2feaa0c55ad015");
    let folder = tempfile::tempdir().unwrap();
    let capture = har(&[entry(&format!("ws://{addr}/"), talk)]);
    let (_, plan) = import(&capture, folder.path(), &["--clients", "4"]);
    let (ran, record) = replay(&plan, &["--set", "load.rate=1000"]);
    assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
    assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
    assert_eq!(record.steps[0].samples, 4);
}

#[test]
fn binary_messages_of_the_server_are_passed_over() {
    let (addr, _) = server(|_, _, mut client| {
        let _ = client.write_all(&frame(Opcode::Binary, &[0, 1, 2]));
        write(client, r#"{"op":"said"}"#);
        let _ = client.write_all(&frame(Opcode::Binary, &[255; 300]));
    });
    let talk = Talk::default()
        .sent(r#"{"op":"say"}"#)
        .raw("receive", 2, "AAEC")
        .told(r#"{"op":"said"}"#);
    let folder = tempfile::tempdir().unwrap();
    let capture = har(&[entry(&format!("ws://{addr}/"), talk)]);
    let (_, plan) = import(&capture, folder.path(), &["--clients", "4"]);
    let (ran, record) = replay(&plan, &["--set", "load.rate=1000"]);
    assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
    assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
    assert_eq!(record.steps[0].samples, 4);
}

#[test]
fn secrets_of_a_line_come_from_the_data_file() {
    let (addr, heard) = server(|_, _, client| write(client, "CONNECTED\nversion:1.2\n\n\0"));
    let said =
        |passcode: &str| format!("CONNECT\nhost:/\nlogin:u\npasscode:{passcode}\n\n{}", "\0");
    let talk = Talk::default()
        .sent(&said("recorded"))
        .told("CONNECTED\nversion:1.2\n\n\0");
    let mut capture = of(talk);
    capture["log"]["entries"][0]["request"]["url"] = json!(format!("ws://{addr}/"));
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("users.csv");
    let more = ["--clients", "4", "--data-out", data.to_str().unwrap()];
    let (ran, plan) = import(&capture, folder.path(), &more);
    assert_eq!(
        std::fs::read_to_string(&data).unwrap(),
        "passcode\n\"\"\n",
        "{ran:#?}"
    );
    std::fs::write(&data, "passcode\np-1\np 2\n").unwrap();
    let (ran, record) = replay(&plan, &["--set", "load.rate=1000"]);
    assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
    assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
    await_messages(&heard, 4);
    let expected = BTreeMap::from([(vec![said("p-1")], 2), (vec![said("p 2")], 2)]);
    assert_eq!(counted(&heard), expected);
}
