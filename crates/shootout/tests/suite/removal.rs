//! A server is one folder: without it everything else is as before, and nothing names it.

use board::servers_table::Page;
use ignore::WalkBuilder;
use project::{Project, ServerFolder};
use serde_json::Value;
use shootout::options::RunOptions;
use shootout::rows::{Row, Ways, plan};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::canonicalize(root).unwrap()
}

fn folders() -> Vec<String> {
    let listing = fs::read_dir(repository().join("servers")).unwrap();
    let mut names: Vec<String> = listing
        .map(|entry| entry.unwrap().path())
        .filter(|dir| dir.join("server.toml").is_file())
        .map(|dir| dir.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 2, "{names:?}");
    names
}

/// A project with the servers of the repository but `without`.
fn farm(without: Option<&str>) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("servers")).unwrap();
    for name in folders()
        .iter()
        .filter(|name| Some(name.as_str()) != without)
    {
        let from = repository().join("servers").join(name);
        symlink(from, dir.path().join("servers").join(name)).unwrap();
    }
    dir
}

/// What is known of each server (its folder apart, which is elsewhere), and the rows of a full run.
fn known(farm: &TempDir) -> (Vec<(String, String)>, Vec<String>) {
    let project = Project::find(Some(farm.path())).unwrap();
    let entries: Vec<ServerFolder> = project.servers().unwrap();
    let rows = plan(&entries, &Ways::default(), &RunOptions::default()).unwrap();
    let manifests = entries
        .iter()
        .map(|entry| (entry.name.clone(), format!("{:?}", entry.manifest)))
        .collect();
    (manifests, rows.rows.iter().map(Row::file_name).collect())
}

fn listed(farm: &TempDir) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_shootout"))
        .arg("--root")
        .arg(farm.path())
        .args(["list", "--json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn without_one_the_others_are_listed_and_planned_as_before() {
    let all = farm(None);
    let ((manifests, rows), list) = (known(&all), listed(&all));
    for name in folders() {
        let farm = farm(Some(&name));
        let (others, left) = known(&farm);
        let expected: Vec<_> = manifests
            .iter()
            .filter(|(other, _)| *other != name)
            .collect();
        assert_eq!(
            others.iter().collect::<Vec<_>>(),
            expected,
            "without {name}"
        );
        let own = format!("{name}.");
        let expected: Vec<_> = rows.iter().filter(|row| !row.starts_with(&own)).collect();
        assert_eq!(left.iter().collect::<Vec<_>>(), expected, "without {name}");
        let expected: Vec<_> = list.iter().filter(|one| one["name"] != name).collect();
        assert_eq!(listed(&farm).iter().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_folder_that_goes_leaves_one_line_behind_and_one_that_comes_is_told_by_its_name() {
    let farm = farm(None);
    let page = "servers/README.md";
    fs::copy(repository().join(page), farm.path().join(page)).unwrap();
    let servers = || Project::find(Some(farm.path())).unwrap().servers().unwrap();
    let all = servers();
    // What differs between the table and these servers, and which of them it does not have.
    let compared = |servers: &[ServerFolder]| {
        let page = Page::new(farm.path()).unwrap().unwrap();
        let found = page.compared(servers).unwrap();
        (found.drift, found.unknown)
    };
    let written = |servers: &[ServerFolder]| {
        let page = Page::new(farm.path()).unwrap().unwrap();
        page.write(servers).unwrap();
        fs::read_to_string(page.path()).unwrap()
    };
    let whole = written(&all);
    assert_eq!(compared(&all), (vec![], vec![]));
    for name in folders() {
        let folder = farm.path().join("servers").join(&name);
        fs::remove_file(&folder).unwrap();
        let others = servers();
        let gone = format!("{name}: {page} has a line of no server");
        assert_eq!(compared(&others), (vec![gone], vec![]));
        let without = written(&others);
        assert_eq!(whole.lines().count(), without.lines().count() + 1);
        assert_eq!(compared(&others), (vec![], vec![]));
        symlink(repository().join("servers").join(&name), &folder).unwrap();
        assert_eq!(compared(&all), (vec![], vec![name]));
        assert_eq!(written(&all), whole);
    }
}

/// The text files of a folder that git would keep.
fn texts(dir: &Path) -> Vec<(PathBuf, String)> {
    WalkBuilder::new(dir)
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(|entry| {
            let text = fs::read_to_string(entry.path()).ok()?;
            Some((entry.into_path(), text))
        })
        .collect()
}

/// True when `name` stands in `text` and is no part of a longer name.
fn names(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(part) && !text[at + name.len()..].starts_with(part))
}

/// The places that `text`, a file in the folder `from`, leads to by `../`.
fn leads_to(text: &str, from: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("../") {
        let chain = &rest[at..];
        let steps = chain
            .as_bytes()
            .chunks(3)
            .take_while(|c| *c == b"../")
            .count();
        rest = &chain[3 * steps..];
        let word = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        let name = rest.split(|c| !word(c)).next().unwrap_or_default();
        if let (Some(above), false) = (from.ancestors().nth(steps), name.is_empty()) {
            places.push(above.join(name));
        }
    }
    places
}

#[test]
fn what_counts_as_a_name_and_as_a_way_out() {
    assert!(names("bin/x servers/go-example/x", "go-example"));
    assert!(!names("bin/go-example-server my-go-example", "go-example"));
    assert_eq!(
        leads_to("a ../b ../../c/d ../$(X) ...", Path::new("/p/servers/x")),
        [Path::new("/p/servers/b"), Path::new("/p/c")]
    );
}

/// Prose may name servers, and so does the conformance table, which is generated; programs, scripts
/// and their configuration may not.
#[test]
fn nothing_outside_its_folder_names_a_server() {
    let folders = folders();
    let root = repository();
    let prose = |path: &Path| {
        path.extension().is_some_and(|kind| kind == "md")
            || path.ends_with("docs/conformance.jsonl")
    };
    let apart = |path: &Path| {
        let below = path.strip_prefix(&root).unwrap();
        ["servers", "results", "target", "bin"]
            .iter()
            .any(|dir| below.starts_with(dir))
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(&root).unwrap() {
        let path = entry.unwrap().path();
        if apart(&path) || path.ends_with(".git") {
            continue;
        }
        for (file, text) in texts(&path).iter().filter(|(file, _)| !prose(file)) {
            let named = folders.iter().filter(|name| names(text, name));
            found.extend(named.map(|name| format!("{}: {name}", file.display())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_server_uses_anything_outside_its_folder() {
    let folders = folders();
    let bin = repository().join("bin");
    let mut found = Vec::new();
    for folder in &folders {
        let dir = repository().join("servers").join(folder);
        for (file, text) in texts(&dir) {
            // A README may lead its reader to the project's documentation, and a build by hand
            // puts its outputs where the others do.
            let prose = file.extension().is_some_and(|kind| kind == "md");
            let outside = |place: &PathBuf| {
                place.exists() && !place.starts_with(&dir) && !place.starts_with(&bin)
            };
            for place in leads_to(&text, file.parent().unwrap()) {
                if !prose && outside(&place) {
                    found.push(format!("{}: uses {}", file.display(), place.display()));
                }
            }
            for other in folders.iter().filter(|other| *other != folder) {
                for path in [format!("../{other}"), format!("servers/{other}")] {
                    if names(&text, &path) {
                        found.push(format!("{}: {path}", file.display()));
                    }
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
