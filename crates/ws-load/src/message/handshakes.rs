//! TLS handshakes of a worker.

use record::{Recorder, TlsAgreed, TlsUse};
use rustls::{CipherSuite, ProtocolVersion};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Handshakes that have ended: how long they took, and what was agreed on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HandshakePart {
    /// Absent where there was none: without TLS it would be memory for nothing.
    took: Option<Box<Recorder>>,
    /// By the numbers of version and cipher suite (RFC 8446, B).
    agreed: BTreeMap<(u16, u16), HandshakeCounts>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct HandshakeCounts {
    handshakes: u64,
    resumed: u64,
}

impl HandshakeCounts {
    const fn add(&mut self, other: Self) {
        self.handshakes += other.handshakes;
        self.resumed += other.resumed;
    }
}

impl HandshakePart {
    /// HandshakeCounts one that has ended.
    pub(crate) fn note(
        &mut self,
        (version, cipher_suite): (ProtocolVersion, CipherSuite),
        resumed: bool,
        took_ns: u64,
    ) {
        self.took.get_or_insert_default().record(took_ns);
        let counts = HandshakeCounts {
            handshakes: 1,
            resumed: resumed.into(),
        };
        let agreed = (version.into(), cipher_suite.into());
        self.agreed.entry(agreed).or_default().add(counts);
    }

    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: Self) {
        if let Some(took) = other.took {
            self.took.get_or_insert_default().merge(&took);
        }
        for (agreed, counts) in other.agreed {
            self.agreed.entry(agreed).or_default().add(counts);
        }
    }

    /// The same for people.
    pub(crate) fn into_use(self) -> TlsUse {
        let mut all = HandshakeCounts::default();
        self.agreed.values().for_each(|counts| all.add(*counts));
        let named = |((version, cipher_suite), counts): ((u16, u16), HandshakeCounts)| TlsAgreed {
            version: version_name(version),
            cipher_suite: suite_name(cipher_suite),
            handshakes: counts.handshakes,
            resumed: counts.resumed,
        };
        let mut agreed: Vec<TlsAgreed> = self.agreed.into_iter().map(named).collect();
        agreed.sort_by_key(|of| Reverse(of.handshakes));
        TlsUse {
            handshakes: all.handshakes,
            resumed: all.resumed,
            handshake: self.took.and_then(|took| took.latency()),
            agreed,
        }
    }
}

fn version_name(number: u16) -> String {
    match ProtocolVersion::from(number) {
        ProtocolVersion::TLSv1_2 => "1.2".to_owned(),
        ProtocolVersion::TLSv1_3 => "1.3".to_owned(),
        _ => format!("{number:#06x}"),
    }
}

/// The library's names tell the suites of TLS 1.3 by a prefix that IANA's register has not.
fn suite_name(number: u16) -> String {
    match CipherSuite::from(number).as_str() {
        Some(name) => name.replacen("TLS13_", "TLS_", 1),
        None => format!("{number:#06x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handshakes_are_counted_by_what_was_agreed_on() {
        let new = (
            ProtocolVersion::TLSv1_3,
            CipherSuite::TLS13_AES_128_GCM_SHA256,
        );
        let old = (
            ProtocolVersion::TLSv1_2,
            CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        );
        let mut all = HandshakePart::default();
        all.note(old, false, 5_000_000);
        let mut other = HandshakePart::default();
        other.note(new, false, 2_000_000);
        other.note(new, true, 1_000_000);
        all.merge(other);
        let told = all.into_use();
        assert_eq!((told.handshakes, told.resumed), (3, 1));
        assert_eq!(told.handshake.unwrap().count, 3);
        let agreed: Vec<_> = told
            .agreed
            .iter()
            .map(|of| (&*of.version, &*of.cipher_suite, of.handshakes, of.resumed))
            .collect();
        assert_eq!(
            agreed,
            [
                ("1.3", "TLS_AES_128_GCM_SHA256", 2, 1),
                ("1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", 1, 0),
            ]
        );
        assert_eq!(HandshakePart::default().into_use(), TlsUse::default());
    }

    #[test]
    fn numbers_without_a_name_are_told_as_numbers() {
        assert_eq!(version_name(0x7f1c), "0x7f1c");
        assert_eq!(suite_name(0xfafa), "0xfafa");
    }
}
