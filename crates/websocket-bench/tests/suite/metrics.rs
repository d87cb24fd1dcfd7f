//! `--metrics`: what is read there, by Prometheus itself and by hand.

use crate::shared::Process;
use crate::support::{bench, free_addr, honest, record, run, undisturbed, url};
use ::record::{Buckets, RunRecord};
use serde_json::Value;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PROMETHEUS: &str = "/usr/bin/prometheus";

/// The answer to a request, head and body; empty where there is none.
fn ask(addr: SocketAddr, request: &str) -> String {
    let mut answer = String::new();
    if let Ok(mut stream) = TcpStream::connect(addr) {
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let _ = stream.write_all(request.as_bytes());
        let _ = stream.read_to_string(&mut answer);
    }
    answer
}

pub(crate) fn get(addr: SocketAddr, path: &str) -> String {
    ask(addr, &format!("GET {path} HTTP/1.0\r\nHost: here\r\n\r\n"))
}

/// Waits until a run can be asked.
// timed: polls; the end is only for a hang.
pub(crate) fn started(addr: SocketAddr) -> String {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        let answer = get(addr, "/metrics");
        if answer.starts_with("HTTP/1") {
            return answer;
        }
        assert!(Instant::now() < end, "no answer at {addr}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The number of a metric without labels.
#[track_caller]
fn number(text: &str, name: &str) -> f64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("no {name}: {text}"))
        .parse()
        .unwrap()
}

struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A Prometheus that reads `of` once a second.
// timed: polls; the end is only for a hang.
fn prometheus(folder: &Path, of: SocketAddr) -> (Ended, SocketAddr) {
    let (config, addr) = (folder.join("prometheus.yml"), free_addr());
    let text = format!(
        "global: {{scrape_interval: 1s, scrape_timeout: 1s}}\n\
         scrape_configs:\n- {{job_name: bench, static_configs: [{{targets: ['{of}']}}]}}\n"
    );
    fs::write(&config, text).unwrap();
    let child = Command::new(PROMETHEUS)
        .arg(format!("--config.file={}", config.display()))
        .arg(format!(
            "--storage.tsdb.path={}",
            folder.join("data").display()
        ))
        .arg(format!("--web.listen-address={addr}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let ended = Ended(child);
    let end = Instant::now() + Duration::from_secs(300);
    // It is ready some seconds before it reads its first target.
    while !get(addr, "/api/v1/query?query=up").contains(r#""job":"bench""#) {
        assert!(Instant::now() < end, "Prometheus reads no target");
        thread::sleep(Duration::from_millis(100));
    }
    (ended, addr)
}

/// The only value of a query.
#[track_caller]
fn query(prometheus: SocketAddr, query: &str) -> f64 {
    let body = format!("query={query}");
    let answer = ask(
        prometheus,
        &format!(
            "POST /api/v1/query HTTP/1.0\r\nHost: here\r\nContent-Length: {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}",
            body.len()
        ),
    );
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let answer: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{query}: {answer}"));
    let found = answer["data"]["result"].as_array();
    let found = found.unwrap_or_else(|| panic!("{query}: {answer}"));
    assert_eq!(found.len(), 1, "{query}: {answer}");
    found[0]["value"][1].as_str().unwrap().parse().unwrap()
}

#[test]
fn prometheus_shows_what_the_record_has() {
    if !Path::new(PROMETHEUS).exists() {
        test_servers::skipped("prometheus is not installed; apt-get install prometheus");
        return;
    }
    let server = honest();
    // Another Prometheus for each attempt: counters begin anew with each run.
    let mut started = None;
    let ran = undisturbed(|| {
        let (metrics, folder) = (free_addr(), tempfile::tempdir().unwrap());
        let json = folder.path().join("run.json");
        let (process, addr) = prometheus(folder.path(), metrics);
        let arguments = format!(
            "broadcast {} --step-size 20 --total-steps 2 --rate 200 --duration 4s --limit-rtt 20s \
             --metrics {metrics} --json {}",
            url(server.addr()),
            json.display()
        );
        started = Some((process, addr, folder));
        run(&arguments)
    });
    let (_process, prometheus, folder) = started.unwrap();
    let json = folder.path().join("run.json");
    let ran = ran
        .exits(0)
        .says(&["waiting until the metrics are read once more"]);
    assert_eq!(ran.stdout.lines().count(), 2);
    let record: RunRecord = record(&json);
    let shown = |name: &str| query(prometheus, &format!("last_over_time({name}[5m])"));
    let sum = |of: fn(&::record::Throughput) -> u64| {
        let steps = record.steps.iter();
        steps.map(|step| of(&step.throughput.unwrap())).sum::<u64>() as f64
    };
    assert_eq!(
        shown("websocket_bench_requests_sent_total"),
        sum(|of| of.sent)
    );
    assert_eq!(
        shown("websocket_bench_messages_received_total"),
        sum(|of| of.received)
    );
    assert_eq!(
        shown("websocket_bench_received_bytes_total"),
        sum(|of| of.received_bytes)
    );
    assert_eq!(shown("websocket_bench_faults_total"), 0.0);
    assert_eq!(shown("websocket_bench_clients_carried"), 40.0);
    assert_eq!(shown("websocket_bench_run_ended"), 1.0);
    let last = record.steps[1].completion.as_ref().unwrap();
    let p95 = "websocket_bench_step_latency_seconds{of=\"completion\",quantile=\"0.95\"}";
    assert_eq!(shown(p95), last.p95_ns as f64 / 1e9);
    // Of both steps together, as near as a bucket.
    let mut all = record.steps[0]
        .completion
        .as_ref()
        .unwrap()
        .recorder()
        .unwrap();
    all.merge(&last.recorder().unwrap());
    assert_eq!(
        shown("websocket_bench_completion_seconds_count"),
        all.count() as f64
    );
    let bucket = Buckets::from_iter([(all.percentile(95.0), 1)]);
    let (end_ns, _) = bucket.iter().next().unwrap();
    let quantile = query(
        prometheus,
        "histogram_quantile(0.95, last_over_time(websocket_bench_completion_seconds_bucket[5m]))",
    );
    let (least, most) = (Buckets::begin(end_ns) as f64 / 1e9, end_ns as f64 / 1e9);
    assert!(
        (least..=most).contains(&quantile),
        "{quantile}: {least} to {most}"
    );
    assert_documented(prometheus);
    // It was read while the run lasted and at its end, and only rose.
    let rises = query(
        prometheus,
        "changes(websocket_bench_messages_received_total[5m])",
    );
    assert!(rises >= 2.0, "{rises}");
    for counter in [
        "requests_sent_total",
        "messages_received_total",
        "received_bytes_total",
        "completion_seconds_bucket",
        "completion_seconds_count",
        "completion_seconds_sum",
    ] {
        let resets = format!("sum(resets(websocket_bench_{counter}[5m]))");
        assert_eq!(query(prometheus, &resets), 0.0, "{counter}");
    }
}

/// The dashboard asks for what Prometheus has, in words that it takes; the document names every metric.
#[track_caller]
fn assert_documented(prometheus: SocketAddr) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let dashboard = fs::read_to_string(docs.join("grafana-dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap());
    let asked: Vec<String> = targets
        .map(|target| {
            target["expr"]
                .as_str()
                .unwrap()
                .replace("$__rate_interval", "5m")
        })
        .collect();
    assert!(asked.len() > 10, "{asked:?}");
    let names = regex::Regex::new("websocket_bench_[a-z_]+").unwrap();
    for expression in &asked {
        for name in names.find_iter(expression) {
            let count = format!("count(last_over_time({}[5m]))", name.as_str());
            assert!(query(prometheus, &count) > 0.0, "{expression}");
        }
        // Of a query that cannot be read there is no result at all.
        query(prometheus, &format!("count({expression}) or vector(0)"));
    }
    let document = fs::read_to_string(docs.join("metrics.md")).unwrap();
    let all = get(prometheus, "/api/v1/label/__name__/values");
    let (_, all) = all.split_once("\r\n\r\n").unwrap();
    let all: Value = serde_json::from_str(all).unwrap();
    for name in all["data"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let Some(name) = name.strip_prefix("websocket_bench_") else {
            continue;
        };
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .unwrap_or(name);
        assert!(document.contains(&format!("`{family}`")), "{family}");
    }
}

#[test]
fn metrics_are_answered_while_others_hold_the_connections_and_nothing_else_is() {
    let (server, metrics) = (honest(), free_addr());
    let mut command = bench();
    command.args([
        "echo",
        &url(server.addr()),
        "--step-size",
        "5",
        "--total-steps",
        "1",
    ]);
    command.args([
        "--rate",
        "50",
        "--duration",
        "600s",
        "--metrics",
        &metrics.to_string(),
    ]);
    let mut process = Process::start(&mut command);
    let text = started(metrics);
    assert!(
        text.contains("application/openmetrics-text; version=1.0.0"),
        "{text}"
    );
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert!(text.contains("websocket_bench_run{version="), "{text}");
    assert!(get(metrics, "/").starts_with("HTTP/1.0 404"));
    assert!(ask(metrics, "POST /metrics HTTP/1.0\r\n\r\n").starts_with("HTTP/1.0 405"));
    let silent: Vec<TcpStream> = (0..100)
        .map(|_| TcpStream::connect(metrics).unwrap())
        .collect();
    let endless = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n", "x".repeat(1 << 20));
    assert!(!ask(metrics, &endless).contains("200 OK"));
    // Metrics come before the first request is sent.
    let sent = |text: &String| number(text, "websocket_bench_requests_sent_total") > 0.0;
    let later = (0..10_000).map(|_| started(metrics)).find(sent);
    let later = later.expect("requests are sent");
    assert_eq!(number(&later, "websocket_bench_clients"), 5.0);
    drop(silent);
    process.signal(libc::SIGINT);
    let ran = process.end().exits(130);
    // An interrupt waits for no reader of metrics.
    assert!(!ran.stderr.contains("read once more"), "{ran:#?}");
}

#[test]
fn an_address_that_is_taken_is_told_before_the_run() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap();
    let server = honest();
    let arguments = format!("echo {} --metrics {addr}", url(server.addr()));
    run(&arguments).exits(1).says_in_one_line(&[
        &format!("--metrics {addr}"),
        "in use",
        "name another port",
    ]);
}
