//! A hostile coordinator and a shared worker: the worker refuses every plan and every command that
//! nothing can be measured with, says why, and serves the next coordinator.

use crate::support::{honest, run, url};
use crate::worker_process::Worker;
use remote::wire::from_coordinator::Kind as Down;
use remote::wire::from_worker::Kind as Up;
use remote::wire::worker_client::WorkerClient;
use remote::wire::{Assignment, Batch, FromCoordinator, FromWorker, Greeting, Over, Probe};
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use ws_load::cluster::Command;

/// A coordinator of this test, after the greeting.
struct Coordinator {
    runtime: Runtime,
    say: mpsc::Sender<FromCoordinator>,
    heard: Streaming<FromWorker>,
}

impl Coordinator {
    fn dial(worker: SocketAddr) -> Self {
        let runtime = Runtime::new().unwrap();
        let (say, said) = mpsc::channel(64);
        let heard = runtime.block_on(async {
            let client = WorkerClient::connect(format!("http://{worker}")).await;
            say.send(Down::Greeting(Greeting::own()).into())
                .await
                .unwrap();
            let mut client = client.unwrap();
            client
                .run(ReceiverStream::new(said))
                .await
                .unwrap()
                .into_inner()
        });
        let mut coordinator = Self {
            runtime,
            say,
            heard,
        };
        assert!(matches!(coordinator.receive(), Some(Up::Greeting(_))));
        coordinator
    }

    fn says(&self, kind: Down) {
        // The worker may have ended the conversation.
        let _ = self.runtime.block_on(self.say.send(kind.into()));
    }

    fn assigns(&mut self, plan: &[u8], number: u32, of: u32) {
        self.says(Down::Assignment(Assignment {
            number,
            of,
            plan: plan.to_vec(),
            ..Assignment::default()
        }));
    }

    fn commands(&mut self, commands: Value) {
        let commands: Vec<Command> = serde_json::from_value(commands).unwrap();
        let items = commands
            .iter()
            .map(|command| postcard::to_stdvec(command).unwrap());
        self.says(Down::Commands(Batch {
            items: items.collect(),
        }));
    }

    /// The worker's next message; `None` when it has ended the conversation.
    fn receive(&mut self) -> Option<Up> {
        let next = self.runtime.block_on(self.heard.message());
        next.ok().flatten().and_then(|message| message.kind)
    }

    /// Why the worker has ended the run; `None` when it gave no reason.
    fn reported_trouble(&mut self) -> Option<String> {
        loop {
            if let Up::Ended(ended) = self.receive()? {
                return Some(ended.trouble);
            }
        }
    }
}

fn plan(addr: SocketAddr, with: &[(&str, Value)]) -> Vec<u8> {
    let mut plan = json!({
        "target": {"url": url(addr)}, "load": {"closed": {"in_flight": 4, "samples": 20}},
        "audience": "everyone", "clients": {"steps": {"first": 10, "add": 10}},
        "message": {}, "connection": {"timeout": "1s"}, "generator": {},
        "limits": {"time": "500ms", "sample_timeout": "1s"},
    });
    for (place, value) in with {
        let (parent, key) = place.rsplit_once('/').unwrap();
        plan.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    serde_json::to_vec(&plan).unwrap()
}

/// The largest resident size that the worker has had.
fn peak_bytes(worker: &Worker) -> u64 {
    let path = format!("/proc/{}/status", worker.process.child.id());
    let status = std::fs::read_to_string(path).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: u64 = line
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kib << 10
}

/// The worker still runs, and serves as before.
#[track_caller]
fn serves_the_next(worker: &Worker, server: SocketAddr) {
    let arguments = "broadcast -c 4 -s 20 --step-size 8 --total-steps 1 --limit-rtt 20s";
    run(&format!("{arguments} {} -w {}", url(server), worker.addr)).exits(0);
}

#[test]
fn a_plan_that_would_break_a_shared_worker_is_refused_in_words() {
    let server = honest();
    let worker = Worker::start("");
    let connect = json!({"connect": {"ping_interval": "0s", "ping_timeout": "0s"}});
    for (with, words) in [
        (
            vec![("/generator/threads", json!(0))],
            "`generator.threads` is 0; permitted: 1 to 1024",
        ),
        (
            vec![("/generator/threads", json!(u32::MAX))],
            "`generator.threads` is 4294967295",
        ),
        (
            vec![("/load/closed/samples", json!(u32::MAX))],
            "`load.closed.samples` is 4294967295",
        ),
        (
            vec![("/message/padding", json!(u32::MAX))],
            "`message.padding` is ",
        ),
        (
            vec![("/audience", json!("sender")), ("/load", connect)],
            "`load.connect.ping_interval` is 0s",
        ),
        (
            vec![("/connection/origin", json!("x\r\nEvil: 1"))],
            "`connection.origin` is \"x\\r\\nEvil: 1\"",
        ),
        (
            vec![("/target/url", json!("ws://127.0.0.1:1/\u{1b}[2J"))],
            "`target.url` is \"ws://127.0.0.1:1/\\u{1b}[2J\"",
        ),
        (
            vec![("/generator/threads", json!(-1))],
            "its plan cannot be read",
        ),
        (
            vec![("/generator/cores", json!(1))],
            "its plan cannot be read",
        ),
    ] {
        let mut coordinator = Coordinator::dial(worker.addr);
        coordinator.assigns(&plan(server.addr(), &with), 0, 1);
        match coordinator.receive() {
            Some(Up::Refused(refused)) => {
                assert!(refused.words.contains(words), "{refused:?} lacks {words}");
            }
            other => panic!("{with:?}: {other:?}"),
        }
        // The user of the worker reads why, too.
        let said = worker.process.says(&["cannot carry out this run"]);
        assert!(!said.chars().any(char::is_control), "{said:?}");
    }
    for (number, of) in [(0, 0), (1, 1), (0, u32::MAX)] {
        let mut coordinator = Coordinator::dial(worker.addr);
        coordinator.assigns(&plan(server.addr(), &[]), number, of);
        assert!(
            matches!(coordinator.receive(), Some(Up::Refused(_))),
            "{number} of {of}"
        );
    }
    serves_the_next(&worker, server.addr());
}

#[test]
fn a_command_that_would_break_a_shared_worker_ends_that_run_alone() {
    let server = honest();
    let worker = Worker::start("");
    let open = json!({"Open": {"clients": 4}});
    let begin = |samples: u32| {
        json!({"Begin": {"first_sample": 0, "samples": samples, "warm_up": 0, "by_clock": false,
            "clients": 4}})
    };
    for (commands, words) in [
        (
            json!([open, begin(u32::MAX)]),
            "`samples` is 4294967295; permitted: 1 to 20",
        ),
        (
            json!([open, begin(20), {"Send": [u32::MAX]}]),
            "`index` is 4294967295",
        ),
        (json!([{"Open": {"clients": u64::MAX}}]), "`clients` is "),
        (json!(["Finish"]), "no step is under way"),
    ] {
        let mut coordinator = Coordinator::dial(worker.addr);
        coordinator.assigns(&plan(server.addr(), &[]), 0, 2);
        assert!(matches!(coordinator.receive(), Some(Up::Accepted(_))));
        coordinator.commands(commands);
        let trouble = coordinator.reported_trouble().unwrap();
        assert!(trouble.contains(words), "{trouble} lacks {words}");
        coordinator.says(Down::Over(Over {}));
        worker.process.says(&["the run was ended early", words]);
    }
    serves_the_next(&worker, server.addr());
    let peak = peak_bytes(&worker);
    assert!(peak < 256 << 20, "the worker took {peak} bytes");
}

/// Commands that come faster than they are obeyed wait in the worker's memory.
#[test]
fn a_flood_of_commands_takes_a_bounded_amount_of_memory() {
    let server = honest();
    let worker = Worker::start("");
    let mut coordinator = Coordinator::dial(worker.addr);
    coordinator.assigns(&plan(server.addr(), &[]), 0, 2);
    assert!(matches!(coordinator.receive(), Some(Up::Accepted(_))));
    // Each closes connections and starts threads, while the other kind comes at memory's speed.
    let anew =
        postcard::to_stdvec(&serde_json::from_value::<Command>(json!("Renew")).unwrap()).unwrap();
    let give_up = json!({"GiveUp": {"count": true}});
    let give_up =
        postcard::to_stdvec(&serde_json::from_value::<Command>(give_up).unwrap()).unwrap();
    for _ in 0..20 {
        let mut items = vec![anew.clone(); 1000];
        items.resize(300_000, give_up.clone());
        coordinator.says(Down::Commands(Batch { items }));
    }
    worker
        .process
        .says(&["the run was ended early", "faster than they can be obeyed"]);
    let peak = peak_bytes(&worker);
    assert!(peak < 512 << 20, "the worker took {peak} bytes");
    serves_the_next(&worker, server.addr());
}

#[test]
fn a_coordinator_that_asks_and_does_not_read_the_answers_is_given_up() {
    let server = honest();
    let worker = Worker::start("");
    let mut coordinator = Coordinator::dial(worker.addr);
    coordinator.assigns(&plan(server.addr(), &[]), 0, 1);
    assert!(matches!(coordinator.receive(), Some(Up::Accepted(_))));
    let before = peak_bytes(&worker);
    let probe = || Down::Probe(Probe { asked_ns: 1 });
    let say = coordinator.say.clone();
    // The worker ends the conversation long before this many.
    let sent = coordinator.runtime.block_on(async {
        let mut sent = 0_u64;
        while sent < 10_000_000 && say.send(probe().into()).await.is_ok() {
            sent += 1;
        }
        sent
    });
    assert!(sent < 10_000_000);
    let grown = peak_bytes(&worker).saturating_sub(before);
    assert!(grown < 64 << 20, "{grown}");
    if let Some(trouble) = coordinator.reported_trouble() {
        assert!(trouble.contains("does not read the answers"), "{trouble}");
    }
    serves_the_next(&worker, server.addr());
}
