//! What is wrong with a file, or with a `--set`.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a file gives no plan or no dialect.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// It cannot be read.
    #[error("cannot read the {what} {name}: {source}{}", remedy(what, source))]
    Unreadable {
        /// `plan` or `dialect file`.
        what: &'static str,
        /// As messages call it.
        name: String,
        /// The cause.
        source: io::Error,
    },
    /// It has a key or a value that nothing has, or lacks one.
    #[error("{place}: {problem}")]
    Wrong {
        /// Where.
        place: FilePlace,
        /// What, with the key.
        problem: String,
    },
    /// A `--set` does not fit it.
    #[error("--set {set}: {problem}")]
    Set {
        /// The setting without what is secret.
        set: String,
        /// What is wrong.
        problem: String,
    },
    /// A place is within something that has no keys.
    #[error(transparent)]
    Place(#[from] NoKeys),
    /// A path of it starts nowhere.
    #[error("cannot tell where {} is: {source}", path.display())]
    Nowhere {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A number is larger than those of TOML.
    #[error("this plan has no TOML file, whose numbers have 63 bits: --seed {seed} is larger")]
    LargeSeed {
        /// The number.
        seed: u64,
    },
    /// It cannot be written as TOML.
    #[error("this plan has no TOML file: {0}")]
    Unprintable(#[from] toml::ser::Error),
}

/// A place in a file: its name, and a line from 1 where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    pub(crate) name: String,
    pub(crate) line: Option<usize>,
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.line {
            Some(line) => write!(f, ", line {line}"),
            None => Ok(()),
        }
    }
}

/// Something on the way to a key has no keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoKeys {
    /// It is a list.
    #[error("`{0}` is a list; set it as a whole, like {0}=[...]")]
    List(String),
    /// It is a value.
    #[error("`{0}` is a value and has no keys")]
    Value(String),
    /// There is no key.
    #[error("a key is missing")]
    Nothing,
}

/// A text that is no `--set KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// It has no `=`.
    #[error("expected KEY=VALUE, like load.rate=200")]
    NoValue,
    /// It has control characters.
    #[error("expected KEY=VALUE without control characters but line breaks")]
    Control,
    /// The key is longer than any of a plan.
    #[error("the key has {parts} parts, and no key of a plan has more than {most}")]
    Deep {
        /// Its parts.
        parts: usize,
        /// Most of them.
        most: usize,
    },
    /// A part of the key is empty.
    #[error("expected a key like load.rate before the `=`")]
    NoKey,
    /// The value begins like one of TOML and is none.
    #[error("{0}")]
    Value(String),
}

fn remedy(what: &str, error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound if what == "plan" => {
            "; workloads/ has examples, --print-plan makes one"
        }
        io::ErrorKind::NotFound => {
            "; dialects/ has examples, docs/adding-a-dialect.md explains them"
        }
        io::ErrorKind::IsADirectory if what == "plan" => "; name a file in it",
        _ => "",
    }
}
