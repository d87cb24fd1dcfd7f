//! What messages bring besides answers to requests, to be followed up by the scenario.

use super::Verifier;
use crate::dialect::Told;

/// Most bytes of answers to the questions of one read. A server that asks for more than that at once
/// does not wait for answers.
const MOST_ANSWERS: usize = 1 << 20;

/// A client, by its slot, and a message for the server.
pub(crate) type Answer = (u32, Box<[u8]>);

/// What came since it was last followed up.
#[derive(Debug, Default)]
pub(crate) struct Asides {
    /// The client that got the latest keep-alive, and what it is to be answered with.
    pub(crate) keep_alive: Option<Answer>,
    /// Questions of the server, each with its answer, in their order.
    pub(crate) questions: Vec<Answer>,
    /// A client that was asked for more than is answered.
    pub(crate) flooded: Option<u32>,
    answer_bytes: usize,
    /// Names and values that clients were told for their later messages.
    pub(crate) renewed: Vec<(u32, Vec<Told>)>,
    /// Requests of dialogues that have their answers, by their samples, and when these came.
    pub(crate) answered: Vec<(u32, u64)>,
    /// Clients whose heartbeats were answered, and when.
    pub(crate) heartbeats: Vec<(u32, u64)>,
}

impl Asides {
    /// A client was asked something.
    pub(crate) fn ask(&mut self, slot: u32, answer: Box<[u8]>) {
        // So that a message without a byte counts too.
        self.answer_bytes += answer.len() + size_of::<Answer>();
        if self.answer_bytes > MOST_ANSWERS {
            self.flooded = Some(slot);
        } else {
            self.questions.push((slot, answer));
        }
    }
}

impl Verifier {
    /// Notes the values that a message renews for its client. True where there are any: such a message is
    /// parsed for each client that gets it.
    pub(super) fn note_renewed(&mut self, slot: u32, message: &[u8]) -> bool {
        let values = self.codec.renewed(message);
        let tells = !values.is_empty();
        if tells {
            self.asides().renewed.push((slot, values));
        }
        tells
    }

    /// Notes what the client is to send for a message. True where there is something: such a message is
    /// parsed for each client that gets it.
    pub(super) fn acknowledge(&mut self, slot: u32, message: &[u8]) -> bool {
        let answer = self.codec.acknowledgement(message);
        let is_asked = answer.is_some();
        if let Some(answer) = answer {
            self.asides().ask(slot, answer);
        }
        is_asked
    }

    pub(super) fn asides(&mut self) -> &mut Asides {
        self.asides.get_or_insert_default()
    }
}
