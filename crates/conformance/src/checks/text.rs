//! JSON values and real parsing (docs/protocol.md, Text).

use super::echo::broadcast_pair;
use crate::check::{Check, Scope};
use crate::context::Context;
use crate::failure::{Checked, Failure};
use crate::message::{Kind, Payload};
use crate::target::ProtocolRequest;
use serde_json::Value;
use ws_proto::Opcode;

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "protocol-text-strings",
        section: "protocol, Text",
        description: "Echoes and broadcasts strings with escapes, combining and astral characters.",
        expectation: "the same strings after unescaping",
        scope: Scope::Json,
        needs: None,
        run: |context| values(context, STRINGS),
    },
    Check {
        id: "protocol-text-numbers",
        section: "protocol, Text",
        description: "Echoes and broadcasts integers up to ±2^53 and doubles.",
        expectation: "numbers of the same value",
        scope: Scope::Json,
        needs: None,
        run: |context| values(context, NUMBERS),
    },
    Check {
        id: "protocol-text-structures",
        section: "protocol, Text",
        description: "Echoes and broadcasts booleans, null, empty and nested values.",
        expectation: "the same structure",
        scope: Scope::Json,
        needs: None,
        run: |context| values(context, STRUCTURES),
    },
    Check {
        id: "protocol-text-really-parsed",
        section: "protocol, Text",
        description: "Sends requests with the keys in the other order, with white space, with an \
                      escaped type, and with payloads that look like requests.",
        expectation: "each is answered by its own type and payload",
        scope: Scope::Json,
        needs: Some(ProtocolRequest::Echo),
        run: really_parsed,
    },
];

/// As they stand in the request, with all kinds of escapes.
const STRINGS: &[&str] = &[
    r#""""#,
    r#""plain""#,
    r#""Grüße, žluťoučký kůň, Ελληνικά, 日本語, العربية""#,
    r#""astral 😀 𝄞 𐍈 and 👩‍👩‍👧""#,
    r#""combining e\u0301 é a\u0308 and \u200d""#,
    r#""\u0047\u00e9\u65e5 \ud83d\ude00 \uD834\uDD1E""#,
    r#""\" \\ \/ \b \f \n \r \t \u0000 \u001f \u007f \u2028 \u2029""#,
    r#"{"":"empty key","\u00e9\"":"odd key","😀":"astral key"}"#,
];

const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "9007199254740991",
    "9007199254740992",
    "-9007199254740991",
    "-9007199254740992",
    "4294967296",
    "2147483648",
    "0.1",
    "-1.5",
    "3.141592653589793",
    "1e300",
    "1.7976931348623157e308",
    "5e-324",
    "2.2250738585072014e-308",
    "123456789.12345679",
    "-0.0",
    "1E+2",
];

const STRUCTURES: &[&str] = &[
    "true",
    "false",
    "null",
    "{}",
    "[]",
    "[null]",
    "[[],{},[[]],\"\",0,false]",
    r#"{"a":{"b":{"c":{"d":[1,[2,[3,{"e":null}]]]}}},"f":[{},{"g":true}]}"#,
    r#"{"nulls":[null,null],"null":null}"#,
    "[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]",
];

fn parsed(text: &str) -> Result<Payload, Failure> {
    serde_json::from_str::<Value>(text)
        .map(Payload::Json)
        .map_err(|error| Failure(format!("{text} is not JSON: {error}")))
}

fn values(context: &mut Context<'_>, texts: &[&str]) -> Checked {
    let mut sender = context.connect()?;
    let mut listener = context.connect()?;
    for text in texts {
        let payload = parsed(text)?;
        if context.has(ProtocolRequest::Echo) {
            // The text itself, so that the escapes reach the server.
            let echo = context.speech().json_request(Kind::Echo, text);
            sender.send(Opcode::Text, echo.as_bytes())?;
            context.expect(&mut sender, Kind::Echo, &payload)?;
        }
        broadcast_pair(context, &mut sender, &mut listener, &payload)?;
    }
    Ok(())
}

fn really_parsed(context: &mut Context<'_>) -> Checked {
    let mut client = context.connect()?;
    for (message, payload) in context.speech().odd_spellings() {
        client.send(Opcode::Text, message.as_bytes())?;
        context
            .expect(&mut client, Kind::Echo, &parsed(payload)?)
            .map_err(|failure| failure.at(message.trim()))?;
    }
    Ok(())
}
