//! A project with results of its own, and the site that is made of it.

use crate::fixture::{measured, repeated, unmeasured, waived};
use crate::fixture_under::{plans, under};
use crate::fixture_watched::{Fails, failing, plan as dying_node};
use board::site::{self, Sources};
use project::Project;
use record::{End, Json, Measurement, Status};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A site that all tests read, and a folder of the test's own. Both stay until the tests are run again.
pub(crate) struct Made {
    pub(crate) scratch: PathBuf,
    pub(crate) out: PathBuf,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Made {
    /// For the test `name`.
    pub(crate) fn new(name: &str) -> Self {
        static SITE: LazyLock<PathBuf> = LazyLock::new(made);
        let scratch = emptied(&format!("site-{name}"));
        fs::create_dir_all(&scratch).unwrap();
        let out = SITE.clone();
        Self { scratch, out }
    }
}

/// Where a folder of that name is, which is removed.
fn emptied(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// The site of two rounds of a machine and one of another.
fn made() -> PathBuf {
    let scratch = emptied("site");
    let project = project(&scratch);
    let results = scratch.join("project/results");
    round(&results, "2026-03", "2026-03-02", 0, |_| {});
    round(&results, "2026-02", "2026-02-02", 700, |_| {});
    round(&results, "2026-01", "2026-01-02", 900, |one| {
        if let Some(run) = &mut one.run {
            run.environment.kernel = "Linux 8.8.8-other".into();
        }
    });
    let out = scratch.join("site");
    let sources = Sources {
        project: &project,
        results: &results,
    };
    site::write(&sources, &out).unwrap();
    out
}

/// A project with the workloads and documents of this one, and servers of its own.
pub(crate) fn project(scratch: &Path) -> Project {
    let made = scratch.join("project");
    let copy = |from: &str| {
        let (from, to) = (root().join(from), made.join(from));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    };
    for file in ["METHODOLOGY.md", "docs/adding-a-server.md"] {
        copy(file);
    }
    for folder in ["workloads", "results/2016"] {
        for file in fs::read_dir(root().join(folder)).unwrap() {
            let name = file.unwrap().file_name();
            copy(&format!("{folder}/{}", name.to_str().unwrap()));
        }
    }
    for (name, language, more) in [
        ("go-quick", "Go", "in-2016 = [\"Go / Gorilla\"]"),
        ("rust-steady", "Rust", ""),
        ("js-slow", "JavaScript", ""),
        ("bare-fanout", "Go", "role = \"ceiling\""),
    ] {
        let folder = made.join("servers").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("server.toml"), manifest(name, language, more)).unwrap();
    }
    let line = |server: &str, waived: &str| {
        format!(
            "{{\"server\":\"{server}\",\"variant\":\"default\",\"place\":0,\"library\":\"lib\",\"version\":\"1.2.3\",\
             \"date\":\"2026-03-01\",\"passed\":[\"protocol-echo\"],\"waived\":[{waived}],\"failed\":[],\"skipped\":[]}}\n"
        )
    };
    let waived = "{\"check\":\"protocol-churn\",\"reason\":\"The library drops it.\",\"link\":\"https://example.org/why\"}";
    fs::write(
        made.join("docs/conformance.jsonl"),
        line("go-quick", "") + &line("js-slow", waived),
    )
    .unwrap();
    Project::find(Some(&made)).unwrap()
}

fn manifest(name: &str, language: &str, more: &str) -> String {
    format!(
        "manifest = 1\nname = \"{name}\"\nlanguage = \"{language}\"\nlibrary = \"lib {name}\"\n\
         homepage = \"https://example.org/{name}\"\nclass = \"idiomatic\"\nsummary = \"How {name} does it.\"\njson = \"tree\"\n{more}\n\
         [run]\ncommand = [\"{{bin}}/{name}\", \"{{port}}\"]\npath = \"/ws\"\n\
         [version]\ncommand = [\"{{bin}}/{name}\", \"--version\"]\nmatches = '(\\S+)'\n\
         [supports]\ndialects = [\"text\"]\nworkloads = [\"echo\", \"broadcast\", \"rooms\"]\n"
    )
}

/// A round: four servers under every workload, one that failed and one that does not apply.
pub(crate) fn round(
    results: &Path,
    name: &str,
    day: &str,
    slower_us: u64,
    change: impl Fn(&mut Measurement),
) {
    let dir = results.join(name);
    fs::create_dir_all(&dir).unwrap();
    let mut all = Vec::new();
    for plan in plans() {
        for (server, language, us) in [
            ("go-quick", "Go", 4_500),
            ("rust-steady", "Rust", 6_001),
            ("js-slow", "JavaScript", 9_000),
            ("bare-fanout", "Go", 1_200),
        ] {
            for repetition in 1..=4 {
                let us = us + slower_us + u64::from(repetition) * 50;
                let mut one = repeated(under(&plan, server, us), repetition);
                one.server.language = language.into();
                all.push(one);
            }
        }
        for (server, status) in [
            ("c-broken", Status::Faulty),
            ("d-other", Status::NotApplicable),
        ] {
            let mut one = unmeasured(server, status, "faults: 3 lost");
            one.workload = plan.workload();
            one.workload_name.clone_from(&plan.name);
            one.server.language = "C".into();
            all.push(one);
        }
    }
    for (server, language, fails) in [
        ("go-quick", "Go", Fails::Resuming),
        ("rust-steady", "Rust", Fails::Cutting),
        ("js-slow", "JavaScript", Fails::Silently),
    ] {
        for repetition in 1..=2 {
            let us = 6_000 + u64::from(repetition) * 50;
            let one = failing(&dying_node(), server, fails, us);
            let mut one = repeated(one, repetition);
            one.server.language = language.into();
            all.push(one);
        }
    }
    all.push(waived(
        measured("only-once", 5, 18_000, End::OverLimit),
        "close-echo",
        "no code",
    ));
    for (number, mut one) in all.into_iter().enumerate() {
        one.started = format!("{day}T03:04:05Z");
        change(&mut one);
        fs::write(dir.join(format!("{number}.json")), one.to_json().unwrap()).unwrap();
    }
}

/// Every page of a site, in order.
pub(crate) fn pages(out: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![out.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|ending| ending == "html") => {
                    found.push(path)
                }
                false => {}
            }
        }
    }
    found.sort();
    assert!(found.len() > 25, "{} pages", found.len());
    found
}
