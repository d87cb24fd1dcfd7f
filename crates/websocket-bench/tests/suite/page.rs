//! The page of a run, in a real browser.

use crate::support::{bench, faulty_server, finish, honest, run, undisturbed, url};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use test_browser::{console, look, requests, show};
use test_servers::fault::Fault;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.html");
    (folder, path)
}

#[test]
fn a_page_fits_and_asks_for_nothing() {
    let (server, (folder, page)) = (honest(), place());
    let arguments = format!(
        "broadcast {} --step-size 20 --total-steps 2 --limit-rtt 20s --rate 100 --duration 3s --html {}",
        url(server.addr()),
        page.display()
    );
    undisturbed(|| run(&arguments)).exits(0);
    for width in [1300, 390] {
        let (shown, found) = look(&page, width, folder.path());
        assert_eq!(found, Vec::<String>::new(), "{width}");
        assert_eq!(console(&shown.log), Vec::<&str>::new());
        assert_eq!(requests(&shown.net), Vec::<String>::new());
    }
    let dom = show(&page, folder.path()).dom;
    for words in [
        "40 clients were carried: the 95th percentile of completion stayed within 20.0 s.",
        "Latency over time",
        "Messages over time",
        "Latency by percentile",
        "all 2 planned steps were measured",
    ] {
        assert!(dom.contains(words), "{words}: {dom}");
    }
    // Two steps of three seconds, and more where answers were late.
    let columns = dom.matches(" completed").count();
    assert!((5..=60).contains(&columns), "{columns}: {dom}");
    assert!(dom.matches(r#"class="cell""#).count() > 6, "{dom}");
}

#[test]
fn a_page_says_what_made_the_run_invalid() {
    let (server, (_folder, page)) = (faulty_server(Fault::Duplicates, 2), place());
    run(&format!(
        "broadcast {} --step-size 5 --total-steps 1 --limit-rtt 20s --html {}",
        url(server.addr()),
        page.display()
    ))
    .exits(3);
    let html = fs::read_to_string(&page).unwrap();
    let words = "The result is invalid, and the server is at fault: 2 duplicate.";
    assert!(html.contains(words), "{html}");
    assert!(html.contains(r#"<th scope="row">duplicate</th>"#), "{html}");
}

#[test]
fn a_page_says_what_was_expected_and_what_of_it_failed() {
    let (server, (_folder, page)) = (honest(), place());
    run(&format!(
        "broadcast {} --step-size 5 --total-steps 1 --limit-rtt 20s --expect faults<=0 \
         --expect clients>=6 --html {}",
        url(server.addr()),
        page.display()
    ))
    .exits(2);
    let html = fs::read_to_string(&page).unwrap();
    let met = r#"<tr><th scope="row">faults&#60;=0</th><td>met</td></tr>"#;
    assert!(html.contains(met), "{html}");
    let failed = r#"<tr class="failed"><th scope="row">clients&#62;=6</th><td>failed: "#;
    assert!(html.contains(failed), "{html}");
}

#[test]
fn the_page_of_a_record_is_that_of_the_run_and_its_words_stay_words() {
    let (server, (folder, page)) = (honest(), place());
    let (plan, json) = (
        folder.path().join("plan.toml"),
        folder.path().join("run.json"),
    );
    let odd = "</title><script>alert(1)</script>";
    fs::write(&plan, format!("name = '{odd}'\nreason = '{odd}'\n")).unwrap();
    let mut command = bench();
    command.arg("run").arg(&plan).arg(url(server.addr()));
    command.args(["--set", "clients.count=1", "--set", "clients.first=5"]);
    command.arg("--html").arg(&page).arg("--json").arg(&json);
    finish(&mut command).exits(0);
    let html = fs::read_to_string(&page).unwrap();
    assert!(!html.contains("<script"), "{html}");
    let printed = run(&format!("page {}", json.display())).exits(0);
    assert_eq!(printed.stdout, html);
    let measurement = folder.path().join("measurement.json");
    let record = fs::read_to_string(&json).unwrap();
    fs::write(&measurement, format!(r#"{{"status":"ok","run":{record}}}"#)).unwrap();
    assert_eq!(
        run(&format!("page {}", measurement.display()))
            .exits(0)
            .stdout,
        html
    );
    run(&format!("page {}", plan.display()))
        .exits(1)
        .says_in_one_line(&["cannot read", "plan.toml"]);
}

#[test]
fn a_page_without_a_step_says_why() {
    let (_folder, page) = place();
    let nowhere = crate::support::no_listener();
    run(&format!(
        "connect {} --html {}",
        url(nowhere),
        page.display()
    ))
    .exits(1);
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("refused"), "{html}");
}

#[test]
fn a_record_without_an_end_is_not_read_to_it() {
    run("page /dev/zero")
        .exits(1)
        .says_in_one_line(&["cannot read /dev/zero", "longer than 64 MiB"]);
}
