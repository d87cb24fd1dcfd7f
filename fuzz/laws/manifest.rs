//! Laws of `project::manifest::Manifest::parse` and `Proxy::parse` on any text.

use project::manifest::{Manifest, Problem, Proxy, RawEcho, Variant};
use std::collections::BTreeSet;
use std::path::Path;

/// The folder that the manifests of the corpus name.
const FOLDER: &str = "go-example";

type Parsed = Result<Manifest, Vec<Problem>>;

fn parse(text: &str) -> Parsed {
    Manifest::parse(text, Path::new("servers/go-example/server.toml"), FOLDER)
}

/// The text of a manifest.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let parsed = parse(text);
    match &parsed {
        Ok(manifest) => check_manifest(manifest),
        Err(problems) => check_problems(problems, text),
    }
    check_lines(&parsed, text);
    match Proxy::parse(text, Path::new("proxies/front/proxy.toml"), FOLDER) {
        Ok(proxy) => check_proxy(&proxy),
        Err(problems) => check_problems(&problems, text),
    }
}

fn check_proxy(proxy: &Proxy) {
    assert_eq!(proxy.name, FOLDER);
    assert!(!proxy.ready_timeout.is_zero() && !proxy.grace.is_zero());
    assert!(!proxy.command.is_empty() && !proxy.receipt.command.is_empty());
    assert!(proxy.receipt.matches.captures_len() > 1);
    let files = [Some(&proxy.config), proxy.tls_config.as_ref()];
    for name in files.into_iter().flatten() {
        assert!(!name.is_empty() && !name.contains('/'), "{name:?}");
    }
}

/// What is run or asked of a manifest that parses is there.
fn check_manifest(manifest: &Manifest) {
    assert_eq!(manifest.name, FOLDER);
    assert!(!manifest.ready_timeout.is_zero() && !manifest.grace.is_zero());
    assert_ne!(manifest.step_size, Some(0));
    assert!(manifest.old_because.is_none() || manifest.released.is_some());
    for step in &manifest.build {
        assert!(!step.run.is_empty());
    }
    for requirement in &manifest.requires {
        assert!(!requirement.probe.is_empty());
    }
    assert!(!manifest.variants.is_empty());
    let names: BTreeSet<&str> = manifest.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names.len(), manifest.variants.len(), "{names:?}");
    for variant in &manifest.variants {
        check_variant(variant);
        let found = manifest.variant(&variant.name);
        assert_eq!(format!("{found:?}"), format!("{:?}", Some(variant)));
    }
    if let Some(RawEcho::Modes(modes)) = &manifest.raw_echo {
        assert!(!modes.is_empty());
        modes.iter().for_each(check_variant);
    }
    for waiver in &manifest.waivers {
        assert!(!waiver.reason.trim().is_empty());
        let covered = names.iter().any(|name| waiver.covers(&waiver.check, name));
        assert!(covered, "{waiver:?}");
    }
}

fn check_variant(variant: &Variant) {
    assert!(!variant.command.is_empty() && !variant.receipt.command.is_empty());
    assert!(variant.path.starts_with('/') && !variant.path.contains(char::is_whitespace));
    assert!(!variant.dialects.is_empty() && !variant.workloads.is_empty());
    // The version is what the first group matched.
    assert!(variant.receipt.matches.captures_len() > 1);
    if let Some(runtime) = &variant.runtime {
        assert!(!runtime.name.trim().is_empty() && !runtime.receipt.command.is_empty());
        assert!(runtime.receipt.matches.captures_len() > 1);
    }
    for service in &variant.services {
        assert!(!service.command.is_empty() && !service.ready_timeout.is_zero());
        assert!(service.variants.covers(&variant.name));
    }
    assert!(variant.nodes.is_none_or(|nodes| (2..=16).contains(&nodes)));
    assert!(variant.claim.is_none() || variant.nodes.is_some());
    assert!(
        variant
            .services
            .iter()
            .filter(|service| service.broker)
            .count()
            <= 1
    );
    let words = variant.command.iter().chain(variant.env.values());
    let of_services = variant.services.iter().flat_map(|service| &service.command);
    for word in words.chain(of_services) {
        for service in word.split("{service:").skip(1) {
            let named = service.split(['{', '}']).next().unwrap_or_default();
            let closed = service[named.len()..].starts_with('}');
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if closed && !named.is_empty() && named.chars().all(is_name) {
                let there = variant.services.iter().any(|service| service.name == named);
                let shell = word.contains("${service:");
                assert!(there || shell, "{{service:{named}}} of {word:?}");
            }
        }
    }
}

/// Each problem says where it is, by a place within the text or by the key that is missing.
fn check_problems(problems: &[Problem], text: &str) {
    assert!(!problems.is_empty());
    let lines: Vec<&str> = text.split('\n').collect();
    for problem in problems {
        assert!(!problem.message.trim().is_empty(), "{problem:?}");
        match problem.place {
            Some((line, column)) => {
                assert!((1..=lines.len()).contains(&line), "{problem:?}");
                let longest = lines[line - 1].chars().count() + 1;
                assert!((1..=longest).contains(&column), "{problem:?}");
            }
            None => assert!(problem.message.contains('"'), "{problem:?}"),
        }
    }
}

/// A comment behind the text changes nothing, and one before it moves the places by a line.
fn check_lines(parsed: &Parsed, text: &str) {
    // What is not complete may swallow a line break.
    if parsed.as_ref().is_err_and(|problems| problems.len() == 1) {
        return;
    }
    let behind = parse(&format!("{text}\n# a comment\n"));
    assert_eq!(format!("{behind:?}"), format!("{parsed:?}"));
    // A byte order mark is one only at the beginning.
    if text.starts_with('\u{feff}') {
        return;
    }
    let before = parse(&format!("# a comment\n{text}"));
    match (before, parsed) {
        (Ok(moved), Ok(manifest)) => assert_eq!(format!("{moved:?}"), format!("{manifest:?}")),
        (Err(moved), Err(problems)) => {
            let of = |problem: &Problem| problem.place.map(|(line, column)| (line + 1, column));
            let there: Vec<_> = problems.iter().map(of).collect();
            let places: Vec<_> = moved.iter().map(|problem| problem.place).collect();
            assert_eq!(places, there);
        }
        (moved, _) => panic!("{moved:?} behind a comment, {parsed:?} without"),
    }
}
