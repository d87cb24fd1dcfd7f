//! What steps carry and keep, and what becomes of a run whose requests over HTTP fail, with small servers.

use super::server::{Answer, start};
use crate::metrics::{get, started};
use crate::shared::Process;
use crate::support::{assert_valid, bench, dialect_file, free_addr, run};
use record::{HttpUse, RunRecord};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub(super) const ECHO: &str = r#"
[send]
echo = "{payload}"

[[receive]]
means = "echo"
when = { "/stamp" = { is = ["string"] } }
payload = ""
example = "{payload}"
"#;

pub(super) fn file(steps: &str, rest: &str) -> String {
    format!("name = \"small\"\nsummary = \"A small server.\"\n{steps}\n{rest}")
}

fn answer(status: u16, lines: &'static str, body: &str) -> Answer {
    (status, lines, body.to_owned())
}

/// Runs a command with a dialect of that text; the record is there if the run began.
fn ran(dialect: &str, command: &str, more: &str) -> (crate::support::Ran, Option<RunRecord>) {
    let folder = tempfile::tempdir().unwrap();
    let dialect = dialect_file(folder.path(), dialect);
    let json = folder.path().join("run.json");
    let ran = run(&format!(
        "{command} --dialect {dialect} --json {} {more}",
        json.display()
    ));
    let record = json.exists().then(|| assert_valid(&json));
    (ran, record)
}

const SMALL: &str = "--initial-clients 4 --total-steps 1 --sample-size 40 --limit-rtt 20s";

#[test]
fn cookies_and_values_of_steps_stand_in_later_steps_and_in_the_handshake() {
    let (addr, seen) = start(|asked, _| match asked.line.as_str() {
        "GET /page HTTP/1.1" => answer(
            200,
            "Set-Cookie: first=1; Path=/\r\nX-Csrf: c s r f\r\n",
            "<meta name=\"key\" content=\"k/1\">",
        ),
        line if line.starts_with("POST /join?key=k%2F1 ") => answer(
            201,
            "Set-Cookie: second=2\r\nSet-Cookie: first=3\r\n",
            "{\"id\":7}",
        ),
        line => panic!("{line}"),
    });
    let steps = r#"
[[open.http]]
url = "/page"
capture = { key = { pattern = 'name="key" content="{value}"' }, csrf = { header = "x-csrf" } }

[[open.http]]
url = "/join?key={key}"
headers = { X-Csrf = "{csrf}" }
body = "name=c{client}&csrf={csrf}"
capture = { id = { json = "/id" }, again = { cookie = "second" } }
"#;
    let command = format!(
        "echo ws://{addr}/ws/{{id}}?again={{again}} {SMALL} -H X-Key:{{key}} --cookie mine=0"
    );
    let (ran, record) = ran(&file(steps, ECHO), &command, "");
    assert_eq!(ran.code, 0, "{ran:#?}");
    let step = &record.unwrap().steps[0];
    let HttpUse { steps, .. } = step.http.as_deref().unwrap();
    assert!(
        steps.iter().all(|of| (of.requests, of.failed) == (4, 0)),
        "{steps:?}"
    );
    let requests = seen.requests();
    let joins = requests.iter().filter(|of| of.line.starts_with("POST"));
    let bodies: HashSet<&str> = joins
        .map(|of| {
            assert_eq!(of.header("Cookie"), Some("first=1"));
            assert_eq!(of.header("X-Csrf"), Some("c s r f"));
            assert_eq!(
                of.header("Content-Type"),
                Some("application/x-www-form-urlencoded")
            );
            of.body.as_str()
        })
        .collect();
    let due = (0..4).map(|client| format!("name=c{client}&csrf=c%20s%20r%20f"));
    assert_eq!(
        bodies,
        due.collect::<Vec<_>>().iter().map(String::as_str).collect()
    );
    let upgrades = requests
        .iter()
        .filter(|of| of.line == "GET /ws/7?again=2 HTTP/1.1");
    let cookies: Vec<_> = upgrades.map(|of| of.header("Cookie").unwrap()).collect();
    assert_eq!(cookies, ["mine=0; second=2; first=3"; 4]);
}

#[test]
fn a_client_that_comes_back_keeps_what_its_steps_were_told() {
    let numbers = AtomicU64::new(0);
    let (addr, seen) = start(move |_, _| {
        let number = numbers.fetch_add(1, Ordering::SeqCst);
        answer(200, "", &format!("{{\"id\":\"client-{number}\"}}"))
    });
    let steps = "[[open.http]]\nurl = \"/id\"\ncapture = { id = { json = \"/id\" } }\n";
    let folder = tempfile::tempdir().unwrap();
    let dialect = dialect_file(folder.path(), &file(steps, ECHO));
    let plan = folder.path().join("plan.toml");
    let text = format!(
        r#"audience = "sender"
[target]
url = "ws://{addr}/ws?id={{id}}"
[clients.steps]
first = 10
count = 1
[message]
dialect = "{dialect}"
[[populations]]
share = 1
[[populations]]
share = 1
life = {{ comes_and_goes = {{ stays = "300ms", away = "50ms" }} }}
[load.open]
rate = 50.0
duration = "2s"
[limits]
time = "20s"
"#
    );
    std::fs::write(&plan, text).unwrap();
    let json = folder.path().join("run.json");
    let ran = run(&format!("run {} --json {}", plan.display(), json.display()));
    let record = assert_valid(&json);
    let step = &record.steps[0];
    assert!(step.churn.as_ref().unwrap().reconnected > 0, "{ran:#?}");
    assert_eq!(step.http.as_ref().unwrap().steps[0].requests, 10);
    let upgrades: Vec<_> = seen.requests();
    let upgrades: Vec<_> = upgrades
        .iter()
        .filter(|of| of.line.contains("/ws?id="))
        .collect();
    let different: HashSet<&str> = upgrades.iter().map(|of| of.line.as_str()).collect();
    assert_eq!(different.len(), 10);
    assert!(upgrades.len() > 10);
}

#[test]
fn steps_that_fail_are_counted_by_status_in_a_connect_run() {
    let count = AtomicU64::new(0);
    let (addr, _) = start(move |_, _| match count.fetch_add(1, Ordering::SeqCst) % 4 {
        0 => answer(503, "", "too\nmuch"),
        _ => answer(200, "", "{}"),
    });
    let steps = "[[open.http]]\nurl = \"/enter\"\n";
    let command = format!("connect ws://{addr}/ws --clients 40 --hold 100ms");
    let (ran, record) = ran(&file(steps, ECHO), &command, "");
    let record = record.unwrap();
    let step = &record.steps[0];
    let [of] = &step.http.as_ref().unwrap().steps[..] else {
        panic!("{ran:#?}")
    };
    assert_eq!((of.requests, of.failed, of.statuses["503"]), (40, 10, 10));
    assert_eq!(step.connections.as_ref().unwrap().opened, 30);
    let words = of.first_failure.as_ref().unwrap();
    assert!(
        words.contains("(GET /enter) was answered 503: `too`;"),
        "{words}"
    );
    assert_eq!(step.faults.refused, 10, "{ran:#?}");
    assert!(
        ran.stdout
            .contains("http         40 requests, 10 failed (503: 10)"),
        "{ran:#?}"
    );
}

#[test]
fn what_a_step_does_not_find_or_reach_is_named() {
    let (addr, _) = start(|asked, _| match asked.line.as_str() {
        "GET /quotes HTTP/1.1" => answer(200, "", r#"{"token":"a\"b"}"#),
        "GET /long HTTP/1.1" => answer(200, "", &"x".repeat(2 << 20)),
        _ => answer(302, "Location: /login\r\n", ""),
    });
    let used = |step: &str| {
        let step = format!("[[open.http]]\n{step}\n");
        file(&step, ECHO).replace("echo = \"{payload}\"", "echo = '{payload}'")
    };
    let token = r#"capture = { token = { json = "/token" } }"#;
    let elsewhere = crate::support::no_listener();
    for (step, words) in [
        (
            "url = \"/away\"".to_owned(),
            "was answered 302; redirects are not followed",
        ),
        (
            format!("url = \"/long\"\n{token}"),
            "got an answer of more than 1048576 bytes",
        ),
        (
            format!("url = \"/away\"\nstatus = [302]\n{token}"),
            "got an answer without `token`; check its `capture`",
        ),
        (
            format!("url = \"http://{elsewhere}/\""),
            "failed: Connection refused",
        ),
    ] {
        let (ran, _) = ran(&used(&step), &format!("echo ws://{addr}/ws {SMALL}"), "");
        assert_eq!(ran.code, 1, "{ran:#?}");
        assert!(ran.stderr.contains(words), "{words}: {ran:#?}");
    }
    let quoted = used(&format!("url = \"/quotes\"\n{token}")).replace(
        "echo = '{payload}'",
        r#"echo = '{"t":"{token}","p":{payload}}'"#,
    );
    let (ran, _) = ran(&quoted, &format!("echo ws://{addr}/ws {SMALL}"), "");
    assert_eq!(ran.code, 1, "{ran:#?}");
    let words = "got a value for `token` that cannot stand in a message";
    assert!(ran.stderr.contains(words), "{ran:#?}");
}

const NEWS: &str = r#"
[send.http]
url = "/publish?key={key}"
headers = { X-Signed = "{signed}", X-At = "{timestamp}" }
body = '{payload}'

[send.http.signatures.signed]
key = "the key"
of = "{timestamp} {body_md5}"

[[receive]]
means = "delivery"
when = { "/stamp" = { is = ["string"] } }
payload = ""
example = "{payload}"
"#;

#[test]
fn a_publication_that_is_refused_is_counted_as_one_and_its_status_told() {
    let count = AtomicU64::new(0);
    let (addr, seen) = start(move |asked, seen| {
        if asked.line.starts_with("GET") {
            return answer(200, "", "{\"key\":\"k\"}");
        }
        assert_eq!(asked.line, "POST /publish?key=k HTTP/1.1");
        seen.tell_all(&asked.body);
        match count.fetch_add(1, Ordering::SeqCst) {
            5 => answer(429, "", "slow down"),
            _ => answer(200, "", "{}"),
        }
    });
    let steps = "[[open.http]]\nurl = \"/key\"\ncapture = { key = { json = \"/key\" } }\n";
    let command = format!(
        "broadcast ws://{addr}/ws --initial-clients 4 --total-steps 1 --sample-size 20 --concurrent 1 \
         --sample-timeout 8s --limit-rtt 7s"
    );
    let (ran, record) = ran(&file(steps, NEWS), &command, "");
    assert_eq!(ran.code, 3, "{ran:#?}");
    let record = record.unwrap();
    let step = &record.steps[0];
    assert_eq!(
        (step.faults.refused, step.faults.unanswered),
        (1, 1),
        "{}",
        step.faults
    );
    assert_eq!(step.faults.lost, 0, "{}", step.faults);
    let of = step.http.as_ref().unwrap().publications.clone().unwrap();
    assert_eq!((of.failed, of.statuses["429"]), (1, 1));
    assert!(
        of.first_failure
            .unwrap()
            .contains("was answered 429: `slow down`")
    );
    for asked in seen
        .requests()
        .iter()
        .filter(|of| of.line.starts_with("POST"))
    {
        assert_eq!(asked.header("X-Signed").unwrap().len(), 64);
        assert!(asked.header("X-At").unwrap().parse::<u64>().unwrap() > 1_700_000_000);
    }
}

/// A server that refuses publications from this one on, and says so in a body.
fn refuses_from(first: u64, status: u16, says: &'static str) -> std::net::SocketAddr {
    let count = AtomicU64::new(0);
    let (addr, _) = start(move |asked, seen| {
        if asked.line.starts_with("GET") {
            return answer(200, "", "{\"key\":\"k\",\"ok\":true}");
        }
        if count.fetch_add(1, Ordering::SeqCst) >= first {
            return answer(status, "", says);
        }
        seen.tell_all(&asked.body);
        answer(200, "", "{\"ok\":true}")
    });
    addr
}

const WHEN: &str = "when = { \"/ok\" = true, \"/error\" = { is = [\"absent\"] } }\n";

#[test]
fn an_answer_whose_json_says_no_refuses_a_publication() {
    let steps = format!(
        "[[open.http]]\nurl = \"/key\"\n{WHEN}capture = {{ key = {{ json = \"/key\" }} }}\n"
    );
    let news = NEWS.replace(
        "body = '{payload}'\n",
        &format!("body = '{{payload}}'\n{WHEN}"),
    );
    let says = r#"{"ok":true,"error":{"code":101}}"#;
    let addr = refuses_from(19, 200, says);
    let command = |addr| {
        format!(
            "broadcast ws://{addr}/ws --initial-clients 4 --total-steps 1 --sample-size 20 \
             --concurrent 1 --sample-timeout 2s --limit-rtt 1s"
        )
    };
    let (ended, record) = ran(&file(&steps, &news), &command(addr), "");
    assert_eq!(ended.code, 3, "{ended:#?}");
    assert!(!ended.stderr.contains("acknowledged = false"), "{ended:#?}");
    let step = &record.unwrap().steps[0];
    assert_eq!(step.faults.refused, 1, "{}", step.faults);
    let of = step.http.as_ref().unwrap().publications.clone().unwrap();
    assert_eq!((of.requests, of.failed, of.statuses["200"]), (20, 1, 20));
    let due = "a publication (POST /publish) was answered 200, but `/error` is an object \
               of 1; check what it shows the server, or change the conditions in its `when`";
    assert_eq!(of.first_failure.unwrap().as_str(), due);

    let refused = steps.replace("\"/ok\" = true", "\"/ok\" = 1");
    let (ended, _) = ran(&file(&refused, &news), &command(addr), "");
    assert_eq!(ended.code, 1, "{ended:#?}");
    let words = "(GET /key) was answered 200, but `/ok` is true; check";
    assert!(ended.stderr.contains(words), "{ended:#?}");
}

#[test]
fn publications_that_are_refused_one_and_all_blame_the_file_unless_the_load_is_blamed() {
    let steps = "[[open.http]]\nurl = \"/key\"\ncapture = { key = { json = \"/key\" } }\n";
    for (status, code, words) in [
        (
            401,
            1,
            "the dialect file and the server disagree: of 4 publications",
        ),
        (503, 3, "the server or the dialect file is at fault: "),
    ] {
        let addr = refuses_from(0, status, "no");
        let command = format!(
            "broadcast ws://{addr}/ws --initial-clients 4 --total-steps 1 --sample-size 4 \
             --sample-timeout 2s --limit-rtt 1s"
        );
        let (ended, record) = ran(&file(steps, NEWS), &command, "");
        assert_eq!(ended.code, code, "{ended:#?}");
        assert!(ended.stderr.contains(words), "{ended:#?}");
        assert_eq!(record.unwrap().steps[0].faults.refused, 4, "{ended:#?}");
    }
}

/// What took publications in one step and refuses them in the next fails: the file is as it was.
#[test]
fn publications_that_a_later_step_refuses_do_not_blame_the_file_alone() {
    let steps = "[[open.http]]\nurl = \"/key\"\ncapture = { key = { json = \"/key\" } }\n";
    let command = format!(
        "broadcast ws://{}/ws --initial-clients 2 --step-size 2 --total-steps 2 --sample-size 4 \
         --sample-timeout 2s --limit-rtt 1s",
        refuses_from(4, 401, "expired")
    );
    let (ended, record) = ran(&file(steps, NEWS), &command, "");
    assert_eq!(ended.code, 3, "{ended:#?}");
    let words = "the server or the dialect file is at fault: ";
    assert!(ended.stderr.contains(words), "{ended:#?}");
    let refused = |step: &record::StepRecord| step.faults.refused;
    let refused: Vec<_> = record.unwrap().steps.iter().map(refused).collect();
    assert_eq!(refused, [0, 4], "{ended:#?}");
}

#[test]
fn the_metrics_have_what_came_of_requests_over_http() {
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    let (publications, pages) = (AtomicU64::new(0), AtomicU64::new(0));
    let shared = Arc::clone(&gate);
    let (addr, _) = start(move |asked, seen| {
        if asked.line.starts_with("GET") {
            let is_fourth = pages.fetch_add(1, Ordering::SeqCst) == 3;
            return answer(if is_fourth { 201 } else { 200 }, "", "{\"key\":\"k\"}");
        }
        drop(shared.lock());
        seen.tell_all(&asked.body);
        match publications.fetch_add(1, Ordering::SeqCst) {
            19 => answer(403, "", "no"),
            _ => answer(200, "", "{}"),
        }
    });
    let steps = "[[open.http]]\nurl = \"/key\"\ncapture = { key = { json = \"/key\" } }\n";
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("run.json");
    let metrics = free_addr();
    let arguments = format!(
        "broadcast ws://{addr}/ws --initial-clients 4 --total-steps 1 --sample-size 20 \
         --concurrent 1 --sample-timeout 8s --limit-rtt 7s --metrics {metrics} --json {} \
         --dialect {}",
        json.display(),
        dialect_file(folder.path(), &file(steps, NEWS)),
    );
    let mut bench = Process::start(bench().args(arguments.split_whitespace()));
    let before = started(metrics);
    assert!(!before.contains("step_http_requests_total{"), "{before}");
    drop(closed);
    bench.says(&["read once more"]);
    let shown = get(metrics, "/metrics");
    bench.end().exits(3);
    let number = |name: &str| -> f64 {
        let name = format!("websocket_bench_step_http_{name} ");
        let line = shown.lines().find_map(|line| line.strip_prefix(&name));
        line.unwrap_or_else(|| panic!("no {name}: {shown}"))
            .parse()
            .unwrap()
    };
    for (metric, due) in [
        (r#"requests_total{of="open[1]",status="200"}"#, 3.0),
        (r#"requests_total{of="open[1]",status="201"}"#, 1.0),
        (r#"requests_total{of="publication",status="200"}"#, 19.0),
        (r#"requests_total{of="publication",status="403"}"#, 1.0),
        (r#"requests_failed_total{of="open[1]"}"#, 0.0),
        (r#"requests_failed_total{of="publication"}"#, 1.0),
    ] {
        assert_eq!(number(metric), due, "{metric}");
    }
    let record = assert_valid(&json);
    let of = record.steps[0].http.as_ref().unwrap();
    let took = of.publications.as_ref().unwrap().took.as_ref().unwrap();
    let median = number(r#"seconds{of="publication",quantile="0.5"}"#);
    assert_eq!(median, took.p50_ns as f64 / 1e9);
}

#[test]
fn requests_over_http_can_be_expected_to_be_fast() {
    let (addr, _) = start(|asked, seen| {
        if asked.line.starts_with("POST") {
            seen.tell_all(&asked.body);
        }
        answer(200, "", "{\"key\":\"k\"}")
    });
    let steps = "[[open.http]]\nurl = \"/page\"\n\n\
                 [[open.http]]\nurl = \"/key\"\ncapture = { key = { json = \"/key\" } }\n";
    let publishes = format!("broadcast ws://{addr}/ws {SMALL} --concurrent 1");
    for (expected, code, words) in [
        ("--expect open.max<60s --expect http.max<60s", 0, ""),
        (
            "--expect open.min<1ns",
            2,
            "expectation failed: open.min<1ns: ",
        ),
        (
            "--expect http.p50<1ns --processes 2",
            2,
            "expectation failed: http.p50<1ns: ",
        ),
    ] {
        let (ran, _) = ran(&file(steps, NEWS), &publishes, expected);
        assert_eq!(ran.code, code, "{expected}: {ran:#?}");
        assert!(ran.stderr.contains(words), "{words}: {ran:#?}");
    }
    let echoes = format!("echo ws://{addr}/ws {SMALL}");
    for (steps, expected, words) in [
        ("", "--expect open.p95<60s", "no client asks over HTTP"),
        (
            steps,
            "--expect http.p95<60s",
            "nothing is published over HTTP",
        ),
    ] {
        let (ran, _) = ran(&file(steps, ECHO), &echoes, expected);
        assert_eq!(ran.code, 1, "{expected}: {ran:#?}");
        assert!(ran.stderr.contains(words), "{words}: {ran:#?}");
    }
}
