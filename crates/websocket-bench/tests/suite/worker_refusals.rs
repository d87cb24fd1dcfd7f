//! Workers and coordinators that refuse or do not reach each other: exit code 1 and a line that says
//! why.

use crate::support::{bench, honest, no_listener, run, url};
use crate::worker_process::{Process, Worker};
use remote::wire::coordinator_server::{Coordinator, CoordinatorServer};
use remote::wire::worker_client::WorkerClient;
use remote::wire::worker_server::{Worker as WorkerService, WorkerServer};
use remote::wire::{FromCoordinator, FromWorker, Greeting, from_coordinator, from_worker};
use std::net::SocketAddr;
use std::pin::Pin;
use tokio::runtime::Runtime;
use tokio_stream::{Stream, StreamExt as _};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

#[test]
fn a_worker_that_is_not_there() {
    let addr = no_listener();
    run(&format!("echo {} -w {addr}", url(no_listener())))
        .exits(1)
        .says_in_one_line(&[
            &format!("cannot reach the worker {addr}"),
            "it refused the connection",
            "websocket-bench worker -a ADDRESS -p PORT",
        ]);
    run(&format!(
        "echo {} -w no-such-host.invalid:4000",
        url(no_listener())
    ))
    .exits(1)
    .says_in_one_line(&["cannot reach the worker no-such-host.invalid:4000"]);
}

#[test]
fn a_coordinator_that_is_not_there() {
    let addr = no_listener();
    run(&format!("worker --coordinator {addr} --await-timeout 1s"))
        .exits(1)
        .says_in_one_line(&[
            &format!("cannot reach the coordinator {addr}"),
            "--await-workers N --listen HOST:PORT",
        ]);
}

#[test]
fn an_address_in_use() {
    let worker = Worker::start("");
    let addr = worker.addr;
    run(&format!("worker -p {}", addr.port()))
        .exits(1)
        .says_in_one_line(&[
            &format!("cannot listen on {addr}"),
            "in use",
            "ss -ltnp",
            "choose another port",
        ]);
    run(&format!(
        "echo {} --await-workers 1 --listen {addr}",
        url(no_listener())
    ))
    .exits(1)
    .says_in_one_line(&[&format!("cannot listen on {addr}"), "in use"]);
}

#[test]
fn an_address_that_is_not_this_machines() {
    run_with_token("worker -a 192.0.2.1")
        .exits(1)
        // timed: no port is taken: the address is none of this machine.
        .says_in_one_line(&["cannot listen on 192.0.2.1:4000", "ip address"]);
}

fn run_with_token(arguments: &str) -> crate::support::Ran {
    crate::support::finish(
        bench()
            .env(remote::TOKEN_VARIABLE, "0123456789abcdef")
            .args(arguments.split_whitespace()),
    )
}

#[test]
fn a_destination_that_is_not_allowed() {
    let server = honest();
    let addr = server.addr();
    let worker =
        Worker::start("--allow 127.0.0.1:1 --allow 10.0.0.0/8 --allow no-such-host.invalid");
    run(&format!("echo {} -w {}", url(addr), worker.addr))
        .exits(1)
        .says_in_one_line(&[
            &worker.addr.to_string(),
            &format!("({addr})"),
            "127.0.0.1:1, 10.0.0.0/8, no-such-host.invalid",
            "--allow",
        ]);
    worker.process.says(&["is not among what it may load"]);
    let local = format!("ws://localhost:{}/ws", addr.port());
    let allowing = Worker::start(&format!(
        "--allow 127.0.0.0/8 --allow [::1]:{}",
        addr.port()
    ));
    run(&format!(
        "echo {local} -s 20 --step-size 2 --total-steps 1 --limit-rtt 20s -w {}",
        allowing.addr
    ))
    .exits(0);
}

#[test]
fn a_server_that_the_worker_does_not_find() {
    let worker = Worker::start("");
    run(&format!(
        "echo ws://no-such-host.invalid/ -w {}",
        worker.addr
    ))
    .exits(1)
    .says_in_one_line(&["no-such-host.invalid", "cannot resolve"]);
}

#[test]
fn something_that_is_no_worker() {
    let server = honest();
    run(&format!("echo {} -w {}", url(server.addr()), server.addr()))
        .exits(1)
        .says_in_one_line(&[&server.addr().to_string(), "check the port"]);
}

#[test]
fn addresses_and_numbers_that_are_none() {
    for (arguments, words) in [
        (
            "echo ws://h/ -w neptune",
            ["'neptune'", "expected HOST:PORT"],
        ),
        (
            "echo ws://h/ -w neptune:x",
            ["`x` is not a port", "expected HOST:PORT"],
        ),
        ("echo ws://h/ --processes 0", ["--processes", "1..=256"]),
        ("echo ws://h/ --await-workers 2", ["--listen", "required"]),
        (
            // timed: no port is taken: the flags are refused.
            "echo ws://h/ --listen 127.0.0.1:1",
            ["--await-workers", "required"],
        ),
        (
            "worker --allow 10.0.0.0/99",
            ["--allow", "no range of addresses"],
        ),
        (
            // timed: no port is taken: the flags are refused.
            "worker --coordinator h:1 -p 5",
            ["--coordinator", "cannot be used with"],
        ),
        ("worker --tls-cert x", ["--tls-key", "--tls-ca"]),
    ] {
        run(arguments).exits(1).says(&words);
    }
}

fn other_version() -> Greeting {
    Greeting {
        version: "99.1.2".to_owned(),
        revision: 77,
        ..Greeting::own()
    }
}

type Answers<M> = Pin<Box<dyn Stream<Item = Result<M, Status>> + Send>>;

/// A worker, or a coordinator, of another version: it sends its greeting and waits.
struct Newer;

#[tonic::async_trait]
impl WorkerService for Newer {
    type RunStream = Answers<FromWorker>;

    async fn run(
        &self,
        _: Request<Streaming<FromCoordinator>>,
    ) -> Result<Response<Self::RunStream>, Status> {
        let greeting = FromWorker {
            kind: Some(from_worker::Kind::Greeting(other_version())),
        };
        Ok(Response::new(Box::pin(first_of(greeting))))
    }
}

#[tonic::async_trait]
impl Coordinator for Newer {
    type JoinStream = Answers<FromCoordinator>;

    async fn join(
        &self,
        _: Request<Streaming<FromWorker>>,
    ) -> Result<Response<Self::JoinStream>, Status> {
        let greeting = FromCoordinator {
            kind: Some(from_coordinator::Kind::Greeting(other_version())),
        };
        Ok(Response::new(Box::pin(first_of(greeting))))
    }
}

fn first_of<M: Send + 'static>(message: M) -> impl Stream<Item = Result<M, Status>> + Send {
    tokio_stream::once(Ok(message)).chain(tokio_stream::pending())
}

/// Starts a worker and a coordinator, which last as long as the runtime.
fn serve_newer(runtime: &Runtime) -> (SocketAddr, SocketAddr) {
    let _inside = runtime.enter();
    let bind = || TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let (worker, coordinator) = (bind(), bind());
    let addrs = (
        worker.local_addr().unwrap(),
        coordinator.local_addr().unwrap(),
    );
    runtime.spawn(Server::builder().serve_with_incoming(WorkerServer::new(Newer), worker));
    let service = CoordinatorServer::new(Newer);
    runtime.spawn(Server::builder().serve_with_incoming(service, coordinator));
    addrs
}

#[test]
fn another_version_is_named_on_either_side() {
    let runtime = Runtime::new().unwrap();
    let (newer_worker, newer_coordinator) = serve_newer(&runtime);
    let both = [
        "websocket-bench 99.1.2 (protocol 77)",
        concat!("this is websocket-bench ", env!("CARGO_PKG_VERSION")),
    ];
    run(&format!("echo {} -w {newer_worker}", url(no_listener())))
        .exits(1)
        .says_in_one_line(&[&format!("the worker {newer_worker}"), both[0], both[1]]);
    run(&format!("worker --quiet --coordinator {newer_coordinator}"))
        .exits(1)
        .says_in_one_line(&[
            &format!("the coordinator {newer_coordinator}"),
            both[0],
            both[1],
        ]);

    let worker = Worker::start("");
    let greeting = FromCoordinator {
        kind: Some(from_coordinator::Kind::Greeting(other_version())),
    };
    let answer = runtime.block_on(async {
        let mut client = WorkerClient::connect(format!("http://{}", worker.addr))
            .await
            .unwrap();
        let words = tokio_stream::once(greeting).chain(tokio_stream::pending());
        let mut answers = client.run(words).await.unwrap().into_inner();
        answers.message().await.unwrap().unwrap().kind
    });
    assert_eq!(
        answer,
        Some(from_worker::Kind::Greeting(Greeting {
            pid: worker.process.child.id(),
            ..Greeting::own()
        }))
    );
    worker
        .process
        .says(&["the coordinator 127.0.0.1:", both[0], both[1]]);
}

#[test]
fn an_interrupt_ends_the_waiting_for_workers() {
    let mut waiting = Process::start(
        bench().args(
            format!(
                "echo {} --await-workers 1 --listen 127.0.0.1:0",
                url(no_listener())
            )
            .split_whitespace(),
        ),
    );
    waiting.says(&["waiting for workers on"]);
    waiting.signal(libc::SIGINT);
    waiting
        .end()
        .exits(130)
        .says_in_one_line(&["interrupted while"]);
}
