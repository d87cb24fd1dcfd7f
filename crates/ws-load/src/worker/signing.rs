//! What a server told a client, and the signatures that the client makes of it.

use super::clients::ClientTable;
use crate::dialect::{Told, topic_of};
use crate::http::hmac_sha256;
use crate::io::Token;
use plan::{DialectFile, Signature};

impl ClientTable {
    /// Keeps what a message told, and signs anew.
    pub(super) fn keep_told(&mut self, slot: Token, values: Vec<Told>) {
        if values.is_empty() {
            return;
        }
        self.captured.keep(slot, values);
        let signed = self.common.plan.message.definition.as_ref().map(|file| {
            let all = file.open.signatures.iter();
            all.map(|(name, of)| (name.clone(), self.sign(slot, file, of)))
                .collect()
        });
        self.captured.keep(slot, signed.unwrap_or_default());
    }

    fn sign(&self, slot: Token, file: &DialectFile, signature: &Signature) -> Vec<u8> {
        let topic = self.room(slot).map(topic_of);
        let topic = topic.map_or_else(String::new, |topic| file.topic_prefix.clone() + &topic);
        let text = signature.of.replace("{topic}", &topic);
        let key = self.filled(slot, &signature.key);
        hmac_sha256(&key, &self.filled(slot, &text)).into_bytes()
    }
}
