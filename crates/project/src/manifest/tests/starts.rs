//! What is given per variant: needs, versions, services, the raw echo; and the steps.

use super::*;

/// The example with a service, scopes, a raw echo mode and small steps.
fn rich() -> String {
    GOOD.replace(
        "debian = [\"dash\"]",
        "debian = [\"dash\"]\nvariants = [\"clustered\"]",
    )
    .replace(
        "args = [\"--cluster\"]",
        "args = [\"--cluster\", \"{host}:{service:store}\"]\n\
             version = { command = [\"{bin}/y\"], matches = '(y.*)' }",
    ) + r#"
[[service]]
name = "store"
variants = ["clustered"]
command = ["store", "--port", "{service:store}"]
ready-timeout = "4s"

[raw-echo]
args = ["--raw-echo"]
path = "/raw"
variants = ["clustered"]

[load]
step-size = 100
"#
}

/// The only problem of the rich example with `old` replaced by `new`.
fn rich_problem(old: &str, new: &str) -> String {
    only_problem(&rich(), old, new)
}

#[test]
fn variants_have_their_own_needs_versions_and_services() {
    let manifest = parse(&rich()).unwrap();
    let (single, clustered) = (&manifest.variants[0], &manifest.variants[1]);
    assert!(!single.tls && !clustered.tls);
    let needed = &manifest.requires[0].variants;
    assert!(needed.covers("clustered") && !needed.covers("single"));
    assert!(manifest.build[0].variants.covers("single"));
    assert_eq!(single.receipt.command, ["{bin}/x", "-version"]);
    assert_eq!(clustered.receipt.command, ["{bin}/y"]);
    assert!(single.services.is_empty());
    assert_eq!(clustered.services[0].name, "store");
    assert_eq!(clustered.services[0].ready_timeout, Duration::from_secs(4));
    assert!(clustered.services[0].receipt.is_none());
    assert_eq!(manifest.step_size, Some(100));
}

#[test]
fn a_service_may_tell_its_version() {
    let told = rich().replace(
        "ready-timeout = \"4s\"",
        "version = { command = [\"store\", \"-v\"], matches = 'v=(\\S+)' }",
    );
    let manifest = parse(&told).unwrap();
    let receipt = manifest.variants[1].services[0].receipt.as_ref().unwrap();
    assert_eq!(receipt.command, ["store", "-v"]);
    let told = receipt.matches.captures("store v=7.0.15 bits=64").unwrap();
    assert_eq!(&told[1], "7.0.15");
    let groupless = rich_problem(
        "ready-timeout = \"4s\"",
        "version = { command = [\"store\", \"-v\"], matches = 'v' }",
    );
    assert!(groupless.contains("group 1 is the version"), "{groupless}");
}

#[test]
fn the_raw_echo_is_ready_to_be_started() {
    let modes = |text: &str| match parse(text).unwrap().raw_echo {
        Some(RawEcho::Modes(modes)) => modes,
        other => panic!("{other:?}"),
    };
    let rich = rich();
    let named = modes(&rich);
    assert_eq!(named.len(), 1);
    assert_eq!(named[0].name, "clustered");
    assert_eq!(named[0].command.last().unwrap(), "--raw-echo");
    assert_eq!(named[0].command.len(), 6);
    assert_eq!((named[0].path.as_str(), named[0].env.len()), ("/raw", 2));
    assert_eq!(named[0].services.len(), 1);
    assert_eq!(named[0].dialects, [Dialect::Text, Dialect::Binary]);

    // Not chosen: the first, and one that compresses, since it frames in its own way.
    let without = rich.replace("path = \"/raw\"\nvariants = [\"clustered\"]\n", "");
    let names = |text: &str| -> Vec<String> {
        let names = modes(text).into_iter().map(|mode| mode.name);
        names.collect()
    };
    assert!(without.contains("compression = true"), "{without}");
    assert_eq!(names(&without), ["single", "clustered"]);
    assert_eq!(
        names(&without.replace("compression = true", "")),
        ["single"]
    );
    assert_eq!(modes(&without)[0].path, "/ws");
    // Another program is no mode of the variant that compresses.
    let replaced = without.replace("args = [\"--raw-echo\"]", "command = [\"{bin}/raw\"]");
    assert_eq!(modes(&replaced)[0].command, ["{bin}/raw"]);
    assert_eq!(names(&replaced), ["single"]);

    let none = format!("{GOOD}\n[raw-echo]\nnone = \"it speaks Phoenix only\"\n");
    assert!(matches!(
        parse(&none).unwrap().raw_echo,
        Some(RawEcho::None(reason)) if reason == "it speaks Phoenix only"
    ));
    assert!(parse(GOOD).unwrap().raw_echo.is_none());
}

#[test]
fn wrong_scopes_services_and_modes_name_their_place() {
    for (old, new, expected) in [
        (
            "variants = [\"clustered\"]\n\n[[build]]",
            "variants = [\"cluster\"]\n\n[[build]]",
            "14:13: unknown variant \"cluster\"; did you mean \"clustered\"?",
        ),
        (
            "run = [\"make\"",
            "variants = []\nrun = [\"make\"",
            "17:12: no variant is named: name at least one, or leave the key out for all",
        ),
        (
            "matches = '(y.*)'",
            "matches = 'y'",
            "39:46: group 1 is the version",
        ),
        (
            "{host}:{service:store}",
            "{host}:{service:stroe}",
            "38:22: unknown service \"stroe\"; did you mean \"store\"?",
        ),
        (
            "\"-p\", \"{port}\"",
            "\"-p\", \"{port}\", \"{service:store}\"",
            "34:8: the variant \"single\" uses {service:store}, but that service is not for it",
        ),
        (
            "OUT={bin}/x",
            "OUT={service:store}",
            "17:31: {service:store} has no value before the server is started",
        ),
        (
            "\"--port\", \"{service:store}\"",
            "\"--port\"",
            "48:11: the service is not told its port: give it {service:store}",
        ),
        (
            "\"--port\", \"{service:store}\"",
            "\"{port}\", \"{service:store}\"",
            "48:21: {port} is the server's and not known to a service",
        ),
        (
            "ready-timeout = \"4s\"",
            "redy-timeout = \"4s\"",
            "49:1: unknown key \"redy-timeout\"; did you mean \"ready-timeout\"?",
        ),
        (
            "step-size = 100",
            "step-size = 0",
            "57:13: a step adds at least one client",
        ),
        (
            "step-size = 100",
            "step = 100",
            "57:1: unknown key \"step\"; did you mean \"step-size\"?",
        ),
        (
            "path = \"/raw\"",
            "none = \"no\"",
            "53:8: \"none\" says that there is no such mode: give it alone",
        ),
        (
            "args = [\"--raw-echo\"]\npath = \"/raw\"\n",
            "",
            "51:1: nothing says how to start the raw echo",
        ),
        (
            "path = \"/raw\"",
            "command = [\"x\"]",
            "52:8: \"args\" are appended to run.command",
        ),
    ] {
        let found = rich_problem(old, new);
        assert!(found.starts_with(expected), "{new}: {found}");
    }
    let twice = format!(
        "{}\n[[service]]\nname = \"store\"\ncommand = [\"{{service:store}}\"]\n",
        rich()
    );
    assert!(parse(&twice).unwrap_err()[0].contains("a second service named \"store\""));
    let capital = rich().replace("store", "Store");
    assert!(parse(&capital).unwrap_err()[0].contains("\"Store\" is no service name"));
    let none = GOOD.replace("\"{port}\"", "\"{service:store}\"");
    assert!(parse(&none).unwrap_err()[0].contains("; no [[service]] is declared"));
}

#[test]
fn a_variant_with_tls_is_told_its_certificate_and_no_other_is() {
    let args = "args = [\"--cluster\", \"{host}:{service:store}\"]";
    let with = |tls: &str, words: &str| rich().replace(args, &format!("{tls}args = [{words}]"));
    let told = "\"{service:store}\", \"{cert}\", \"{key}\"";
    let manifest = parse(&with("tls = true\n", told)).unwrap();
    assert!(!manifest.variants[0].tls && manifest.variants[1].tls);
    for (tls, words, problem) in [
        (
            "tls = true\n",
            "\"{cert}\"",
            "has \"tls = true\" and is not told {key}",
        ),
        ("", "\"{key}\"", "has no \"tls = true\" and asks for {key}"),
    ] {
        let problems = parse(&with(tls, words)).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(problem), "{problems:?}");
    }
    let early = problem("-version\"]", "-version\", \"{cert}\"]");
    assert!(
        early.contains("{cert} has no value before the server is started"),
        "{early}"
    );
}
