//! A server of several nodes, and the broker that passes broadcasts between them.
//!
//! A client's broadcast goes from its node to the broker, from there to all nodes, and from each to its
//! clients. Its result comes when the broker has passed it on. Both ends can lose what a client was
//! promised, a known number of times: that is what a load generator must find. Only messages of a load
//! generator are counted and lost, which have a stamp; those by which a cluster is seen to be ready pass.
//!
//! A node without its broker serves echoes, answers no broadcast, and connects again as soon as it can.

mod broker;
mod frames;
mod node;

pub use broker::{Broker, BrokerOptions};
pub use node::{Node, NodeOptions};
