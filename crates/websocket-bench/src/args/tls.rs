//! Flags of TLS to the server.

use crate::refused::Refused;
use clap::Args;
use plan::{Plan, TlsVersion};
use std::path::PathBuf;

/// What is offered of TLS, whom to trust, and who the clients are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Messages and connections")]
pub(crate) struct Tls {
    /// wss, https: PEM file of certificate authorities to trust in addition to the system's
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub(crate) ca: Option<PathBuf>,
    /// wss, https: accept any certificate
    #[arg(long)]
    pub(crate) insecure: bool,
    /// wss, https: lowest version to offer, 1.2 or 1.3 [default: 1.2]
    #[arg(long, value_name = "VERSION")]
    pub(crate) tls_min: Option<TlsVersion>,
    /// wss, https: highest version to offer, 1.2 or 1.3 [default: 1.3]
    #[arg(long, value_name = "VERSION")]
    pub(crate) tls_max: Option<TlsVersion>,
    /// wss, https: PEM file with the certificate that the clients show to the server
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub(crate) client_cert: Option<PathBuf>,
    /// wss, https: PEM file with the key of that certificate
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub(crate) client_key: Option<PathBuf>,
}

impl Tls {
    /// The flags that were given, by name.
    fn given(&self) -> impl Iterator<Item = &'static str> {
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

    /// Has the plan say what was given of them, and the name that is asked for.
    ///
    /// # Errors
    /// When its URL is not one of TLS, or no version is left.
    pub(crate) fn apply(&self, plan: &mut Plan, sni: Option<&String>) -> Result<(), Refused> {
        let has_tls = plan.target.is_secure() || plan.has_https();
        let flag = self.given().next().filter(|_| !has_tls);
        let sni_flag = sni.filter(|_| !plan.target.is_secure()).map(|_| "--sni");
        if let Some(flag) = flag.or(sni_flag) {
            return Err(Refused::NotTls {
                flag,
                url: plan.target.url.clone(),
                has_steps: !plan.has_https() && plan.message.definition.is_some(),
            });
        }
        if self.insecure {
            (plan.target.verify_certificate, plan.target.ca_file) = (false, None);
        }
        if self.ca.is_some() {
            plan.target.verify_certificate = true;
            plan.target.ca_file.clone_from(&self.ca);
        }
        let is_given = self.tls_min.is_some()
            || self.tls_max.is_some()
            || self.client_cert.is_some()
            || sni.is_some();
        if !is_given {
            return Ok(());
        }
        let tls = plan.connection.tls.get_or_insert_default();
        tls.min = self.tls_min.unwrap_or(tls.min);
        tls.max = self.tls_max.unwrap_or(tls.max);
        if self.client_cert.is_some() {
            tls.client_cert.clone_from(&self.client_cert);
            tls.client_key.clone_from(&self.client_key);
        }
        if sni.is_some() {
            tls.server_name = sni.cloned();
        }
        if tls.min > tls.max {
            return Err(Refused::TlsVersions {
                least: tls.min.name(),
                most: tls.max.name(),
            });
        }
        Ok(())
    }
}
