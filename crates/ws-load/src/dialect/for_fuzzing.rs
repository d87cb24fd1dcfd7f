//! Access for the laws of the fuzz targets. Not part of the interface.

use super::Stamps;
use super::interpreter::Interpreter;
use super::payload::Body;
use super::{Codec, Incoming};

/// The padding of the requests whose answers are looked for.
pub const PADDING: &str = "1234567890";

/// An answer that was found intact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intact {
    /// The dialect of the answer.
    pub dialect: String,
    /// The stamp that it carries.
    pub stamp: u64,
    /// The JSON pointer at which the file says that the payload stands.
    pub payload: String,
}

/// The built-in dialects for which a message is an intact answer.
pub fn intact_answers(message: &[u8]) -> Vec<Intact> {
    thread_local! {
        static DIALECTS: Vec<Interpreter> = run_record::built_in_dialects()
            .iter()
            .map(|file| {
                let body = Body::new(PADDING.to_owned());
                Interpreter::compile(file, body, "ws://h/", Stamps::of_run(1))
                    .expect("the files of dialects/ make sense")
            })
            .collect();
    }
    DIALECTS.with(|dialects| {
        let each = run_record::built_in_dialects().iter().zip(dialects);
        each.filter_map(|(file, dialect)| {
            drop(dialect.opened(message, Some(1)));
            let Ok(Incoming::Message {
                stamp,
                intact: true,
                ..
            }) = dialect.parse(message)
            else {
                return None;
            };
            let rule = dialect.rule_of(message)?;
            Some(Intact {
                dialect: file.name.clone(),
                stamp,
                payload: file.receive[rule].payload.clone()?,
            })
        })
        .collect()
    })
}
