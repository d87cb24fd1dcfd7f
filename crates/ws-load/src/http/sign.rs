//! Digests and signatures in lower-case hexadecimal digits.

use md5::{Digest as _, Md5};
use ring::hmac;
use std::fmt::Write as _;

/// HMAC (RFC 2104) with SHA-256.
pub(crate) fn hmac_sha256(key: &[u8], text: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    digits(hmac::sign(&key, text).as_ref())
}

/// MD5 (RFC 1321), which some servers want of a body that is signed.
pub(crate) fn md5(text: &[u8]) -> String {
    digits(&Md5::digest(text))
}

fn digits(bytes: &[u8]) -> String {
    let mut digits = String::new();
    for byte in bytes {
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

    /// RFC 1321, A.5.
    #[test]
    fn a_digest_is_that_of_the_standard() {
        assert_eq!(md5(b"message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
    }
}
