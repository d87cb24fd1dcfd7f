//! A plan in a TOML file: read, changed by `--set`, pointed at a server.
//!
//! Layers, each over the one before: the file, every `--set` in its order, the URL. What is wrong is
//! told with the file, the line and the key, or with the `--set` that brought it.

mod overlay;
mod print;
mod words;

pub(crate) use overlay::Set;
pub(crate) use print::printed;

use crate::args::{self, RunArgs};
use crate::draft::{Draft, Given};
use run_record::{Io, Plan, Timestamps};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use toml::Table;

/// Longest file of a plan: one with the most source addresses is shorter.
const LONGEST: u64 = 4 << 20;

/// The text of a plan, and where it is from.
struct Source {
    /// As messages call it.
    name: String,
    text: String,
    /// What relative paths in it start from.
    folder: PathBuf,
}

/// The plan of `run`.
///
/// # Errors
/// In words, when the file cannot be read or something in it or over it is no plan.
pub(crate) fn draft(args: &RunArgs) -> Result<Draft, String> {
    let source = Source::read(&args.plan)?;
    let mut table = source.table()?;
    for set in &args.set {
        let place = set.place(&table);
        overlay::apply(&mut table, set)?;
        if let Err(error) = plan_of(&table)
            && !words::is_about_what_is_missing(&error)
        {
            return Err(words::of_set(&set.text, &place, &error));
        }
    }
    if let Some(url) = &args.url {
        overlay::put(&mut table, &["target", "url"], url.as_str().into())?;
    }
    follow_the_interval(&mut table);
    let mut plan = plan_of(&table).map_err(|error| source.misses(&error))?;
    if plan.target.url.is_empty() {
        return Err(format!(
            "{} names no server: give its URL after the file, like ws://127.0.0.1:3334/ws",
            source.name
        ));
    }
    plan.validate()
        .map_err(|error| source.places(error.field(), &error.to_string()))?;
    ws_load::check_message(&plan)
        .map_err(|error| source.places("message.definition", &error.to_string()))?;
    ws_load::check_url(&plan).map_err(|error| error.to_string())?;
    if let Some(file) = &mut plan.target.ca_file {
        *file = source.folder.join(&*file);
    }
    let given = given(&table, &plan);
    Ok(Draft { plan, given })
}

fn plan_of(table: &Table) -> Result<Plan, toml::de::Error> {
    table.clone().try_into()
}

/// A time-out of pings that is left out is the interval, as it is with flags.
fn follow_the_interval(table: &mut Table) {
    let load = table.get_mut("load").and_then(toml::Value::as_table_mut);
    let connect = load.and_then(|load| load.get_mut("connect")?.as_table_mut());
    if let Some(connect) = connect
        && let Some(interval) = connect.get("ping_interval").cloned()
    {
        connect.entry("ping_timeout").or_insert(interval);
    }
}

/// What the plan says of its generator; the rest is left to the machine.
fn given(table: &Table, plan: &Plan) -> Given {
    let has = |key| {
        let generator = table.get("generator").and_then(toml::Value::as_table);
        generator.is_some_and(|generator| generator.contains_key(key))
    };
    let of = &plan.generator;
    Given {
        threads: has("threads").then_some(of.threads),
        seed: has("seed").then_some(of.seed),
        io: match of.io {
            _ if !has("io") => args::Io::Auto,
            Io::Epoll => args::Io::Epoll,
            Io::Uring => args::Io::Uring,
        },
        timestamps: match of.timestamps {
            _ if !has("timestamps") => args::Timestamps::Auto,
            Timestamps::Kernel => args::Timestamps::Kernel,
            Timestamps::User => args::Timestamps::User,
        },
    }
}

impl Source {
    fn read(path: &Path) -> Result<Self, String> {
        let is_stdin = path == Path::new("-");
        let name = if is_stdin {
            "stdin".to_owned()
        } else {
            path.display().to_string()
        };
        let read = if is_stdin {
            bounded(io::stdin().lock())
        } else {
            File::open(path).and_then(bounded)
        };
        let text = read.map_err(|error| {
            let remedy = match error.kind() {
                io::ErrorKind::NotFound => "; workloads/ has examples, --print-plan makes one",
                io::ErrorKind::IsADirectory => "; name a file in it",
                _ => "",
            };
            format!("cannot read the plan {name}: {error}{remedy}")
        })?;
        let folder = match path.parent() {
            Some(folder) if !is_stdin => folder.to_owned(),
            _ => PathBuf::new(),
        };
        Ok(Self { name, text, folder })
    }

    /// The keys of the file, each of which a plan may have; a key that is missing may come with
    /// `--set`.
    fn table(&self) -> Result<Table, String> {
        if let Err(error) = toml::from_str::<Plan>(&self.text)
            && !words::is_about_what_is_missing(&error)
        {
            return Err(words::of_file(&self.name, &self.text, &error));
        }
        toml::from_str(&self.text).map_err(|error| words::of_file(&self.name, &self.text, &error))
    }

    /// What the file lacks, with the place where it is missing when that is in the file.
    fn misses(&self, error: &toml::de::Error) -> String {
        match toml::from_str::<Plan>(&self.text) {
            Err(of_file) => words::of_file(&self.name, &self.text, &of_file),
            Ok(_) => format!("{}: {}", self.name, words::plain(error)),
        }
    }

    /// Words about a key, with its line when the file has it.
    fn places(&self, key: &str, words: &str) -> String {
        match words::line_of(&self.text, key) {
            Some(line) => format!("{}, line {line}: {words}", self.name),
            None => format!("{}: {words}", self.name),
        }
    }
}

fn bounded(mut from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    from.by_ref().take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(io::Error::other(format!(
            "it is longer than {} MiB",
            LONGEST >> 20
        )));
    }
    Ok(text)
}
