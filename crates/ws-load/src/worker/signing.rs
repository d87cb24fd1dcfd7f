//! What a server told a client, and the signatures that the client makes of it.

use super::clients::ClientTable;
use crate::dialect::{Told, topic_of};
use crate::io::Token;
use plan::{DialectFile, Signature};
use ring::hmac;
use std::fmt::Write as _;

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
        hmac_sha256(
            &self.filled(slot, &signature.key),
            &self.filled(slot, &text),
        )
        .into_bytes()
    }
}

/// HMAC (RFC 2104) with SHA-256, in hexadecimal digits.
fn hmac_sha256(key: &[u8], text: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let mut digits = String::new();
    for byte in hmac::sign(&key, text).as_ref() {
        write!(digits, "{byte:02x}").expect("a String takes everything");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, 4.3: test case 2.
    #[test]
    fn a_signature_is_that_of_the_standard() {
        assert_eq!(
            hmac_sha256(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
