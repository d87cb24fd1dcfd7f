//! Whether the nodes of a server know of each other: a broadcast by a client of each node reaches a
//! client of every node.

use crate::client::Client;
use crate::context::Context;
use crate::failure::Failure;
use crate::message::{Kind, Payload};
use crate::target::Target;
use crate::verify::first_dialect;

/// Tags of one attempt are apart from those of the next by this: more than a server may have nodes.
const NODES: u64 = 64;
/// Tags stay below those of the checks, which begin with the number of a check above 24 bits.
const ATTEMPTS: u64 = 1 << 18;

/// Why nodes do not pass broadcasts on: the node, from 1, and what was seen there.
#[derive(Debug, thiserror::Error)]
#[error("node {node}: {seen}")]
pub struct NotFormed {
    node: usize,
    seen: String,
}

/// Connects a client to each node and has each of them broadcast once: all of them must hear all of it.
/// `attempt` tells these broadcasts from those of earlier attempts, which may come late.
///
/// # Errors
/// [`NotFormed`] names the first node at which something did not come within the timeout of its target.
pub fn formed(nodes: &[Target], attempt: u64) -> Result<(), NotFormed> {
    let mut contexts: Vec<Context<'_>> = nodes
        .iter()
        .map(|node| Context::new(node, first_dialect(node), 0))
        .collect();
    let mut clients = Vec::new();
    for (at, context) in contexts.iter_mut().enumerate() {
        clients.push(context.connect().map_err(at_node(at))?);
    }
    let tag = |at: usize| attempt % ATTEMPTS * NODES + at as u64 + 1;
    let payloads: Vec<Payload> = contexts
        .iter()
        .enumerate()
        .map(|(at, context)| Payload::tagged(context.dialect, tag(at), 0))
        .collect();
    for (at, context) in contexts.iter().enumerate() {
        let sent = context.request(&mut clients[at], Kind::Broadcast, &payloads[at]);
        sent.map_err(at_node(at))?;
    }
    for (at, client) in clients.iter_mut().enumerate() {
        hears_all(&contexts[at], client, &payloads).map_err(at_node(at))?;
    }
    Ok(())
}

fn at_node(at: usize) -> impl Fn(Failure) -> NotFormed {
    move |failure| NotFormed {
        node: at + 1,
        seen: failure.0,
    }
}

fn hears_all(context: &Context<'_>, client: &mut Client, all: &[Payload]) -> Result<(), Failure> {
    let mut heard = vec![false; all.len()];
    while let Some(missing) = heard.iter().position(|heard| !heard) {
        let reply = context.reply(client).map_err(|failure| {
            failure.at(format_args!(
                "waiting for the broadcast of node {}",
                missing + 1
            ))
        })?;
        let of = |payload: &&Payload| payload.equals(&reply.payload);
        if reply.kind == Kind::Broadcast
            && let Some(at) = all.iter().position(|payload| of(&payload))
        {
            heard[at] = true;
        }
    }
    Ok(())
}
