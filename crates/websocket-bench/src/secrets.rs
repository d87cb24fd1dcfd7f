//! Secrets: read from where a plan says that they are kept, and left out of what is written.

use plan::{
    Entry, Plan, PlanError, REDACTED_VALUE, Reference, escaped_braces, redacted, redacted_url,
};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

/// Longest first line of a file with a secret, in bytes.
const LONGEST: u64 = 1 << 16;

/// A secret that cannot be had. Neither a name nor a path is in it: who gives the secret in its place has
/// given it there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretError {
    #[error("{field} for `{name}`: {source}")]
    Entry {
        field: &'static str,
        name: String,
        source: NoSecret,
    },
    #[error("{flag}: {source}")]
    Token {
        flag: &'static str,
        source: NoSecret,
    },
    /// A plan with the secret in it is none.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Why there is no secret in a place.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoSecret {
    #[error(
        "the environment variable behind `env:` is not set, or is no text; give the name of one, as in env:TOKEN, and not its value, as env:$TOKEN does"
    )]
    Variable,
    #[error(
        "cannot read the file behind `file:`: {0}; give the path of a file that holds the secret, and not the secret"
    )]
    File(io::Error),
    #[error(
        "cannot read the file: {0}; give the path of a file that holds the token on its first line, and not the token"
    )]
    TokenFile(io::Error),
    #[error("{0} holds no printable ASCII on one line")]
    Text(&'static str),
}

/// The plan with every secret in the place of its reference. It goes to the engine, and to no output.
///
/// # Errors
/// When a variable is not set or a file cannot be read, or what is there cannot stand in a handshake.
pub(crate) fn filled_in(plan: &Plan) -> Result<Plan, SecretError> {
    let mut plan = plan.clone();
    plan.connection.change_values(|entry| {
        let Some((before, reference)) = entry.reference() else {
            return Ok(None);
        };
        let secret = secret(reference).map_err(|source| of_entry(entry, source))?;
        // What is in it stands for itself.
        Ok::<_, SecretError>(Some(format!("{before}{}", escaped_braces(&secret))))
    })?;
    plan.validate()?;
    Ok(plan)
}

/// Whether the references of a plan can be printed: one that leads nowhere may be the secret itself.
///
/// # Errors
/// As of [`filled_in`], but for variables with names in capitals, as programs have them (POSIX, XBD
/// 8.1): they may be set where the plan is carried out.
pub(crate) fn check_printed(plan: &Plan) -> Result<(), SecretError> {
    let is_of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    for entry in plan.connection.entries() {
        match entry.reference() {
            Some((_, Reference::Env(name))) if name.chars().all(is_of_name) => {}
            Some((_, reference)) => {
                secret(reference).map_err(|source| of_entry(entry, source))?;
            }
            None => {}
        }
    }
    Ok(())
}

fn of_entry(entry: Entry<'_>, source: NoSecret) -> SecretError {
    SecretError::Entry {
        field: entry.field,
        name: entry.name.to_owned(),
        source,
    }
}

fn secret(reference: Reference<'_>) -> Result<String, NoSecret> {
    match reference {
        Reference::Env(name) => {
            let value = std::env::var(name).map_err(|_| NoSecret::Variable)?;
            one_line(&value, "the environment variable behind `env:`")
        }
        Reference::File(path) => {
            let text = first_line(path).map_err(NoSecret::File)?;
            one_line(&text, "the file behind `file:`")
        }
    }
}

/// Whether a file holds a token that can be shown, before any plan refers to it.
///
/// # Errors
/// With the flag and without the path, when it does not.
pub(crate) fn check_token_file(flag: &'static str, path: &Path) -> Result<(), SecretError> {
    let text = first_line(path).map_err(NoSecret::TokenFile);
    let checked = text.and_then(|text| one_line(&text, "the file"));
    checked
        .map(|_| ())
        .map_err(|source| SecretError::Token { flag, source })
}

fn one_line(text: &str, place: &'static str) -> Result<String, NoSecret> {
    let text = text.trim();
    let fits = |c: char| matches!(c, ' '..='~');
    match text.is_empty() || !text.chars().all(fits) {
        true => Err(NoSecret::Text(place)),
        false => Ok(text.to_owned()),
    }
}

fn first_line(path: &Path) -> io::Result<String> {
    let mut line = String::new();
    BufReader::new(File::open(path)?.take(LONGEST)).read_line(&mut line)?;
    Ok(line)
}

/// True when a flag with a secret is among the arguments, whose value may stand beside it in parts.
pub(crate) fn are_given(mut arguments: impl Iterator<Item = String>) -> bool {
    arguments.any(|argument| {
        let name = argument.split('=').next().unwrap_or_default();
        known(name).is_some() || FILES.contains(&name) || short_flag(&argument).is_some()
    })
}

/// Flags that name a file with a secret.
const FILES: [&str; 4] = ["--bearer-file", "--token-file", "--tls-key", "--client-key"];

/// What is said of an argument that stands where the value of such a flag may have ended.
pub(crate) const IN_QUOTES: &str =
    "put a value that contains a space in quotes, as in -H 'Authorization: Bearer env:TOKEN'";

/// Flags whose values are secret, or may have a secret in them.
const FLAGS: [&str; 7] = [
    "--header",
    "--cookie",
    "--query",
    "--subprotocol",
    "--proxy",
    "--origin",
    "--otlp",
];
/// Keys of a plan whose values are secret, or may be.
const KEYS: [&str; 6] = [
    "connection.headers",
    "connection.cookies",
    "connection.query",
    "connection.subprotocols",
    "target.proxy",
    "message.definition",
];
/// Keys of a plan whose values are URLs.
const URLS: [&str; 2] = ["target.url", "connection.origin"];

/// The command as records have it.
pub(crate) fn shown_command(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut shown = Shown::default();
    arguments.map(|argument| shown.argument(argument)).collect()
}

/// What the arguments before one say of it.
#[derive(Default)]
struct Shown {
    /// The flag whose value comes next.
    flag: Option<&'static str>,
    /// Subprotocols that were given.
    subprotocols: Vec<String>,
}

impl Shown {
    fn argument(&mut self, argument: String) -> String {
        if let Some(flag) = self.flag.take() {
            return self.value(flag, &argument);
        }
        if let Some((before, flag, value)) = short_flag(&argument) {
            if value.is_empty() {
                self.flag = Some(flag);
                return argument;
            }
            let (equals, value) = match value.strip_prefix('=') {
                Some(value) => ("=", value),
                None => ("", value),
            };
            return format!("{before}{equals}{}", self.value(flag, value));
        }
        if let Some((name, value)) = argument.split_once('=')
            && let Some(flag) = known(name)
        {
            return format!("{name}={}", self.value(flag, value));
        }
        self.flag = known(&argument);
        match is_url(&argument) {
            true => redacted_url(&argument),
            false => redacted(&argument).into_owned(),
        }
    }

    fn value(&mut self, flag: &str, value: &str) -> String {
        let plan = |change: &dyn Fn(&mut plan::Connection)| {
            let mut plan = Plan::new("ws://h/");
            change(&mut plan.connection);
            plan.redacted().connection
        };
        let of = |list: &[String]| list.last().cloned().unwrap_or_default();
        let list = vec![value.to_owned()];
        match flag {
            "--set" => shown_setting(value),
            "--proxy" | "--origin" | "--otlp" => redacted_url(value),
            "--subprotocol" => {
                self.subprotocols.push(value.to_owned());
                of(&plan(&|of| of.subprotocols.clone_from(&self.subprotocols)).subprotocols)
            }
            "--header" if value.contains(':') => {
                of(&plan(&|of| of.headers.clone_from(&list)).headers)
            }
            "--cookie" if value.contains('=') => {
                of(&plan(&|of| of.cookies.clone_from(&list)).cookies)
            }
            "--query" if value.contains('=') => of(&plan(&|of| of.query.clone_from(&list)).query),
            _ => REDACTED_VALUE.to_owned(),
        }
    }
}

fn known(name: &str) -> Option<&'static str> {
    let mut all = FLAGS.into_iter().chain(["--set"]);
    all.find(|flag| *flag == name)
}

/// `-H` or `-o`, perhaps behind `-v`: the argument up to it, the long name, and what follows it in the
/// same argument.
fn short_flag(argument: &str) -> Option<(&str, &'static str, &str)> {
    let flags = argument.strip_prefix('-')?.trim_start_matches('v');
    let flag = match flags.chars().next()? {
        'H' => "--header",
        'o' => "--origin",
        _ => return None,
    };
    let (before, value) = argument.split_at(argument.len() - flags.len() + 1);
    Some((before, flag, value))
}

fn is_url(text: &str) -> bool {
    let scheme = text.trim_start().split(':').next().unwrap_or_default();
    let known = ["ws", "wss", "http", "https"];
    known.iter().any(|of| scheme.eq_ignore_ascii_case(of))
}

fn shown_setting(setting: &str) -> String {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    let quoted = value.trim();
    let url = quoted.trim_matches(['"', '\'']);
    match () {
        () if holds_a_secret(key) => format!("{key}={REDACTED_VALUE}"),
        // What it escapes can be anything.
        () if quoted.starts_with(['"', '[', '{']) && value.contains('\\') => {
            format!("{key}={REDACTED_VALUE}")
        }
        () if URLS.contains(&plain(key).as_str()) => {
            format!("{key}={}", value.replace(url, &redacted_url(url)))
        }
        () => redacted(setting).into_owned(),
    }
}

/// A key of TOML without the blanks around its dots and without quotes.
fn plain(key: &str) -> String {
    let is_part = |c: &char| !c.is_whitespace() && !matches!(c, '"' | '\'');
    key.chars().filter(is_part).collect()
}

/// True of a key of a plan that is one of [`KEYS`], holds one or is held by one, as TOML lets it be
/// written: with blanks around its dots and in quotes. A key with an escape can be any.
fn holds_a_secret(key: &str) -> bool {
    let plain = plain(key);
    let holds = |whole: &str, part: &str| {
        let rest = part.strip_prefix(whole);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    key.contains('\\')
        || KEYS
            .iter()
            .any(|secret| holds(&plain, secret) || holds(secret, &plain))
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
            (
                &["-H=Authorization: Bearer SECRET"],
                "-H=Authorization: Bearer <redacted>",
            ),
            (
                &["-H", "Authorization: SECRET rest"],
                "-H Authorization: <redacted>",
            ),
            (&["-H", "X-Auth-Key: SECRET"], "-H X-Auth-Key: <redacted>"),
            (
                &["ws://u:a'SECRET@h/?token=a'SECRET"],
                "ws://REDACTED@h/?token=REDACTED",
            ),
            (&["WS:u:SECRET@h"], "WS:REDACTED@h"),
            (&["-vo", "http:u:SECRET@h"], "-vo http:REDACTED@h"),
            (&["--otlp=http:u:SECRET@h"], "--otlp=http:REDACTED@h"),
            (
                &["--subprotocol", "access_token", "--subprotocol=SECRET"],
                "--subprotocol access_token --subprotocol=<redacted>",
            ),
            (&["--subprotocol=bearer.SECRET"], "--subprotocol=<redacted>"),
            (
                &["--set", "target.url='ws://u:a\"SECRET@h'"],
                "--set target.url='ws://REDACTED@h'",
            ),
            (
                &["--set", "target . url=\"ws://h/?\\u0074oken=SECRET\""],
                "--set target . url=<redacted>",
            ),
            (
                &["--set", "target={url=\"ws://h/?token=a\\\"SECRET\"}"],
                "--set target=<redacted>",
            ),
            (
                &["--set", "message={definition={open={send=[\"SECRET\"]}}}"],
                "--set message=<redacted>",
            ),
            (
                &["--set", "connection={subprotocols=[\"SECRET\"]}"],
                "--set connection=<redacted>",
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
            "--subprotocol graphql-transport-ws",
            "--subprotocol bearer.{token}",
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
    fn a_reference_is_printed_that_leads_somewhere_or_may_elsewhere() {
        for (value, is_printed) in [
            ("env:PATH", true),
            ("Bearer env:NO_SUCH_VARIABLE_1", true),
            ("env:Kx82nvQ0", false),
            ("Bearer env:Kx82.nvQ0", false),
            ("file:/proc/self/comm", true),
            ("file:Kx82nvQ0", false),
            ("Kx82nvQ0", true),
        ] {
            let plan = Plan::new("ws://h/").with(|plan| {
                plan.connection.headers = vec![format!("Authorization: {value}")];
            });
            let checked = check_printed(&plan);
            assert_eq!(checked.is_ok(), is_printed, "{value}");
            assert!(!checked.is_err_and(|error| error.to_string().contains(SECRET)));
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
            let error = filled_in(&plan).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let missing = plan
            .with(|plan| plan.connection.headers = vec!["X: env:NO_SUCH_VARIABLE_1".to_owned()]);
        let words = filled_in(&missing).unwrap_err().to_string();
        assert!(
            words.contains("for `X`: the environment variable"),
            "{words}"
        );
        assert!(!words.contains("NO_SUCH_VARIABLE_1"), "{words}");
    }
}
