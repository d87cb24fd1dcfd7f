//! Flags of TLS to the server.

use clap::Args;
use run_record::TlsVersion;
use std::path::PathBuf;

/// What is offered of TLS, whom to trust, and who the clients are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Messages and connections")]
pub(crate) struct Tls {
    /// wss: PEM file of certificate authorities to trust in addition to the system's
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub(crate) ca: Option<PathBuf>,
    /// wss: accept any certificate
    #[arg(long)]
    pub(crate) insecure: bool,
    /// wss: lowest version to offer, 1.2 or 1.3 [default: 1.2]
    #[arg(long, value_name = "VERSION")]
    pub(crate) tls_min: Option<TlsVersion>,
    /// wss: highest version to offer, 1.2 or 1.3 [default: 1.3]
    #[arg(long, value_name = "VERSION")]
    pub(crate) tls_max: Option<TlsVersion>,
    /// wss: PEM file with the certificate that the clients show to the server
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub(crate) client_cert: Option<PathBuf>,
    /// wss: PEM file with the key of that certificate
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub(crate) client_key: Option<PathBuf>,
}

impl Tls {
    /// The flags that were given, by name.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        [
            (self.ca.is_some(), "--ca"),
            (self.insecure, "--insecure"),
            (self.tls_min.is_some(), "--tls-min"),
            (self.tls_max.is_some(), "--tls-max"),
            (self.client_cert.is_some(), "--client-cert"),
        ]
        .into_iter()
        .filter_map(|(given, flag)| given.then_some(flag))
    }

    /// What a plan has of them beside the trust in the server; `None` when none was given.
    ///
    /// # Errors
    /// In words, when no version is left.
    pub(crate) fn of_plan(&self, sni: Option<&String>) -> Result<Option<run_record::Tls>, String> {
        let default = run_record::Tls::default();
        let tls = run_record::Tls {
            min: self.tls_min.unwrap_or(default.min),
            max: self.tls_max.unwrap_or(default.max),
            client_cert: self.client_cert.clone(),
            client_key: self.client_key.clone(),
            resumption: default.resumption,
            server_name: sni.cloned(),
        };
        if tls.min > tls.max {
            return Err(format!(
                "--tls-min {} is above --tls-max {}: no version is left to offer",
                tls.min.name(),
                tls.max.name()
            ));
        }
        let is_given = self.tls_min.is_some()
            || self.tls_max.is_some()
            || self.client_cert.is_some()
            || sni.is_some();
        Ok(is_given.then_some(tls))
    }
}
