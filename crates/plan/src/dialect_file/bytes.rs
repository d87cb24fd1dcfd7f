//! Messages in bytes: the notation of dialect files with `form = "hex"`.
//!
//! `0a {length:varint}( 09 {stamp:le8} "text" )`: hexadecimal digits, text in quotes, `base64:AAEC`, holes in
//! braces, and lengths of what parentheses enclose. Whether a hole makes sense where it stands is found
//! when the load generator compiles the file.

mod notation;
mod outline;

pub use notation::{ByteTextError, byte_parts};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the messages of a dialect file are written in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TemplateForm {
    /// As text.
    #[default]
    Text,
    /// As bytes: hexadecimal digits, text in quotes, `base64:`, and holes in braces.
    Hex,
}

/// How the length in front of each message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LengthPrefix {
    /// In groups of seven bits, the lowest first, as protobuf and SignalR have it.
    Varint,
    /// In one byte.
    Be1,
    /// In 2 bytes, the highest first.
    Be2,
    /// In 4 bytes, the highest first.
    Be4,
    /// In 8 bytes, the highest first.
    Be8,
    /// In 2 bytes, the lowest first.
    Le2,
    /// In 4 bytes, the lowest first.
    Le4,
    /// In 8 bytes, the lowest first.
    Le8,
}

impl LengthPrefix {
    /// The same as the form of a hole.
    pub const fn form(self) -> NumberForm {
        match self {
            Self::Varint => NumberForm::Varint,
            Self::Be1 => NumberForm::BigEndian(1),
            Self::Be2 => NumberForm::BigEndian(2),
            Self::Be4 => NumberForm::BigEndian(4),
            Self::Be8 => NumberForm::BigEndian(8),
            Self::Le2 => NumberForm::LittleEndian(2),
            Self::Le4 => NumberForm::LittleEndian(4),
            Self::Le8 => NumberForm::LittleEndian(8),
        }
    }
}

/// How a number is written in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberForm {
    /// As text. A stamp has 16 hexadecimal digits, all else is decimal.
    Text,
    /// In so many bytes, the highest first.
    BigEndian(u8),
    /// In so many bytes, the lowest first.
    LittleEndian(u8),
    /// In groups of seven bits, the lowest first (LEB128).
    Varint,
}

impl NumberForm {
    /// Bytes on the wire, where they are the same for each number.
    pub const fn width(self) -> Option<usize> {
        match self {
            Self::BigEndian(bytes) | Self::LittleEndian(bytes) => Some(bytes as usize),
            Self::Text | Self::Varint => None,
        }
    }

    /// The highest number.
    pub const fn highest(self) -> u64 {
        match self {
            Self::BigEndian(bytes) | Self::LittleEndian(bytes) if bytes < 8 => {
                (1 << (8 * bytes as u32)) - 1
            }
            _ => u64::MAX,
        }
    }
}

/// What a hole has behind its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoleForm {
    /// `{stamp:be8}`.
    Number(NumberForm),
    /// `{any:4}`: bytes.
    Bytes(u32),
}

/// A part of a message in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BytePart {
    /// These bytes.
    Literal(Vec<u8>),
    /// A name in braces, and what follows it behind a colon.
    Hole(String, Option<HoleForm>),
    /// `{length:be4}`, the bytes between it and the parenthesis, and what the parentheses enclose.
    Length(NumberForm, Vec<u8>, Vec<BytePart>),
}
