//! What a server told its clients while they opened, and what their messages repeat.

use super::clients::ClientTable;
use super::leaving::OfClient;
use crate::dialect::{Fill, Opening, SEQUENCE, Told, Variables};
use crate::io::Token;
use crate::net::{self, ConnectError};
use plan::{Part, Plan, parts};
use std::collections::HashMap;
use std::io::Write as _;

/// Bytes of a message by which it is shown.
pub(super) const SHOWN: usize = 120;

/// Bytes of what a server tells a client that no words of it repeat.
const SHORTEST_SECRET: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Captured {
    /// Name of the plan's dialect.
    dialect: String,
    /// How the latest message began that came to any client before it was ready.
    latest: Vec<u8>,
    /// Every name of the plan's dialect.
    names: Vec<String>,
    /// How often clients beat: perhaps as often as they are told.
    every: String,
    by_client: HashMap<Token, Vec<Told>>,
    /// The names of what a client keeps for its next connections.
    kept: Vec<String>,
    /// What clients were told on earlier connections and keep.
    before: HashMap<Token, Vec<Told>>,
    /// What steps over HTTP were told, which a client knows for the whole run.
    of_steps: HashMap<Token, Vec<net::StepValue>>,
}

impl Captured {
    pub(super) fn new(plan: &Plan, kept: &[String]) -> Self {
        let file = plan.message.definition.as_deref();
        let names = file.map(|file| {
            let outline = file.outlined();
            outline.required().map(str::to_owned).collect()
        });
        let beat = file.and_then(|file| file.heartbeat.as_ref());
        let dialect = plan.message.dialect.name();
        Self {
            dialect: file.map_or(dialect, |file| &file.name).to_owned(),
            latest: Vec::new(),
            names: names.unwrap_or_default(),
            every: beat.map_or_else(String::new, |beat| beat.every.clone()),
            by_client: HashMap::new(),
            kept: kept.to_vec(),
            before: HashMap::new(),
            of_steps: HashMap::new(),
        }
    }

    /// A client begins anew.
    pub(super) fn forget(&mut self, slot: Token) {
        if self.by_client.is_empty() {
            return;
        }
        let mut told = self.by_client.remove(&slot).unwrap_or_default();
        told.retain(|(name, _)| self.kept.contains(name));
        add(&mut self.before, slot, told);
    }

    /// Keeps what a message told; the latest of a name counts.
    pub(super) fn keep(&mut self, slot: Token, values: Vec<Told>) {
        add(&mut self.by_client, slot, values);
    }

    /// True of a client that comes back and was told all that it says then.
    pub(super) fn returns(&self, slot: Token) -> bool {
        let is_told = |name: &String| self.kept_value(slot, name).is_some();
        self.before.contains_key(&slot) && self.kept.iter().all(is_told)
    }

    /// The latest value that a client keeps.
    pub(super) fn kept_value(&self, slot: Token, name: &str) -> Option<&[u8]> {
        if !self.kept.iter().any(|of| of == name) {
            return None;
        }
        let told = of_client(&self.by_client, slot);
        let mut told = told.chain(of_client(&self.before, slot));
        told.find(|(of, _)| *of == name).map(|(_, value)| value)
    }

    /// Keeps what the steps of a client were told.
    pub(super) fn keep_of_steps(&mut self, slot: Token, values: Vec<net::StepValue>) {
        self.of_steps.insert(slot, values);
    }

    /// What the steps of a client were told.
    pub(super) fn of_steps(&self, slot: Token) -> &[net::StepValue] {
        self.of_steps.get(&slot).map_or(&[], Vec::as_slice)
    }

    /// Notes a message that came to a client before it was ready.
    pub(super) fn note(&mut self, message: &[u8]) {
        if !message.is_empty() {
            self.latest.clear();
            self.latest.extend(&message[..message.len().min(SHOWN)]);
        }
    }

    /// What it means that an attempt took too long whose WebSocket is open.
    pub(super) fn not_opened(&self, late: ConnectError) -> ConnectError {
        match late {
            ConnectError::TimedOut { addr, seconds, .. } => ConnectError::NotOpened {
                addr,
                seconds,
                dialect: self.dialect.clone(),
                heard: String::from_utf8_lossy(&self.latest).into_owned(),
            },
            other => other,
        }
    }

    /// What a client was told, where it may be a secret.
    pub(super) fn values(&self, slot: Token) -> impl Iterator<Item = &str> {
        let is_interval = |name: &str| {
            let rest = self.every.strip_prefix('{');
            rest.and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| rest.starts_with('}'))
        };
        let secrets = self
            .known(slot)
            .chain(of_client(&self.before, slot))
            .filter(move |(name, value)| value.len() >= SHORTEST_SECRET && !is_interval(name));
        secrets.filter_map(|(_, value)| std::str::from_utf8(value).ok())
    }

    /// Everything that a client was told, by name.
    fn known(&self, slot: Token) -> impl Iterator<Item = (&str, &[u8])> {
        let told = of_client(&self.by_client, slot);
        let of_steps = self.of_steps(slot).iter();
        told.chain(of_steps.map(|(name, value)| (name.as_str(), value.as_bytes())))
    }

    pub(super) fn value(&self, slot: Token, name: &str) -> Option<&[u8]> {
        let mut known = self.known(slot);
        known.find(|(of, _)| *of == name).map(|(_, value)| value)
    }

    /// A name that a client was told nothing for.
    pub(super) fn missing(&self, slot: Token) -> Option<&str> {
        let mut names = self.names.iter().map(String::as_str);
        names.find(|name| self.value(slot, name).is_none())
    }
}

/// Adds what a client was told, in place of what it was told by the same names.
fn add(by_client: &mut HashMap<Token, Vec<Told>>, slot: Token, values: Vec<Told>) {
    if values.is_empty() {
        return;
    }
    let known = by_client.entry(slot).or_default();
    known.retain(|(name, _)| values.iter().all(|(of, _)| of != name));
    known.extend(values);
}

/// What a client was told, by name.
fn of_client(
    by_client: &HashMap<Token, Vec<Told>>,
    slot: Token,
) -> impl Iterator<Item = (&str, &[u8])> {
    let told = by_client.get(&slot).into_iter().flatten();
    told.map(|(name, value)| (name.as_str(), value.as_slice()))
}

impl ClientTable {
    /// Appends what a variable of messages stands for with a client.
    pub(super) fn write_variable(&self, slot: Token, name: &str, out: &mut Vec<u8>) {
        match self.captured.value(slot, name) {
            Some(value) => out.extend_from_slice(value),
            None if name == SEQUENCE => {
                write!(out, "{}", self.sequences.say(slot)).expect("a Vec takes everything");
            }
            None => {
                let asks = &self.common.target.asks;
                asks.write_variable(name, self.client(slot), out);
            }
        }
    }

    /// A text in which variables stand, with those of a client.
    pub(super) fn filled(&self, slot: Token, text: &str) -> Vec<u8> {
        self.filled_by(slot, text, &OfClient { table: self, slot })
    }

    /// The same with these variables.
    pub(super) fn filled_by(&self, slot: Token, text: &str, variables: &dyn Variables) -> Vec<u8> {
        let mut out = Vec::new();
        for part in parts(text) {
            match part {
                Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                Part::Variable(name) => variables.write(name, &mut out),
            }
        }
        self.sequences.end(slot);
        out
    }

    /// The same of a message in bytes.
    pub(super) fn filled_in(&self, slot: Token, fill: &Fill) -> Vec<u8> {
        let out = fill.message(&OfClient { table: self, slot });
        self.sequences.end(slot);
        out
    }
}

impl ClientTable {
    /// The message of a client that comes back.
    pub(super) fn returning(&self, slot: Token, message: &Opening) -> Vec<u8> {
        let variables = OfReturning { table: self, slot };
        match message {
            Opening::Send(text) => self.filled_by(slot, text, &variables),
            Opening::Fill(fill) => {
                let out = fill.message(&variables);
                self.sequences.end(slot);
                out
            }
            _ => unreachable!("a file says what is sent"),
        }
    }
}

/// What the variables stand for in the message of a client that comes back.
struct OfReturning<'a> {
    table: &'a ClientTable,
    slot: Token,
}

impl Variables for OfReturning<'_> {
    fn write(&self, name: &str, out: &mut Vec<u8>) {
        match self.table.captured.kept_value(self.slot, name) {
            Some(value) => out.extend_from_slice(value),
            None => self.table.write_variable(self.slot, name, out),
        }
    }
}
