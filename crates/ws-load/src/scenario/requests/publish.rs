//! Publications over HTTP, in the place of messages over the sender's own connection.
//!
//! One counts as sent when it is handed to the thread that makes requests; the wait for a free connection
//! there is part of its latency. The answer is the sender's result.

use super::Requests;
use super::backlog::Request;
use crate::dialect::{Codec, Variables, topic_of};
use crate::http::{Access, Answered, Caller, Letter, Reply, hmac_sha256, md5};
use crate::message::RequestsPart;
use crate::net::{FieldPlace, HttpUrl};
use crate::scenario::writer::OfClient;
use crate::scenario::{Clients, Setting, Slot};
use crate::verify::StepLedger;
use plan::{HttpPublication, Part, Signature, Workload, parts, redacted_url};
use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a worker publishes with.
pub(super) struct Publisher {
    access: Access,
    reply: Reply<Answered>,
    answers: mpsc::Receiver<Answered>,
    workload: Workload,
    topic_prefix: String,
    of: HttpPublication,
    pub(super) part: RequestsPart,
}

/// What names in the texts of a publication stand for, besides variables of its client.
struct Meanings<'a> {
    topic: String,
    stamp: u64,
    timestamp: u64,
    body_md5: String,
    signed: BTreeMap<&'a str, String>,
    variables: &'a dyn Variables,
}

impl Publisher {
    /// `None` where the plan publishes by messages.
    pub(super) fn new(setting: &Setting) -> Option<Box<Self>> {
        let file = setting.plan.message.definition.as_deref()?;
        let of = file.send.http.clone()?;
        let workload = setting.plan.workload();
        let access = setting
            .http
            .clone()
            .filter(|_| workload != Workload::Echo)?;
        let (reply, answers) = access.mailbox();
        Some(Box::new(Self {
            access,
            reply,
            answers,
            workload,
            topic_prefix: file.topic_prefix.clone(),
            of,
            part: RequestsPart::default(),
        }))
    }

    /// The request of a sample.
    fn letter(
        &self,
        codec: &dyn Codec,
        (room, stamp): (u32, u64),
        variables: &dyn Variables,
    ) -> (String, Vec<(String, String)>, Vec<u8>) {
        let mut body = Vec::new();
        codec.request(self.workload, room, stamp, variables, &mut body);
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut meanings = Meanings {
            topic: format!("{}{}", self.topic_prefix, topic_of(room)),
            stamp,
            timestamp: since.unwrap_or_default().as_secs(),
            body_md5: match self.names("body_md5") {
                true => md5(&body),
                false => String::new(),
            },
            signed: BTreeMap::new(),
            variables,
        };
        for (name, signature) in &self.of.signatures {
            let signed = meanings.sign(signature);
            meanings.signed.insert(name, signed);
        }
        let path = HttpUrl::new(&self.of.url).map_or("/", |url| url.path);
        let headers = self.of.headers.iter();
        let headers =
            headers.map(|(name, value)| (name.clone(), meanings.fill(value, FieldPlace::Header)));
        (
            meanings.fill(path, FieldPlace::Url),
            headers.collect(),
            body,
        )
    }

    fn names(&self, name: &str) -> bool {
        let name = format!("{{{name}}}");
        self.of.texts().any(|text| text.contains(&name))
    }

    /// What waits to be published of the step under way and those before it is not sent.
    pub(super) fn give_up(&self, next_sample: u64) {
        self.access.service.give_up_before(next_sample);
    }
}

impl Meanings<'_> {
    fn fill(&self, text: &str, place: FieldPlace) -> String {
        let mut out = String::new();
        for part in parts(text) {
            match part {
                Part::Text(text) => out.push_str(&text),
                Part::Variable(name) => place.write(&self.value(name), &mut out),
            }
        }
        out
    }

    fn value(&self, name: &str) -> String {
        match name {
            "topic" => self.topic.clone(),
            "stamp" => format!("{:016x}", self.stamp),
            "timestamp" => self.timestamp.to_string(),
            "body_md5" => self.body_md5.clone(),
            name => self.signed.get(name).cloned().unwrap_or_else(|| {
                let mut value = Vec::new();
                self.variables.write(name, &mut value);
                String::from_utf8_lossy(&value).into_owned()
            }),
        }
    }

    fn sign(&self, signature: &Signature) -> String {
        let key = self.fill(&signature.key, FieldPlace::Message);
        let text = self.fill(&signature.of, FieldPlace::Message);
        hmac_sha256(key.as_bytes(), text.as_bytes())
    }
}

impl Requests {
    /// Has a client publish a sample. False where the plan publishes by messages.
    pub(super) fn publish_sample(
        &mut self,
        ledger: &Arc<StepLedger>,
        slot: Slot,
        request: Request,
        clients: &mut dyn Clients,
    ) -> bool {
        let Some(publisher) = &self.publisher else {
            return false;
        };
        let stamp = self
            .verifier
            .stamp(ledger.first_sample + u64::from(request.index));
        let room = ledger.room(request.index);
        let variables = OfClient::new(clients, slot);
        let (path, headers, body) =
            publisher.letter(self.verifier.codec(), (room, stamp), &variables);
        let setting = &self.setting;
        let caller = Caller::new(
            &setting.plan,
            slot,
            (self.number, self.workers),
            (setting.thread, setting.threads),
            clients.node(slot),
        );
        let sent = self.sent_at(clients.now_ns(), slot, request);
        if sent.at_ns >= self.cutter.end_ns {
            self.cut(sent.at_ns);
        }
        self.sent_bytes += body.len() as u64;
        ledger.sent(request.index, sent);
        let letter = Letter {
            index: request.index,
            first_sample: ledger.first_sample,
            stamp,
            due_ns: request.due_ns,
            handed_ns: sent.at_ns,
            path,
            headers,
            body: body.into(),
        };
        if let Some(publisher) = &self.publisher {
            let service = &publisher.access.service;
            service.publish(caller, letter, &publisher.reply);
        }
        self.tell_sent(ledger, slot, request.index, clients);
        true
    }

    /// Follows up on the answers that have come.
    pub(super) fn heed_published(&mut self, clients: &mut dyn Clients) {
        while let Some(publisher) = &mut self.publisher
            && let Ok(answered) = publisher.answers.try_recv()
        {
            let failure = answered.failure.as_ref().map(|failure| {
                let mut failure = failure.clone();
                for words in failure.words_mut() {
                    *words = clients.silent(answered.slot, words);
                }
                let of = &publisher.of;
                let url = redacted_url(&of.url);
                // Its parameters are many, and some secret.
                let (method, url) = (of.method(), url.split('?').next().unwrap_or_default());
                format!(
                    "a publication ({method} {url}) {failure}; {}",
                    failure.remedy()
                )
            });
            let took_ns = answered.at_ns.saturating_sub(answered.letter.handed_ns);
            publisher.part.note(answered.status, took_ns, failure);
            self.settle_published(&answered, clients);
        }
        self.settle_lost(clients);
    }

    fn settle_published(&mut self, answered: &Answered, clients: &mut dyn Clients) {
        let letter = &answered.letter;
        let step = self.verifier.step().cloned();
        let Some(ledger) = step.filter(|of| of.first_sample == letter.first_sample) else {
            return;
        };
        if let Some(due_ns) = letter.due_ns
            && ledger.is_timed(letter.index)
        {
            let lag_ns = letter.handed_ns.saturating_sub(due_ns) + answered.lag_ns;
            self.verifier.tally.latencies.send_lag.record(lag_ns);
        }
        match answered.failure {
            Some(_) => self.verifier.publication_refused(),
            // One that is gone waits for no result.
            None if clients.is_ready(answered.slot) => {
                let now_ns = clients.now_ns();
                let stamp = letter.stamp;
                self.verifier
                    .publication_taken(answered.slot, stamp, answered.at_ns, now_ns);
            }
            None => {}
        }
    }
}
