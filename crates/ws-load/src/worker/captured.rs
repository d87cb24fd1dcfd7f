//! What a server told its clients while they opened, and what their messages repeat.

use super::clients::ClientTable;
use super::leaving::OfClient;
use crate::dialect::{Fill, SEQUENCE, Told};
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
    /// What steps over HTTP were told, which a client knows for the whole run.
    of_steps: HashMap<Token, Vec<net::StepValue>>,
}

impl Captured {
    pub(super) fn new(plan: &Plan) -> Self {
        let file = plan.message.definition.as_deref();
        let names = file.map(|file| {
            let outline = file.outlined();
            outline.captured().map(str::to_owned).collect()
        });
        let beat = file.and_then(|file| file.heartbeat.as_ref());
        let dialect = plan.message.dialect.name();
        Self {
            dialect: file.map_or(dialect, |file| &file.name).to_owned(),
            latest: Vec::new(),
            names: names.unwrap_or_default(),
            every: beat.map_or_else(String::new, |beat| beat.every.clone()),
            by_client: HashMap::new(),
            of_steps: HashMap::new(),
        }
    }

    /// A client begins anew.
    pub(super) fn forget(&mut self, slot: Token) {
        if !self.by_client.is_empty() {
            self.by_client.remove(&slot);
        }
    }

    /// Keeps what a message told; the latest of a name counts.
    pub(super) fn keep(&mut self, slot: Token, values: Vec<Told>) {
        if values.is_empty() {
            return;
        }
        let known = self.by_client.entry(slot).or_default();
        known.retain(|(name, _)| values.iter().all(|(of, _)| of != name));
        known.extend(values);
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
    pub(super) fn of(&self, slot: Token) -> impl Iterator<Item = &str> {
        let is_interval = |name: &str| {
            let rest = self.every.strip_prefix('{');
            rest.and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| rest.starts_with('}'))
        };
        let secrets = self
            .known(slot)
            .filter(move |(name, value)| value.len() >= SHORTEST_SECRET && !is_interval(name));
        secrets.filter_map(|(_, value)| std::str::from_utf8(value).ok())
    }

    /// Everything that a client was told, by name.
    fn known(&self, slot: Token) -> impl Iterator<Item = (&str, &[u8])> {
        let told = self.by_client.get(&slot).into_iter().flatten();
        let told = told.map(|(name, value)| (name.as_str(), value.as_slice()));
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
        let mut out = Vec::new();
        for part in parts(text) {
            match part {
                Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                Part::Variable(name) => self.write_variable(slot, name, &mut out),
            }
        }
        self.sequences.end(slot);
        out
    }

    /// The same of a message in bytes.
    pub(super) fn filled_in(&self, slot: Token, fill: &Fill) -> Vec<u8> {
        let out = fill.of(&OfClient { table: self, slot });
        self.sequences.end(slot);
        out
    }
}
