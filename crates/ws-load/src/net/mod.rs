//! Connections: where to, from where, with or without TLS, and what can go wrong.

mod connection;
mod deflate;
mod error;
mod reach;
mod sessions;
mod sources;
mod target;
mod tls;
mod transport;

pub(crate) use connection::{Connection, Phase, Upgrade};
pub(crate) use deflate::{Codecs, Deflate, offer};
pub use error::{ConnectError, Stage};
pub(crate) use sessions::Sessions;
pub use sources::spread_over_loopback;
pub(crate) use target::Target;
pub use target::{TargetError, check_url, target_addrs};
pub(crate) use tls::Offered;
pub(crate) use transport::Transport;
