//! The binary dialect as a file in bytes.

use plan::{Dialect, DialectFile, Message, TemplateForm};
use serde_json::json;
use std::sync::OnceLock;

/// The file, under the name of the dialect.
pub(in crate::plans) fn binary() -> &'static DialectFile {
    static FILE: OnceLock<DialectFile> = OnceLock::new();
    FILE.get_or_init(|| {
        let of = |kind: char| format!(r#""{kind}" {{length:be4}}( {{stamp:be8}} {{padding}} )"#);
        let rule =
            |means: &str, kind| json!({"means": means, "pattern": of(kind), "example": of(kind)});
        let file = json!({
            "name": Dialect::Binary.name(),
            "summary": "The type byte, the size in 4 bytes, the stamp and the padding.",
            "opcode": "binary",
            "form": "hex",
            "send": {"echo": of('e'), "broadcast": of('b')},
            "receive": [rule("echo", 'e'), rule("delivery", 'b'), rule("result", 'r')],
        });
        serde_json::from_value(file).expect("it is a dialect file")
    })
}

/// True of messages that hold no JSON.
pub(in crate::plans) fn are_bytes(message: &Message) -> bool {
    let file = message.definition.as_deref();
    message.dialect == Dialect::Binary || file.is_some_and(|of| of.form == TemplateForm::Hex)
}
