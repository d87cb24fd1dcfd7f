//! What a server told its clients while they opened, and what their messages repeat.

use crate::io::Token;
use plan::Plan;
use std::collections::HashMap;

/// A name of a value, and the value.
pub(super) type Value = (String, String);

#[derive(Debug, Default)]
pub(super) struct Captured {
    /// Every name of the plan's dialect.
    names: Vec<String>,
    by_client: HashMap<Token, Vec<Value>>,
}

impl Captured {
    pub(super) fn new(plan: &Plan) -> Self {
        let file = plan.message.definition.as_deref();
        let names = file.map(|file| file.captured().map(str::to_owned).collect());
        Self {
            names: names.unwrap_or_default(),
            by_client: HashMap::new(),
        }
    }

    /// A client begins anew.
    pub(super) fn forget(&mut self, slot: Token) {
        if !self.by_client.is_empty() {
            self.by_client.remove(&slot);
        }
    }

    /// Keeps what a message told; the latest of a name counts.
    pub(super) fn keep(&mut self, slot: Token, values: Vec<Value>) {
        if values.is_empty() {
            return;
        }
        let known = self.by_client.entry(slot).or_default();
        known.retain(|(name, _)| values.iter().all(|(of, _)| of != name));
        known.extend(values);
    }

    pub(super) fn value(&self, slot: Token, name: &str) -> Option<&str> {
        let known = self.by_client.get(&slot)?;
        let value = known.iter().find(|(of, _)| of == name);
        value.map(|(_, value)| value.as_str())
    }

    /// A name that a client was told nothing for.
    pub(super) fn missing(&self, slot: Token) -> Option<&str> {
        let mut names = self.names.iter().map(String::as_str);
        names.find(|name| self.value(slot, name).is_none())
    }
}
