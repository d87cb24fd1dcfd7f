//! A script whose requests wait for the answers before them.

use super::{DialectFile, Meaning};

impl DialectFile {
    /// True of a script in which clients think between an answer and their next request.
    pub fn is_dialogue(&self) -> bool {
        self.send.script.iter().any(|turn| turn.after.is_some())
    }

    /// The names of what messages may repeat: what is captured while a client opens, signatures, what a
    /// client keeps for its next connections, and in a dialogue what its answers tell.
    pub fn told(&self) -> impl Iterator<Item = &str> {
        let is_dialogue = self.is_dialogue();
        let rules = self.receive.iter();
        let answers = rules.filter(move |rule| is_dialogue && rule.means == Meaning::Echo);
        let names = answers.flat_map(|rule| rule.capture.keys());
        let names = names.map(String::as_str).chain(self.kept());
        self.captured().chain(names)
    }
}
