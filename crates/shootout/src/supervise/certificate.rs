//! The certificate of servers with TLS: made once for this process, known to nothing else, and
//! written beside the log of each server that shows it.

use crate::network::SERVER;
use conformance::Tls;
use rcgen::{CertifiedKey, KeyPair};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The files of a certificate, and what trusts it.
#[derive(Clone, Debug)]
pub(super) struct Certificate {
    /// A PEM file; it is its own authority.
    pub(super) cert: PathBuf,
    /// A PEM file (PKCS #8).
    pub(super) key: PathBuf,
    pub(super) tls: Tls,
}

impl Certificate {
    /// Writes the certificate of this process and its key beside a log.
    ///
    /// # Errors
    /// When it cannot be made or written.
    pub(super) fn beside(log: &Path) -> io::Result<Self> {
        let made = made()?;
        let pem = made.cert.pem();
        let (cert, key) = (
            log.with_extension("cert.pem"),
            log.with_extension("key.pem"),
        );
        if let Some(folder) = log.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&cert, &pem)?;
        // A key that is there already may be readable to others.
        match fs::remove_file(&key) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&key);
        file?.write_all(made.signing_key.serialize_pem().as_bytes())?;
        Ok(Self {
            cert,
            key,
            tls: Tls::trusting(&pem).map_err(io::Error::other)?,
        })
    }
}

/// ECDSA with P-256, as most certificates of today.
fn made() -> io::Result<&'static CertifiedKey<KeyPair>> {
    static MADE: OnceLock<Result<CertifiedKey<KeyPair>, rcgen::Error>> = OnceLock::new();
    let names = || {
        vec![
            "localhost".to_owned(),
            Ipv4Addr::LOCALHOST.to_string(),
            SERVER.to_string(),
        ]
    };
    let made = MADE.get_or_init(|| rcgen::generate_simple_self_signed(names()));
    made.as_ref().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn all_servers_show_one_certificate_and_its_key_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Certificate::beside(&folder.path().join("logs").join(name)).unwrap();
        let (one, other) = (at("one.log"), at("other.log"));
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        assert_ne!(one.cert, other.cert);
        assert_eq!(read(&one.cert), read(&other.cert));
        fs::set_permissions(&one.key, fs::Permissions::from_mode(0o644)).unwrap();
        let again = at("one.log");
        let mode = fs::metadata(&again.key).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(read(&again.key).starts_with("-----BEGIN PRIVATE KEY-----"));
    }
}
