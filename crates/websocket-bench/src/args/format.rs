//! The message formats that can be named: those with a value of their own, every file of `dialects/`,
//! and a file of the user's.

use super::values::Unfit;
use crate::refused::Refused;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use plan::{Dialect, DialectFile, MQTT, MQTT_5, Message, built_in_dialect, built_in_dialects};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Which message format the server has.
#[derive(Debug, Args)]
#[command(next_help_heading = "Messages and connections")]
pub(crate) struct Format {
    /// Message format of the server [default: json, or that of the plan]
    #[arg(long, value_name = "NAME", value_parser = Names)]
    server_type: Option<ServerType>,
    /// Message format of the server, in a file (docs/dialects.md)
    #[arg(long, value_name = "FILE", conflicts_with = "server_type")]
    dialect: Option<PathBuf>,
}

impl Format {
    /// True where one was given.
    pub(crate) const fn is_given(&self) -> bool {
        self.server_type.is_some() || self.dialect.is_some()
    }

    /// Has a plan's messages written in this format, where one was given.
    ///
    /// # Errors
    /// When the dialect file cannot be read, or makes no sense.
    pub(crate) fn apply(&self, message: &mut Message) -> Result<(), Refused> {
        if let Some(server_type) = self.server_type {
            server_type.apply(message);
        }
        if let Some(path) = &self.dialect {
            let file = plan_file::read_dialect(path).map_err(Refused::DialectFile)?;
            ws_load::check_dialect(&file).map_err(|source| Refused::Dialect {
                path: path.clone(),
                source,
            })?;
            message.dialect = Dialect::File;
            message.definition = Some(Box::new(file));
        }
        Ok(())
    }
}

/// A message format by its name.
#[derive(Clone, Copy, Debug)]
enum ServerType {
    /// It has a value of its own.
    Named(Dialect),
    /// It is a file of `dialects/` and nothing else.
    File(&'static DialectFile),
}

impl ServerType {
    /// Has a plan's messages written in this format.
    fn apply(self, message: &mut Message) {
        match self {
            Self::Named(dialect) => (message.dialect, message.definition) = (dialect, None),
            Self::File(file) => {
                message.dialect = Dialect::File;
                message.definition = Some(Box::new(file.clone()));
            }
        }
    }
}

/// Names of formats with a value of their own.
const NAMED: [(&str, Dialect); 9] = [
    ("json", Dialect::Text),
    ("text", Dialect::Text),
    ("standard", Dialect::Text),
    ("binary", Dialect::Binary),
    ("phoenix", Dialect::Phoenix),
    ("actioncable", Dialect::ActionCable),
    ("socketio", Dialect::SocketIo),
    ("mqtt", Dialect::Mqtt),
    ("mqtt5", Dialect::Mqtt5),
];

fn named(name: &str) -> Option<ServerType> {
    let named = NAMED.iter().find(|(known, _)| *known == name);
    if let Some((_, dialect)) = named {
        return Some(ServerType::Named(*dialect));
    }
    built_in_dialect(name).map(ServerType::File)
}

/// Takes any of the names. Only help and errors read all files: they list the names with what each file
/// says of itself.
#[derive(Clone)]
struct Names;

impl TypedValueParser for Names {
    type Value = ServerType;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<ServerType, clap::Error> {
        match value.to_str().and_then(named) {
            Some(server_type) => Ok(server_type),
            None => {
                let names = PossibleValuesParser::new(possible_values());
                let unknown = |name| Err(Unfit::Dialect(name));
                names.try_map(unknown).parse_ref(command, arg, value)
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(possible_values()))
    }
}

fn possible_values() -> impl Iterator<Item = PossibleValue> {
    let own = [
        PossibleValue::new("json")
            .aliases(["standard", "text"])
            .help("JSON in text messages"),
        PossibleValue::new("binary").help("Type byte, size and payload in binary messages"),
        PossibleValue::new("mqtt").help(MQTT),
        PossibleValue::new("mqtt5").help(MQTT_5),
    ];
    let files = built_in_dialects().filter(|file| file.name != "text");
    let files = files.map(|file| PossibleValue::new(&*file.name).help(&*file.summary));
    own.into_iter().chain(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_dialects_can_be_named() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dialects");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let server_type = named(name).unwrap_or_else(|| panic!("{name}"));
            let mut message = Message::default();
            server_type.apply(&mut message);
            let definition = message.definition.map(|file| file.name);
            match server_type {
                ServerType::Named(dialect) => {
                    assert_eq!((dialect.name(), definition), (name, None))
                }
                ServerType::File(_) => assert_eq!(definition.as_deref(), Some(name)),
            }
            seen += 1;
        }
        assert!(seen >= 4, "{seen}");
    }
}
