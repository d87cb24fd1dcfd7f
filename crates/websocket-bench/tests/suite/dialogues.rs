//! Clients that carry out a dialogue: they think after each answer, and say what answers told them.

use crate::dialects::{Server, relay};
use crate::lines::{self, write};
use crate::support::{only_step, run_dialect_at, run_with_dialect};
use record::{Dialogues, Faults, RunRecord, StepRecord};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const SHOP: &str = r#"
name = "shop"
summary = "A session in a shop over Socket.IO, by acknowledgements."

[[open.receive]]
means = "send"
prefix = "0"
send = "40"

[[open.receive]]
means = "ready"
prefix = "40"

[[send.kinds]]
name = "login"
message = '421["login","user-{client}"]'

[[send.kinds]]
name = "list"
message = '422["list",{"token":"{token}"}]'

[[send.kinds]]
name = "get"
message = '423["get",{"token":"{token}","id":{id}}]'

[[send.kinds]]
name = "buy"
message = '424["buy",{"id":{id},"price":{price}}]'

[[send.script]]
kind = "login"

[[send.script]]
after = "30ms"
kind = "list"

[[send.script]]
after = "100ms"
jitter = 0.5
kind = "get"

[[send.script]]
after = "50ms"
kind = "buy"

[[receive]]
means = "keep-alive"
text = "2"
send = "3"

[[receive]]
means = "echo"
kind = "login"
prefix = "431"
when = { "/0/token" = { is = ["string"] } }
capture = { token = "/0/token" }
in_order = true
example = '431[{"token":"abc","user":"user-1"}]'

[[receive]]
means = "echo"
kind = "list"
prefix = "432"
when = { "/0/items" = { is = ["array"] } }
capture = { id = "/0/items/0/id" }
in_order = true
example = '432[{"items":[{"id":7}]}]'

[[receive]]
means = "echo"
kind = "get"
prefix = "433"
when = { "/0/price" = { is = ["number"] } }
capture = { price = "/0/price" }
in_order = true
example = '433[{"id":7,"price":107}]'

[[receive]]
means = "echo"
kind = "buy"
prefix = "434"
when = { "/0/bought" = { is = ["number"] } }
in_order = true
example = '434[{"bought":7}]'
"#;

const MANY: &str = r#"
audience = "sender"
[clients.steps]
first = 500
count = 1
[connection]
at_once = 50
timeout = "60s"
[load.open]
rate = 500.0
arrivals = "recorded"
duration = "1s"
[limits]
time = "14s"
sample_timeout = "15s"
"#;

#[track_caller]
fn only(record: &RunRecord) -> (&StepRecord, &Dialogues) {
    let step = only_step(record);
    (step, step.dialogues.as_deref().unwrap())
}

#[test]
fn five_hundred_sessions_with_socket_io_say_what_they_were_told_and_one_loss_is_counted_once() {
    let server = Server::start("shop.js", &[]);
    let addr: SocketAddr = server.url.split('/').nth(2).unwrap().parse().unwrap();
    for more in ["", "--processes 2"] {
        let (ran, record) = run_dialect_at(SHOP, &server.url, MANY, more);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let (step, of) = only(&record);
        assert_eq!((step.samples, step.faults.total()), (2000, 0), "{more}");
        assert_eq!((of.begun, of.finished, of.unfinished), (500, 500, 0));
        let time = of.time.as_ref().unwrap();
        // timed: the clients think for 130 ms at least, however busy the machine is.
        assert!(time.count == 500 && time.min_ns >= 130_000_000, "{time:?}");
        let kinds: Vec<_> = of.kinds.iter().map(|of| (&*of.kind, of.answers)).collect();
        let due = [("login", 500), ("list", 500), ("get", 500), ("buy", 500)];
        assert_eq!(kinds, due);
        assert!(ran.stdout.contains("500 begun, 500 finished"), "{ran:#?}");
    }
    let (between, _) = relay::leaving_out(addr, b"433[{", None, 200);
    let url = server.url.replace(&addr.to_string(), &between.to_string());
    let (_, record) = run_dialect_at(SHOP, &url, MANY, "");
    let (step, of) = only(&record);
    let one = Faults {
        lost: 1,
        ..Faults::default()
    };
    assert_eq!(step.faults, one);
    assert_eq!((of.begun, of.finished, of.unfinished), (500, 499, 1));
    // The answer is missing, and the purchase that it would have led to was not made.
    let kinds: Vec<_> = of.kinds.iter().map(|of| of.answers).collect();
    assert_eq!(kinds, [500, 500, 499, 499]);
}

const CHAT: &str = r#"
name = "chat"
summary = "A user says something, is typing, and says something else."

[[send.kinds]]
name = "say"
message = "say"

[[send.kinds]]
name = "typing"
answered = false
message = "typing"

[[send.script]]
kind = "say"

[[send.script]]
after = "20ms"
kind = "typing"

[[send.script]]
after = "40ms"
kind = "say"

[[receive]]
means = "echo"
kind = "say"
text = "said"
in_order = true
example = "said"
"#;

const FEW: &str = r#"
audience = "sender"
[clients.steps]
first = 20
count = 2
[load.open]
rate = 100.0
arrivals = "recorded"
duration = "1s"
[limits]
time = "20s"
"#;

#[test]
fn a_request_without_an_answer_is_followed_by_the_next_one() {
    let typed = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&typed);
    let addr = lines::start(move || {
        let counted = Arc::clone(&counted);
        move |line: &str, client: &TcpStream| match line {
            "typing" => drop(counted.fetch_add(1, Ordering::SeqCst)),
            _ => write(client, "said"),
        }
    });
    let (ran, record) = run_with_dialect(CHAT, addr, FEW, "--set generator.threads=2");
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(record.steps.len(), 2);
    for step in &record.steps {
        let of = step.dialogues.as_deref().unwrap();
        assert_eq!((of.begun, of.finished), (step.clients, step.clients));
        // timed: the clients think for 60 ms at least, however busy the machine is.
        assert!(of.time.as_ref().unwrap().min_ns >= 60_000_000);
        let answers: Vec<_> = of.kinds.iter().map(|of| (&*of.kind, of.answers)).collect();
        assert_eq!(answers, [("say", 2 * step.clients)]);
    }
    let clients: u64 = record.steps.iter().map(|step| step.clients).sum();
    assert_eq!(typed.load(Ordering::SeqCst), clients);
}

#[test]
fn a_client_that_is_lost_in_its_dialogue_does_not_end_it_and_all_others_do() {
    for more in ["", "--processes 2"] {
        let said = Arc::new(AtomicU64::new(0));
        let addr = lines::start(move || {
            let said = Arc::clone(&said);
            move |line: &str, client: &TcpStream| {
                if line == "say" && said.fetch_add(1, Ordering::SeqCst) == 7 {
                    let _ = client.shutdown(std::net::Shutdown::Both);
                } else if line == "say" {
                    write(client, "said");
                }
            }
        });
        let plan = FEW.replace("count = 2", "count = 1");
        let (_, record) = run_with_dialect(CHAT, addr, &plan, more);
        let (step, of) = only(&record);
        assert!(!step.timed_out, "{more}");
        assert_eq!(
            (step.faults.lost, step.faults.disconnected),
            (1, 1),
            "{more}"
        );
        assert_eq!(
            (of.begun, of.finished, of.unfinished),
            (20, 19, 1),
            "{more}"
        );
    }
}
