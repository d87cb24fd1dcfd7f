//! The record as a table and as JUnit XML, beside the record itself.

use crate::support::{bench, faulty_server, finish, honest, record, url};
use std::fs;
use std::path::Path;
use test_servers::fault::Fault;

/// The fields of a line under the names of the header.
fn fields(table: &str, line: usize) -> impl Fn(&str) -> String {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let names = reader.headers().unwrap().clone();
    let line = reader.records().nth(line).unwrap().unwrap();
    move |name| {
        let position = names.iter().position(|other| other == name);
        line[position.unwrap_or_else(|| panic!("no column {name}"))].to_owned()
    }
}

/// Runs two small steps and writes everything into `folder`.
fn ran(folder: &Path, server: std::net::SocketAddr, more: &[&str]) -> crate::support::Ran {
    let mut command = bench();
    command.args(["broadcast", &url(server)]);
    command.args([
        "--step-size",
        "5",
        "--total-steps",
        "2",
        "--sample-size",
        "40",
    ]);
    for (flag, file) in [
        ("--json", "run.json"),
        ("--csv", "run.csv"),
        ("--junit", "run.xml"),
    ] {
        command.arg(flag).arg(folder.join(file));
    }
    finish(command.args(more))
}

#[test]
fn the_table_has_the_figures_of_the_record() {
    let (server, folder) = (honest(), tempfile::tempdir().unwrap());
    ran(folder.path(), server.addr(), &[]).exits(0);
    let record = record(&folder.path().join("run.json"));
    let table = fs::read_to_string(folder.path().join("run.csv")).unwrap();
    assert_eq!(table.lines().count(), 3, "{table}");
    for (number, step) in record.steps.iter().enumerate() {
        let field = fields(&table, number);
        let completion = step.completion.as_ref().unwrap();
        let traffic = step.throughput.as_ref().unwrap();
        assert_eq!(field("step"), number.to_string());
        assert_eq!(field("clients"), step.clients.to_string());
        assert_eq!(field("verdict"), step.verdict.name());
        assert_eq!(field("completion_p95_ns"), completion.p95_ns.to_string());
        assert_eq!(field("completion_p999_ns"), "", "40 samples have no 99.9th");
        assert_eq!(field("received"), traffic.received.to_string());
        assert_eq!(field("faults_lost"), "0");
        assert_eq!(field("send_lag_count"), "", "a closed loop has none");
    }
}

#[test]
fn junit_has_a_case_for_the_run_and_one_for_each_expectation() {
    let (server, folder) = (honest(), tempfile::tempdir().unwrap());
    let expected = ["--expect", "faults<=0", "--expect", "clients>=11"];
    ran(folder.path(), server.addr(), &expected).exits(2);
    let xml = fs::read_to_string(folder.path().join("run.xml")).unwrap();
    assert!(
        xml.contains(r#"tests="3" skipped="0" errors="0" failures="1""#),
        "{xml}"
    );
    let message = r#"message="clients&gt;=11: 10 clients were carried""#;
    assert!(xml.contains(message), "{xml}");
    assert!(xml.contains(r#"name="expect faults&lt;=0""#), "{xml}");
    assert!(xml.contains("10 clients: p95 "), "{xml}");
}

#[test]
fn junit_says_what_made_a_run_invalid() {
    let server = faulty_server(Fault::Drops, 1);
    let folder = tempfile::tempdir().unwrap();
    let limits = ["--sample-timeout", "800ms", "--limit-rtt", "700ms"];
    ran(folder.path(), server.addr(), &limits).exits(3);
    let xml = fs::read_to_string(folder.path().join("run.xml")).unwrap();
    assert!(xml.contains(r#"<failure message=""#), "{xml}");
    assert!(xml.contains(r#"type="invalid""#), "{xml}");
    assert!(xml.contains(" lost"), "{xml}");
}

#[test]
fn a_table_on_stdout_stands_there_alone() {
    let server = honest();
    let mut command = bench();
    command.args([
        "echo",
        &url(server.addr()),
        "--step-size",
        "5",
        "--total-steps",
        "1",
    ]);
    let ran = finish(command.args(["--csv", "-"])).exits(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(fields(&ran.stdout, 0)("clients"), "5");
}
