//! What is written of plans and dialect files: each without its secrets.

mod http;

use super::handshake::{Entry, REDACTED_VALUE, is_literal, is_secret_subprotocol};
use super::redact::{members_but, redacted_but, redacted_url};
use super::{DialectFile, Plan};
use serde_json::Value;
use std::convert::Infallible;

impl Plan {
    /// The plan as it is written: without secrets in URLs, header lines, cookies, parameters,
    /// subprotocols and messages, and in whatever other text it has. What says where a secret is kept
    /// stays.
    #[must_use]
    pub fn redacted(&self) -> Self {
        let mut plan = self.clone();
        let urls = [&mut plan.target.proxy, &mut plan.connection.origin];
        let urls = urls.into_iter().flatten().chain([&mut plan.target.url]);
        urls.for_each(|url| *url = redacted_url(url));
        let shown = |entry: Entry<'_>| Ok::<_, Infallible>(entry.shown());
        let Ok(()) = plan.connection.change_values(shown);
        let names = plan.connection.subprotocols.clone();
        for (at, name) in plan.connection.subprotocols.iter_mut().enumerate() {
            let before = at.checked_sub(1).map(|before| names[before].as_str());
            if is_secret_subprotocol(before, name) {
                REDACTED_VALUE.clone_into(name);
            }
        }
        let file = plan.message.definition.as_deref_mut();
        for signature in file
            .into_iter()
            .flat_map(|file| file.open.signatures.values_mut())
        {
            if is_literal(&signature.key) {
                REDACTED_VALUE.clone_into(&mut signature.key);
            }
        }
        // What is above needs to know where a text stands. Every text is then looked at as what it is,
        // so that no key can be forgotten.
        let read = serde_json::to_value(&plan).and_then(|mut written| {
            without_secrets(&mut written);
            serde_json::from_value(written)
        });
        let mut read = read.unwrap_or_else(|_| plan.clone());
        // These know better what a variable is.
        let files = (plan.message.definition, read.message.definition.as_mut());
        if let (Some(mut whole), Some(file)) = files {
            whole.redact_http();
            (file.open.http, file.send.http) = (whole.open.http, whole.send.http);
        }
        read
    }
}

impl DialectFile {
    /// What written plans leave out of its messages and signatures.
    pub fn secrets(&self) -> Vec<String> {
        let keys = self.open.signatures.values().map(|of| of.key.clone());
        let beat = self.heartbeat.iter().map(|of| of.send.as_str());
        let messages = self.exchange().chain(self.requests()).chain(beat);
        let members = messages.flat_map(|text| members_but(text, &is_literal));
        let members = members.chain(self.http_secrets());
        keys.filter(|key| is_literal(key)).chain(members).collect()
    }

    /// True of a file as written plans have it where it holds secrets.
    pub(crate) fn lacks_secrets(&self) -> bool {
        let keys = self.open.signatures.values().map(|of| of.key.as_str());
        let beat = self.heartbeat.iter().map(|of| of.send.as_str());
        let mut messages = self.exchange().chain(self.requests()).chain(beat);
        let is_replaced = |text: &str| text.replace(['"', '\\'], "").contains(":REDACTED");
        keys.into_iter().any(|key| key == REDACTED_VALUE)
            || messages.any(is_replaced)
            || self.lacks_http_secrets()
    }
}

fn without_secrets(of: &mut Value) {
    match of {
        Value::String(text) => *text = redacted_but(text, &is_literal).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(without_secrets),
        Value::Object(members) => members.values_mut().for_each(without_secrets),
        _ => {}
    }
}
