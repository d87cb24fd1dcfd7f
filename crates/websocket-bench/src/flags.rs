//! What is wrong with a run is told by the engine, which knows keys of a plan and no flag. Here the flag
//! of a command line is put beside the key.

use crate::args::{Cli, Command};
use clap::CommandFactory as _;

/// Keys of a plan, or what they are set to, and the flag that does it.
const FLAGS: [(&str, &str); 31] = [
    ("an Authorization in connection.headers", "--bearer-file"),
    ("connection.at_once", "--connect-concurrency"),
    ("connection.compression", "--compression"),
    ("connection.cookies", "--cookie"),
    ("connection.data", "--data"),
    ("connection.headers", "--header"),
    ("connection.origin", "--origin"),
    ("connection.query", "--query"),
    ("connection.subprotocols", "--subprotocol"),
    ("connection.timeout", "--connect-timeout"),
    ("connection.tls.client_cert", "--client-cert"),
    ("connection.tls.client_key", "--client-key"),
    ("connection.tls.max", "--tls-max"),
    ("connection.tls.min", "--tls-min"),
    ("generator.threads", "--threads"),
    ("generator.timestamps = \"user\"", "--timestamps user"),
    ("limits.of = \"ack\"", "--measure ack"),
    ("limits.sample_timeout", "--sample-timeout"),
    ("load.closed.samples", "--sample-size"),
    ("load.connect.ping_timeout", "--ping-timeout"),
    ("load.connect.rate", "--connect-rate"),
    ("load.open.duration", "--duration"),
    ("load.open.rate", "--rate"),
    ("message.dialect", "--server-type"),
    ("message.lines", "--payload-lines"),
    ("message.padding", "--payload-padding"),
    ("target.ca_file", "--ca"),
    ("target.local_addrs", "--local-addr"),
    ("target.proxy", "--proxy"),
    ("target.resolve", "--resolve"),
    ("target.verify_certificate = false", "--insecure"),
];

/// The flags that a command takes.
#[derive(Clone, Debug)]
pub(crate) struct Flags(Vec<(&'static str, &'static str)>);

impl Flags {
    /// Those of a command; none where it carries out no plan.
    pub(crate) fn new(command: &Command) -> Self {
        Self::named(match command {
            Command::Broadcast(_) => "broadcast",
            Command::Echo(_) => "echo",
            Command::Connect(_) => "connect",
            Command::Run(_) => "run",
            _ => return Self(Vec::new()),
        })
    }

    fn named(command: &str) -> Self {
        let cli = Cli::command();
        let command = cli.find_subcommand(command);
        let takes = |flag: &str| {
            let name = flag.trim_start_matches('-');
            let name = name.split_once(' ').map_or(name, |(name, _)| name);
            let mut arguments = command.into_iter().flat_map(clap::Command::get_arguments);
            arguments.any(|one| one.get_long() == Some(name))
        };
        Self(FLAGS.into_iter().filter(|(_, flag)| takes(flag)).collect())
    }

    /// The words with the flag beside each key that has one, where they first name it.
    pub(crate) fn beside(&self, words: &str) -> String {
        let mut words = words.to_owned();
        for (key, flag) in &self.0 {
            if words.contains(flag) {
                continue;
            }
            let whole = |at: &usize| {
                if words[at + key.len()..].starts_with(" (--") {
                    return false;
                }
                let mut after = words[at + key.len()..].chars();
                let next = after
                    .next()
                    .filter(|next| *next != '.')
                    .or_else(|| after.next());
                !next.is_some_and(|next| next.is_ascii_alphanumeric() || next == '_')
            };
            let mut places = words.match_indices(key).map(|(at, _)| at);
            let Some(at) = places.find(whole) else {
                continue;
            };
            let is_quoted = words[at + key.len()..].starts_with('`');
            let after = at + key.len() + usize::from(is_quoted);
            let opened = words[..at].matches('(').count() > words[..at].matches(')').count();
            let beside = match opened {
                true => format!(" or {flag}"),
                false => format!(" ({flag})"),
            };
            words.insert_str(after, &beside);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_one_of_a_command() {
        let of = ["broadcast", "connect"].map(|command| Flags::named(command).0);
        for one in FLAGS {
            assert!(of.iter().any(|flags| flags.contains(&one)), "{one:?}");
        }
    }

    #[test]
    fn a_key_has_its_flag_beside_it_once() {
        let flags = Flags::named("broadcast");
        for (words, told) in [
            (
                "raise connection.timeout, or connection.timeout",
                "raise connection.timeout (--connect-timeout), or connection.timeout",
            ),
            (
                "open fewer (connection.at_once)",
                "open fewer (connection.at_once or --connect-concurrency)",
            ),
            (
                "`target.proxy` is no URL. See target.ca_file.",
                "`target.proxy` (--proxy) is no URL. See target.ca_file (--ca).",
            ),
            ("message.padding_of", "message.padding_of"),
            (
                "--data FILE (connection.data)",
                "--data FILE (connection.data)",
            ),
            (
                "an Authorization in connection.headers",
                "an Authorization in connection.headers (--bearer-file)",
            ),
        ] {
            assert_eq!(flags.beside(words), told);
        }
    }

    #[test]
    fn a_command_that_has_no_such_flag_is_told_the_key() {
        let words = "lower load.open.rate, or check message.dialect";
        let told = "lower load.open.rate, or check message.dialect (--server-type)";
        assert_eq!(Flags::named("run").beside(words), told);
    }
}
