//! Connections: where to, from where, with or without TLS, and what can go wrong.

mod asks;
mod connection;
mod data;
mod deflate;
mod endpoint;
mod error;
mod http_failure;
mod origins;
mod reach;
mod secrets;
mod sessions;
mod sources;
mod target;
mod tls;
mod transport;
mod url_parts;

pub(crate) use asks::{Asked, Asks, COOKIE, StepValue, body_place, cookie_pairs};
pub(crate) use connection::{Connection, Phase, Tunnelling, Upgrade};
pub use data::DataError;
pub(crate) use data::FieldPlace;
pub(crate) use deflate::{Codecs, Deflate, offer};
pub use endpoint::Endpoint;
pub use error::{ConnectError, Stage};
pub use http_failure::HttpFailure;
pub use origins::asks_other_servers;
pub(crate) use origins::{HttpUrl, Origin};
pub(crate) use sessions::Sessions;
pub use sources::spread_over_loopback;
pub(crate) use target::{Target, server_addr};
pub use target::{TargetError, check_url, target_addrs};
pub(crate) use tls::{Offered, Tls};
pub(crate) use transport::Transport;
