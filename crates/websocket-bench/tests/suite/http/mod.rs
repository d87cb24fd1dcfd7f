//! Requests over HTTP beside the WebSocket: steps before a client connects, and publications.

mod logins;
mod refused;
mod rooms;
mod server;
mod soketi;
mod ways;
