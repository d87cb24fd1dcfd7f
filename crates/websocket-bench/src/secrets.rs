//! Secrets: read from where a plan says that they are kept, and left out of what is written.

use run_record::{Plan, REDACTED_VALUE, Reference, escaped_braces, redacted};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

/// Longest first line of a file with a secret, in bytes.
const LONGEST: u64 = 1 << 16;

/// The plan with every secret in the place of its reference. It goes to the engine, and to no output.
///
/// # Errors
/// In words, when a variable is not set or a file cannot be read, or what is there cannot stand in a
/// handshake.
pub(crate) fn filled_in(plan: &Plan) -> Result<Plan, String> {
    let mut plan = plan.clone();
    plan.connection.change_values(|entry| {
        let Some((before, reference)) = entry.reference() else {
            return Ok(None);
        };
        let secret = secret(reference)
            .map_err(|why| format!("{} for `{}`: {why}", entry.field, entry.name))?;
        // What is in it stands for itself.
        Ok::<_, String>(Some(format!("{before}{}", escaped_braces(&secret))))
    })?;
    plan.validate().map_err(|error| error.to_string())?;
    Ok(plan)
}

fn secret(reference: Reference<'_>) -> Result<String, String> {
    let (text, place) = match reference {
        Reference::Env(name) => {
            let value = std::env::var(name).map_err(|_| {
                format!("the environment variable {name} is not set, or is no text")
            })?;
            (value, format!("the environment variable {name}"))
        }
        Reference::File(path) => {
            let text = first_line(path)
                .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            (text, path.display().to_string())
        }
    };
    let text = text.trim();
    let fits = |c: char| matches!(c, ' '..='~');
    match text.is_empty() || !text.chars().all(fits) {
        true => Err(format!("{place} holds no printable ASCII on one line")),
        false => Ok(text.to_owned()),
    }
}

fn first_line(path: &Path) -> std::io::Result<String> {
    let mut line = String::new();
    BufReader::new(File::open(path)?.take(LONGEST)).read_line(&mut line)?;
    Ok(line)
}

/// Flags whose values are secret, or may be.
const FLAGS: [&str; 3] = ["--header", "--cookie", "--query"];
/// Keys of a plan whose values are secret, or may be.
const KEYS: [&str; 4] = [
    "connection.headers",
    "connection.cookies",
    "connection.query",
    "target.proxy",
];

/// The command as records have it.
pub(crate) fn shown_command(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut flag: Option<String> = None;
    arguments
        .map(|argument| {
            if let Some(flag) = flag.take() {
                return shown_value(&flag, &argument);
            }
            if let Some((before, header)) = short_header(&argument) {
                if header.is_empty() {
                    flag = Some("--header".to_owned());
                    return argument;
                }
                return format!("{before}{}", shown_value("--header", header));
            }
            match argument.split_once('=') {
                Some((name, value)) if is_secret(name) => {
                    format!("{name}={}", shown_value(name, value))
                }
                _ => {
                    if is_secret(&argument) {
                        flag = Some(argument.clone());
                    }
                    redacted(&argument).into_owned()
                }
            }
        })
        .collect()
}

fn is_secret(name: &str) -> bool {
    name == "--set" || FLAGS.contains(&name)
}

/// `-H`, perhaps behind `-v`, and what follows it in the same argument.
fn short_header(argument: &str) -> Option<(&str, &str)> {
    let (before, header) = argument.split_once('H')?;
    let flags = before.strip_prefix('-')?;
    let is_short = flags.chars().all(|c| c == 'v');
    is_short.then(|| (&argument[..=before.len()], header))
}

fn shown_value(flag: &str, value: &str) -> String {
    let plan = |change: &dyn Fn(&mut run_record::Connection)| {
        let mut plan = Plan::new("ws://h/");
        change(&mut plan.connection);
        plan.redacted().connection
    };
    let of = |list: &[String]| list.first().cloned().unwrap_or_default();
    let list = vec![value.to_owned()];
    match flag {
        "--set" => return shown_setting(value),
        "--header" if !value.contains(':') => {}
        "--header" => return of(&plan(&|of| of.headers.clone_from(&list)).headers),
        _ if !value.contains('=') => {}
        "--cookie" => return of(&plan(&|of| of.cookies.clone_from(&list)).cookies),
        _ => return of(&plan(&|of| of.query.clone_from(&list)).query),
    }
    REDACTED_VALUE.to_owned()
}

fn shown_setting(setting: &str) -> String {
    let (key, _) = setting.split_once('=').unwrap_or((setting, ""));
    match holds_a_secret(key) {
        true => format!("{key}={REDACTED_VALUE}"),
        false => redacted(setting).into_owned(),
    }
}

/// True of a key of a plan that is one of [`KEYS`], holds one or is held by one, as TOML lets it be
/// written: with blanks around its dots and in quotes. A key with an escape can be any.
fn holds_a_secret(key: &str) -> bool {
    let is_part = |c: &char| !c.is_whitespace() && !matches!(c, '"' | '\'');
    let plain: String = key.chars().filter(is_part).collect();
    let holds = |whole: &str, part: &str| {
        let rest = part.strip_prefix(whole);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    key.contains('\\')
        || KEYS
            .iter()
            .any(|secret| holds(&plain, secret) || holds(secret, &plain))
}

/// True of the text of an argument that may hold a secret, as `--set` gives it.
pub(crate) fn is_secret_setting(text: &str) -> bool {
    shown_setting(text).ends_with(REDACTED_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "Kx82nvQ0";

    fn shown(arguments: &[&str]) -> String {
        let all = arguments.iter().map(|text| text.replace("SECRET", SECRET));
        let shown = shown_command(all).join(" ");
        assert!(!shown.contains(SECRET), "{shown}");
        shown
    }

    #[test]
    fn no_way_to_give_a_secret_is_in_the_command_of_a_record() {
        for (arguments, words) in [
            (
                &["-H", "Authorization: Bearer SECRET", "x"][..],
                "-H Authorization: Bearer <redacted> x",
            ),
            (&["-HAuthorization: SECRET"], "-HAuthorization: <redacted>"),
            (&["-vHCookie: a=SECRET"], "-vHCookie: <redacted>"),
            (&["-vH", "Cookie: a=SECRET"], "-vH Cookie: <redacted>"),
            (
                &["--header", "X-Api-Key:SECRET"],
                "--header X-Api-Key: <redacted>",
            ),
            (&["--header=SECRET"], "--header=<redacted>"),
            (&["--cookie", "a=SECRET", "-v"], "--cookie a=<redacted> -v"),
            (&["--cookie=SECRET"], "--cookie=<redacted>"),
            (&["--query=room=SECRET"], "--query=room=<redacted>"),
            (
                &["--set", "connection.headers=[\"X: SECRET\"]"],
                "--set connection.headers=<redacted>",
            ),
            (
                &["--set=connection.cookies=SECRET"],
                "--set=connection.cookies=<redacted>",
            ),
            (
                &["--set", "connection={headers=[\"X: SECRET\"]}"],
                "--set connection=<redacted>",
            ),
            (
                &["--set", "connection . headers = [\"X: SECRET\"]"],
                "--set connection . headers =<redacted>",
            ),
            (
                &["--set", "'connection'.\"query\"=SECRET"],
                "--set 'connection'.\"query\"=<redacted>",
            ),
            (
                &["--set", "\"\\u0063onnection\".query=SECRET"],
                "--set \"\\u0063onnection\".query=<redacted>",
            ),
            (
                &["--proxy", "http://u:SECRET@h:1"],
                "--proxy http://REDACTED@h:1",
            ),
            (
                &["--proxy=http://SECRET@h:1"],
                "--proxy=http://REDACTED@h:1",
            ),
        ] {
            assert_eq!(shown(arguments), words);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "-H X-Tenant: blue",
            "-H Authorization: Bearer env:TOKEN",
            "--cookie s={token}",
            "--set load.rate=5 -o http://Host/ -l 127.0.0.1",
        ] {
            let arguments: Vec<&str> = match text.split_once(' ') {
                Some((flag, value)) if !text.contains("--set") => vec![flag, value],
                _ => text.split(' ').collect(),
            };
            assert_eq!(shown(&arguments), text);
        }
    }

    #[test]
    fn a_secret_is_read_from_its_place_and_stands_for_itself() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "to{ken}\nsecond line\n").unwrap();
        let plan = Plan::new("ws://h/").with(|plan| {
            plan.connection.headers = vec![format!(
                "Authorization: Bearer file:{}",
                file.path().display()
            )];
        });
        assert_eq!(
            filled_in(&plan).unwrap().connection.headers,
            ["Authorization: Bearer to{{ken}"]
        );
        for (content, words) in [
            ("\n", "no printable ASCII"),
            ("a\x07b", "no printable ASCII"),
        ] {
            std::fs::write(file.path(), content).unwrap();
            assert!(filled_in(&plan).unwrap_err().contains(words));
        }
        let missing = plan
            .with(|plan| plan.connection.headers = vec!["X: env:NO_SUCH_VARIABLE_1".to_owned()]);
        assert!(
            filled_in(&missing)
                .unwrap_err()
                .contains("NO_SUCH_VARIABLE_1 is not set")
        );
    }
}
