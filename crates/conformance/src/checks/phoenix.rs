//! What belongs to Phoenix's own messages (docs/protocol.md, Phoenix).

use crate::check::{Check, Scope};
use crate::client::{Client, Incoming};
use crate::context::Context;
use crate::dialect::phoenix::{JOIN_REF, Message, Phoenix, TOPIC};
use crate::failure::{Checked, Failure};
use crate::target::{Dialect, ProtocolRequest};
use serde_json::{Value, json};
use ws_proto::Opcode;

const SECTION: &str = "protocol, Phoenix";

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "protocol-phoenix-refs",
        section: SECTION,
        description: "Pushes echoes and a broadcast with refs of several forms.",
        expectation: "each reply carries the ref of its push (serializer 2.0.0: and the join_ref), \
                      a broadcast has none",
        scope: Scope::Phoenix,
        needs: None,
        run: refs,
    },
    Check {
        id: "protocol-phoenix-heartbeat",
        section: SECTION,
        description: "Sends heartbeats before and after the join.",
        expectation: "each is answered ok on the topic phoenix, with its ref",
        scope: Scope::Phoenix,
        needs: None,
        run: heartbeat,
    },
];

fn serializer(context: &Context<'_>) -> Phoenix {
    Phoenix {
        arrays: context.dialect == Dialect::PhoenixV2,
    }
}

fn next(client: &mut Client, phoenix: &Phoenix) -> Result<Message, Failure> {
    let wait = client.timeout;
    match client.next_within(wait) {
        Some(Incoming::Message { raw, .. }) => phoenix
            .read(&raw)
            .map_err(|what| Failure(format!("got {what}"))),
        Some(other) => Err(Failure(format!("got {other}"))),
        None => Err(Failure(format!("nothing came within {wait:?}"))),
    }
}

fn reply_to(reply: &Message, reference: &str, join_ref: &Value) -> Checked {
    let sent = json!(reference);
    if reply.event == "phx_reply" && reply.reference == sent && reply.join_ref == *join_ref {
        return Ok(());
    }
    Err(Failure(format!(
        "to a push with ref {sent} and join_ref {join_ref} came {} with ref {} and join_ref {}",
        reply.event, reply.reference, reply.join_ref
    )))
}

fn refs(context: &mut Context<'_>) -> Checked {
    let phoenix = serializer(context);
    let mut client = context.connect()?;
    let join_ref = if phoenix.arrays {
        json!(JOIN_REF)
    } else {
        Value::Null
    };
    let body = r#"{"body":"refs"}"#;
    if context.has(ProtocolRequest::Echo) {
        for reference in ["2", "3", "77", "a-Ref", "9007199254740993"] {
            let push = phoenix.message(reference, TOPIC, "echo", body);
            client.send(Opcode::Text, push.as_bytes())?;
            reply_to(&next(&mut client, &phoenix)?, reference, &join_ref)?;
        }
    }
    if !context.has(ProtocolRequest::Broadcast) {
        return Ok(());
    }
    let push = phoenix.message("78", TOPIC, "broadcast", body);
    client.send(Opcode::Text, push.as_bytes())?;
    // Their order is the ack rule's business.
    for _ in 0..2 {
        let message = next(&mut client, &phoenix)?;
        if message.event != "broadcast" {
            reply_to(&message, "78", &join_ref)?;
        } else if !message.reference.is_null() {
            let reference = message.reference;
            return Err(Failure(format!(
                "a broadcast came with the ref {reference}"
            )));
        }
    }
    Ok(())
}

fn heartbeat(context: &mut Context<'_>) -> Checked {
    let phoenix = serializer(context);
    let unjoined = context.start()?.finish()?;
    for (mut client, when) in [(unjoined, "before"), (context.connect()?, "after")] {
        for reference in ["10", "11"] {
            let beat = phoenix.heartbeat(reference);
            client.send(Opcode::Text, beat.as_bytes())?;
            let at = |failure: Failure| failure.at(format_args!("{when} the join"));
            let reply = next(&mut client, &phoenix).map_err(at)?;
            reply_to(&reply, reference, &Value::Null).map_err(at)?;
            if reply.topic != "phoenix" || reply.payload["status"] != "ok" {
                let (topic, payload) = (reply.topic, reply.payload);
                return Err(at(Failure(format!("got {payload} on the topic {topic}"))));
            }
        }
    }
    Ok(())
}
