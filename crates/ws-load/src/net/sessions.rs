//! TLS sessions of the clients that come back, each with its own: a client stands for a user, and
//! none resumes what a stranger agreed on.

use super::tls::Tls;
use crate::io::Token;
use rustls::client::{
    ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls13ClientSessionValue,
};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, NamedGroup};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tickets that a client keeps, each of 64 KiB at most (RFC 8446, 4.6.1). A ticket is used once, and
/// an attempt that fails takes one with it. Servers send one or two, and browsers keep two.
const TICKETS: usize = 2;

/// What each client that comes back connects with, by slot.
#[derive(Debug, Default)]
pub(crate) struct Sessions(HashMap<Token, Arc<ClientConfig>>);

impl Sessions {
    /// What a client connects with. One that does not come back needs no session.
    pub(crate) fn config(&mut self, tls: &Tls, slot: Token, comes_back: bool) -> Arc<ClientConfig> {
        if !(comes_back && tls.resumption) {
            return Arc::clone(&tls.config);
        }
        let own = self.0.entry(slot).or_insert_with(|| {
            let mut config = ClientConfig::clone(&tls.config);
            config.resumption = Resumption::store(Arc::<Store>::default());
            Arc::new(config)
        });
        Arc::clone(own)
    }
}

/// What one client knows of the only server that it talks to. The library's own store keeps eight
/// tickets.
#[derive(Debug, Default)]
struct Store(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    group: Option<NamedGroup>,
    session: Option<Tls12ClientSessionValue>,
    /// The latest last.
    tickets: Vec<Tls13ClientSessionValue>,
}

impl Store {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientSessionStore for Store {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.known().group = Some(group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.known().group
    }

    fn set_tls12_session(&self, _: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.known().session = Some(session);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.known().session.clone()
    }

    fn remove_tls12_session(&self, _: &ServerName<'_>) {
        self.known().session = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let tickets = &mut self.known().tickets;
        if tickets.len() == TICKETS {
            tickets.remove(0);
        }
        tickets.push(ticket);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'_>) -> Option<Tls13ClientSessionValue> {
        self.known().tickets.pop()
    }
}
