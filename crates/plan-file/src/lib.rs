//! A plan in a TOML file: read, changed by `--set KEY=VALUE`, written.
//!
//! Layers, each over the one before: the file, every `--set` in its order, what the program adds.
//! What is wrong is told with the file, the line and the key, or with the `--set` that brought it.
//! Connects to nothing, and does not know what a program makes of the plan.

mod dialect;
mod error;
mod overlay;
mod print;
mod text;
mod words;

pub use dialect::read_dialect;
pub use error::{FilePlace, NoKeys, PlanFileError, SetError};
pub use overlay::{Set, shown_key};
pub use print::{Given, printed};

use plan::Plan;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use text::bounded;
use toml::{Table, Value};

/// Longest file of a plan in bytes: one with the longest dialect, or with the most source addresses, is
/// shorter.
const LONGEST: u64 = 8 << 20;

/// The key of the dialect.
const DIALECT: &str = "message.dialect";

/// A plan as its keys, of which some may be missing until they are set.
#[derive(Clone, Debug)]
pub struct PlanFile {
    /// As messages call it.
    name: String,
    text: String,
    /// What relative paths in it start from.
    folder: PathBuf,
    table: Table,
}

impl PlanFile {
    /// Reads a file, or stdin where the path is `-`.
    ///
    /// # Errors
    /// When it cannot be read or has a key or value that no plan has.
    pub fn read(path: &Path) -> Result<Self, PlanFileError> {
        let is_stdin = path == Path::new("-");
        let name = if is_stdin {
            "stdin".to_owned()
        } else {
            path.display().to_string()
        };
        let read = if is_stdin {
            bounded(io::stdin().lock(), LONGEST)
        } else {
            File::open(path).and_then(|file| bounded(file, LONGEST))
        };
        let text = match read {
            Ok(text) => text,
            Err(source) => {
                let what = "plan";
                return Err(PlanFileError::Unreadable { what, name, source });
            }
        };
        let folder = match path.parent() {
            Some(folder) if !is_stdin => folder.to_owned(),
            _ => PathBuf::new(),
        };
        Self::parse(name, text, folder)
    }

    /// The plan in a text. `name` is what messages call it, `folder` what relative paths in it start
    /// from.
    ///
    /// # Errors
    /// When it has a key or value that no plan has. A key that is missing may be set later.
    pub fn parse(
        name: impl Into<String>,
        text: impl Into<String>,
        folder: impl Into<PathBuf>,
    ) -> Result<Self, PlanFileError> {
        let (name, text) = (name.into(), text.into());
        if let Err(error) = toml::from_str::<Plan>(&text)
            && !words::is_about_what_is_missing(&error)
        {
            return Err(words::of_file(&name, &text, &error));
        }
        let table = toml::from_str(&text).map_err(|error| words::of_file(&name, &text, &error))?;
        Ok(Self {
            name,
            text,
            folder: folder.into(),
            table,
        })
    }

    /// As messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Changes a key. Another kind of load or of clients takes the place of the one that was there.
    ///
    /// # Errors
    /// When no plan has the key, or not with this value.
    pub fn set(&mut self, set: &Set) -> Result<(), PlanFileError> {
        let place = set.place(&self.table);
        overlay::apply(&mut self.table, set)?;
        match plan_of(&self.table) {
            Err(error) if !words::is_about_what_is_missing(&error) => {
                Err(words::of_set(set.shown(), &place, &error))
            }
            _ => Ok(()),
        }
    }

    /// The whole key that a `--set` would change, with the kind of load or of clients that the plan
    /// has where it names none.
    pub fn place(&self, set: &Set) -> String {
        set.place(&self.table).join(".")
    }

    /// Puts a string at a whole key, without a check.
    ///
    /// # Errors
    /// When something on the way to it has no keys.
    pub fn put(&mut self, place: &[&str], value: &str) -> Result<(), NoKeys> {
        overlay::put(&mut self.table, place, value.into())
    }

    /// True when a whole key, like `load.open.rate`, is given.
    pub fn has(&self, key: &str) -> bool {
        let mut parts = key.split('.');
        let first = parts.next().and_then(|part| self.table.get(part));
        parts
            .try_fold(first, |at, part| Some(at?.as_table()?.get(part)))
            .flatten()
            .is_some()
    }

    /// The dialect file that the plan names, as it names it.
    pub fn dialect_file(&self) -> Option<&Path> {
        let message = self.table.get("message")?.as_table()?;
        let name = message.get("dialect")?.as_str()?;
        plan::names_dialect_file(name).then(|| Path::new(name))
    }

    /// The plan, with what is left out at its default, and with the dialect file that it names. It is not
    /// held against `Plan::validate` yet.
    ///
    /// # Errors
    /// When a key is missing, or the dialect file cannot be read.
    pub fn plan(&self) -> Result<Plan, PlanFileError> {
        let mut table = self.table.clone();
        follow_the_interval(&mut table);
        let mut plan = plan_of(&table).map_err(|error| self.misses(&error))?;
        if let Some(path) = self.dialect_file() {
            let file = read_dialect(&self.folder.join(path));
            let file = file.map_err(|error| self.at(DIALECT, error.to_string()))?;
            plan.message.definition = Some(Box::new(file));
        }
        for file in plan.files_mut() {
            *file = self.folder.join(&*file);
        }
        plan.start_references_from(&self.folder);
        Ok(plan)
    }

    /// What the plan says of its generator.
    pub fn given(&self, plan: &Plan) -> Given {
        let of = &plan.generator;
        Given {
            threads: self.has("generator.threads").then_some(of.threads),
            io: self.has("generator.io").then_some(of.io),
            timestamps: self.has("generator.timestamps").then_some(of.timestamps),
            seed: self.has("generator.seed").then_some(of.seed),
        }
    }

    /// What is wrong with a key, with its line when the file has it.
    pub fn at(&self, key: &str, problem: impl Into<String>) -> PlanFileError {
        PlanFileError::Wrong {
            place: FilePlace {
                name: self.name.clone(),
                line: words::line_of(&self.text, key),
            },
            problem: problem.into(),
        }
    }

    /// What is missing, with the place where it is missing when that is in the file.
    fn misses(&self, error: &toml::de::Error) -> PlanFileError {
        match toml::from_str::<Plan>(&self.text) {
            Err(of_file) => words::of_file(&self.name, &self.text, &of_file),
            Ok(_) => PlanFileError::Wrong {
                place: FilePlace {
                    name: self.name.clone(),
                    line: None,
                },
                problem: words::plain(error),
            },
        }
    }
}

fn plan_of(table: &Table) -> Result<Plan, toml::de::Error> {
    table.clone().try_into()
}

/// A time-out of pings that is left out is the interval, as it is with flags.
fn follow_the_interval(table: &mut Table) {
    let load = table.get_mut("load").and_then(Value::as_table_mut);
    let connect = load.and_then(|load| load.get_mut("connect")?.as_table_mut());
    if let Some(connect) = connect
        && let Some(interval) = connect.get("ping_interval").cloned()
    {
        connect.entry("ping_timeout").or_insert(interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{Dialect, Load};

    fn file(text: &str) -> PlanFile {
        PlanFile::parse("p.toml", text, "/folder").unwrap()
    }

    #[test]
    fn a_dialect_of_the_project_is_named_alone() {
        let plan = file("[message]\ndialect = \"graphql-ws\"").plan().unwrap();
        assert_eq!(plan.message.dialect, Dialect::File);
        let definition = plan.message.definition.as_deref();
        assert_eq!(definition.map(|file| &*file.name), Some("graphql-ws"));
        // One that servers here speak has a value of its own.
        let plan = file("[message]\ndialect = \"socketio\"").plan().unwrap();
        assert_eq!(plan.message.dialect, Dialect::SocketIo);
        assert_eq!(plan.message.definition, None);
        let mut set = file("");
        set.set(&"message.dialect=lines".parse().unwrap()).unwrap();
        assert!(set.plan().unwrap().message.definition.is_some());
        let unknown = "[message]\ndialect = \"linse\"";
        let words = PlanFile::parse("p.toml", unknown, "")
            .unwrap_err()
            .to_string();
        assert!(
            words.contains("p.toml, line 2") && words.contains("lines"),
            "{words}"
        );
    }

    #[test]
    fn a_dialect_in_a_file_of_its_own_is_named_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let text = toml::to_string(plan::built_in_dialects().next().unwrap()).unwrap();
        let other = text.replace("summary = \"", "summary = \"Changed. ");
        std::fs::write(folder.path().join("own.toml"), other).unwrap();
        let named = |name: &str| {
            let text = format!("[target]\nurl = \"ws://h/\"\n[message]\ndialect = \"{name}\"");
            PlanFile::parse("p.toml", text, folder.path()).and_then(|file| file.plan())
        };
        let absolute = folder.path().join("own.toml").display().to_string();
        for name in ["./own.toml", "own.toml", &absolute] {
            let plan = named(name).unwrap();
            assert!(plan.message.has_own_definition(), "{name}");
            assert_eq!(plan.validate(), Ok(()));
            // What is printed has no need of the file.
            let printed = printed(&plan, Given::default()).unwrap();
            assert_eq!(file(&printed).plan().unwrap(), plan);
        }
        let words = named("./none.toml").unwrap_err().to_string();
        assert!(words.starts_with("p.toml, line 4: cannot read"), "{words}");
        let both = "[message]\ndialect = \"./own.toml\"\n[message.definition]\nname = \"x\"\n\
                    summary = \"x\"\nreceive = []\n[message.definition.send]\n";
        let words = PlanFile::parse("p.toml", both, folder.path())
            .unwrap_err()
            .to_string();
        assert!(words.contains("leave one of them out"), "{words}");
    }

    #[test]
    fn keys_that_are_given_are_known() {
        let mut file = file("[generator]\nseed = 3\n[load.open]\nduration = \"1s\"");
        for (key, given) in [
            ("generator.seed", true),
            ("generator.threads", false),
            ("load.open", true),
            ("load.open.duration", true),
            ("load.open.duration.x", false),
            ("load.closed", false),
            ("name", false),
        ] {
            assert_eq!(file.has(key), given, "{key}");
        }
        assert_eq!(
            file.plan().unwrap_err().to_string(),
            "p.toml, line 3: the key `load.open.rate` is missing"
        );
        let rate: Set = "load.rate=5".parse().unwrap();
        assert_eq!(file.place(&rate), "load.open.rate");
        file.set(&rate).unwrap();
        let plan = file.plan().unwrap();
        assert!(matches!(plan.load, Load::Open(open) if open.rate == 5.0));
        assert_eq!(file.given(&file.plan().unwrap()).seed, Some(3));
        assert_eq!(file.given(&file.plan().unwrap()).threads, None);
    }

    #[test]
    fn a_plan_that_is_written_is_the_plan_that_is_read() {
        let plan = file("name = \"x\"\n[load.connect]\nping_interval = \"3s\"")
            .plan()
            .unwrap();
        let given = Given {
            seed: Some(9),
            ..Given::default()
        };
        let again = file(&printed(&plan, given).unwrap());
        let read = again.plan().unwrap();
        assert_eq!(again.given(&read), given);
        let written = plan.with(|plan| plan.generator.seed = 9);
        assert_eq!(read, written);
    }

    #[test]
    fn paths_start_from_the_folder_of_the_file() {
        let mut plan = file(
            "[target]\nca_file = \"ca.pem\"\n\
             [connection.tls]\nclient_cert = \"client.pem\"\nclient_key = \"/keys/client.pem\"",
        )
        .plan()
        .unwrap();
        let files: Vec<_> = plan.files_mut().map(|file| file.clone()).collect();
        assert_eq!(
            files,
            ["/folder/ca.pem", "/folder/client.pem", "/keys/client.pem"].map(Path::new)
        );
    }
}
