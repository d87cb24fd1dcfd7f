//! What each client asks a server for: its path, header lines, cookies and subprotocols, with the
//! columns of its row of the data file in the places of the variables.

use super::data::{Data, DataError, FieldPlace, Wanted};
use super::secrets::Secrets;
use plan::{Connection, DialectFile, FORM, PLACEHOLDERS, Part, Plan, media_type, parts};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use ws_proto::{ConnectRequest, UpgradeRequest};

/// What all clients ask for, compiled once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asks {
    target: Text,
    host: Text,
    /// Behind those of the handshake itself.
    lines: Text,
    cookies: Text,
    /// Texts of requests over HTTP, and what they may hold.
    told: Vec<Wanted>,
    subprotocols: Text,
    tunnel: Option<Tunnel>,
    data: std::sync::Arc<Data>,
    secrets: Secrets,
}

#[derive(Clone, Debug)]
struct Tunnel {
    authority: String,
    credentials: Text,
}

/// A text in which columns are open.
#[derive(Clone, Debug, Default)]
struct Text(Vec<Piece>);

#[derive(Clone, Debug)]
enum Piece {
    Literal(String),
    Column(usize, FieldPlace),
    /// The number of the client.
    Client,
    /// What a step over HTTP was told.
    Told(String, FieldPlace),
}

/// What a plan's URL and proxy say, as the parts of a request.
#[derive(Debug)]
pub(super) struct Places<'a> {
    /// Path and query, with the variables in them.
    pub(super) target: &'a str,
    /// Host and, unless it is the scheme's own, port.
    pub(super) authority: &'a str,
    /// `Authorization` of a user in the URL.
    pub(super) authorization: Option<String>,
    /// Users and passwords in the URLs of the server and the proxy.
    pub(super) users: Vec<String>,
    /// Host and port for CONNECT, and the credentials of a user in the proxy's URL.
    pub(super) tunnel: Option<(String, Option<String>)>,
}

/// What one client asks for.
#[derive(Debug)]
pub(crate) struct Asked {
    target: String,
    host: String,
    lines: String,
    /// With commas between them; empty for none.
    subprotocols: String,
}

/// Texts of a plan while their variables are collected.
#[derive(Default)]
struct Compiler {
    wanted: Vec<Wanted>,
    columns: Vec<String>,
    /// Names of what steps over HTTP are told, and where these stand.
    told: Vec<String>,
    told_places: Vec<Wanted>,
}

/// What a step over HTTP told a client: a name, and the value.
pub(crate) type StepValue = (String, String);

/// Begins the name of a cookie that a step was told.
pub(crate) const COOKIE: &str = "cookie:";

impl Compiler {
    fn text(&mut self, key: &'static str, place: FieldPlace, text: &str, into: &mut Text) {
        for part in parts(text) {
            match part {
                Part::Text(text) if place == FieldPlace::Url => into.literal(&place.written(&text)),
                Part::Text(text) => into.literal(&text),
                Part::Variable(name) => self.variable(key, place, name, into),
            }
        }
    }

    /// The path and query of a URL, which are encoded where that is needed.
    fn target(&mut self, text: &str, into: &mut Text) {
        for part in parts(text) {
            match part {
                Part::Text(text) => into.literal(&text),
                Part::Variable(name) => self.variable("target.url", FieldPlace::Url, name, into),
            }
        }
    }

    /// A variable of what a client asks for. Its number needs no data file, and has only digits, which
    /// can stand anywhere.
    fn variable(&mut self, key: &'static str, place: FieldPlace, name: &str, into: &mut Text) {
        let piece = match name {
            CLIENT => Piece::Client,
            name if self.told.iter().any(|of| of == name) => {
                self.note_told(key, place, name);
                Piece::Told(name.to_owned(), place)
            }
            name => Piece::Column(self.column(key, place, name), place),
        };
        into.0.push(piece);
    }

    fn note_told(&mut self, key: &'static str, place: FieldPlace, name: &str) {
        self.told_places.push(Wanted {
            name: name.to_owned(),
            place,
            key,
        });
    }

    /// A message, which is written anew for each client. It may repeat what the server told it.
    fn message(&mut self, key: &'static str, text: &str, captured: &[&str]) {
        self.later(key, FieldPlace::Message, text, captured);
    }

    /// A text that is written later, for each client anew.
    fn later(&mut self, key: &'static str, place: FieldPlace, text: &str, captured: &[&str]) {
        for part in parts(text) {
            let Part::Variable(name) = part else { continue };
            if captured.contains(&name) {
                if self.told.iter().any(|of| of == name) {
                    self.note_told(key, place, name);
                }
            } else if name != CLIENT && !PLACEHOLDERS.contains(&name) {
                self.column(key, place, name);
            }
        }
    }

    /// The texts of requests over HTTP. A step knows what those before it were told.
    fn http(&mut self, file: &DialectFile, captured: &[&str]) {
        const STEP: &str = "message.definition.open.http";
        let mut known: Vec<&str> = Vec::new();
        for step in &file.open.http {
            self.later(STEP, FieldPlace::Url, &step.url, &known);
            for value in step.headers.values() {
                self.later(STEP, FieldPlace::Header, value, &known);
            }
            if let Some(body) = &step.body {
                self.later(STEP, body_place(&step.headers, body), body, &known);
            }
            known.extend(step.capture.keys().map(String::as_str));
        }
        let Some(of) = &file.send.http else { return };
        const SENT: &str = "message.definition.send.http";
        let known: Vec<&str> = captured.iter().copied().chain(of.names()).collect();
        self.later(SENT, FieldPlace::Url, &of.url, &known);
        for value in of.headers.values() {
            self.later(SENT, FieldPlace::Header, value, &known);
        }
        for signature in of.signatures.values() {
            self.message(SENT, &signature.key, &known);
            self.message(SENT, &signature.of, &known);
        }
        self.later(SENT, FieldPlace::Message, &of.body, captured);
    }

    fn column(&mut self, key: &'static str, place: FieldPlace, name: &str) -> usize {
        let name = name.to_owned();
        let known = self.columns.iter().position(|column| *column == name);
        self.wanted.push(Wanted {
            name: name.clone(),
            place,
            key,
        });
        known.unwrap_or_else(|| {
            self.columns.push(name);
            self.columns.len() - 1
        })
    }
}

impl Text {
    fn literal(&mut self, text: &str) {
        if let Some(Piece::Literal(last)) = self.0.last_mut() {
            last.push_str(text);
        } else if !text.is_empty() {
            self.0.push(Piece::Literal(text.to_owned()));
        }
    }

    fn filled(&self, data: &Data, client: u64, told: &[StepValue]) -> String {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => out.push_str(text),
                Piece::Column(column, place) => place.write(data.field(client, *column), &mut out),
                Piece::Client => out.push_str(&client.to_string()),
                Piece::Told(name, place) => place.write(told_value(told, name), &mut out),
            }
        }
        out
    }
}

fn told_value<'a>(told: &'a [StepValue], name: &str) -> &'a str {
    let found = told.iter().find(|(of, _)| of == name);
    found.map_or("", |(_, value)| value)
}

/// How variables stand in a body.
pub(crate) fn body_place(headers: &BTreeMap<String, String>, body: &str) -> FieldPlace {
    match media_type(headers, body).starts_with(FORM) {
        true => FieldPlace::Url,
        false => FieldPlace::Message,
    }
}

/// Variables of a plan that has no data file, or what is wrong with the file.
#[derive(Debug)]
pub(super) enum Unasked {
    /// The key and the variable.
    NoData(&'static str, String),
    Data(DataError),
}

impl Asks {
    /// Compiles the texts of a plan, and reads the data file that it names.
    ///
    /// # Errors
    /// [`Unasked`] when a variable stands for nothing.
    pub(super) fn new(plan: &Plan, places: Places<'_>) -> Result<Self, Unasked> {
        let connection = &plan.connection;
        let file = plan.message.definition.as_deref();
        let told = file.into_iter().flat_map(|file| file.told_by_steps());
        let mut compiler = Compiler {
            told: told.map(str::to_owned).collect(),
            ..Compiler::default()
        };
        let of_proxy = places.tunnel.as_ref().and_then(|(_, shown)| shown.as_ref());
        let shown = places.authorization.iter().chain(of_proxy);
        let users = shown
            .chain(&places.users)
            .map(|text| Cow::from(text.as_str()));
        let of_dialect = plan
            .message
            .definition
            .iter()
            .flat_map(|file| file.secrets());
        let secrets = Secrets::new(connection, places.target, users).and(of_dialect);
        let mut asks = Self {
            target: Text::default(),
            host: Text::default(),
            lines: Text::default(),
            cookies: Text::default(),
            told: Vec::new(),
            subprotocols: Text::default(),
            tunnel: None,
            data: std::sync::Arc::default(),
            secrets,
        };
        asks.compile_target(&mut compiler, connection, places.target);
        asks.host.literal(places.authority);
        let (tunnel, credentials) = places.tunnel.unzip();
        asks.tunnel = tunnel.map(|authority| Tunnel {
            authority,
            credentials: Text::default(),
        });
        if let (Some(tunnel), Some(Some(value))) = (&mut asks.tunnel, &credentials) {
            tunnel.credentials.literal(value);
        }
        asks.compile_headers(&mut compiler, connection, places.authorization.as_deref());
        let cookies = "connection.cookies";
        for (at, cookie) in connection.cookies.iter().enumerate() {
            asks.cookies.literal(if at == 0 { "" } else { "; " });
            compiler.text(cookies, FieldPlace::Cookie, cookie, &mut asks.cookies);
        }
        for (at, name) in connection.subprotocols.iter().enumerate() {
            let key = "connection.subprotocols";
            asks.subprotocols.literal(if at == 0 { "" } else { ", " });
            compiler.text(key, FieldPlace::Token, name, &mut asks.subprotocols);
        }
        for file in plan.message.definition.iter() {
            let file = file.outlined();
            let captured: Vec<&str> = file.told().collect();
            for text in file.exchange() {
                compiler.message("message.definition.open", text, &captured);
            }
            for text in file.requests() {
                compiler.message("message.definition.send", text, &captured);
            }
            for beat in file.heartbeat.iter() {
                compiler.message("message.definition.heartbeat", &beat.send, &captured);
            }
            compiler.http(&file, &captured);
        }
        for (key, text) in plan.message.mqtt.iter().flat_map(|of| of.texts()) {
            compiler.message(key, text, &[]);
        }
        asks.told = std::mem::take(&mut compiler.told_places);
        asks.data = read(connection.data.as_deref(), &compiler)?.into();
        Ok(asks)
    }

    fn compile_target(&mut self, compiler: &mut Compiler, plan: &Connection, url: &str) {
        compiler.target(url, &mut self.target);
        for (at, entry) in plan
            .entries()
            .filter(|of| of.field.ends_with("query"))
            .enumerate()
        {
            let begins = at == 0 && !url.contains('?');
            self.target.literal(if begins { "?" } else { "&" });
            compiler.text(entry.field, FieldPlace::Url, entry.name, &mut self.target);
            self.target.literal("=");
            compiler.text(entry.field, FieldPlace::Url, entry.value, &mut self.target);
        }
    }

    fn compile_headers(&mut self, compiler: &mut Compiler, plan: &Connection, user: Option<&str>) {
        if let Some(value) = user {
            self.lines.literal(&format!("Authorization: {value}\r\n"));
        }
        for entry in plan.entries().filter(|of| of.field.ends_with("headers")) {
            let is = |name: &str| entry.name.eq_ignore_ascii_case(name);
            let into = match &mut self.tunnel {
                Some(tunnel) if is("proxy-authorization") => &mut tunnel.credentials,
                _ if is("host") => &mut self.host,
                _ => {
                    self.lines.literal(&format!("{}: ", entry.name));
                    compiler.text(
                        entry.field,
                        FieldPlace::Header,
                        entry.value,
                        &mut self.lines,
                    );
                    self.lines.literal("\r\n");
                    continue;
                }
            };
            into.0.clear();
            compiler.text(entry.field, FieldPlace::Header, entry.value, into);
        }
    }

    /// What a client of the run asks the server for, that steps over HTTP were told so much.
    pub(crate) fn of_client(&self, client: u64, told: &[StepValue]) -> Asked {
        let fill = |text: &Text| text.filled(&self.data, client, told);
        let mut lines = fill(&self.lines);
        let mut cookies: Vec<String> = vec![fill(&self.cookies)];
        cookies.extend(cookie_pairs(told));
        cookies.retain(|pair| !pair.is_empty());
        if !cookies.is_empty() {
            lines.push_str(&format!("Cookie: {}\r\n", cookies.join("; ")));
        }
        Asked {
            target: fill(&self.target),
            host: fill(&self.host),
            lines,
            subprotocols: fill(&self.subprotocols),
        }
    }

    /// A text of a request over HTTP, with what stands for its variables written as `place` needs it.
    pub(crate) fn fill(
        &self,
        text: &str,
        place: FieldPlace,
        client: u64,
        told: &[StepValue],
    ) -> String {
        let mut out = String::new();
        for part in parts(text) {
            let Part::Variable(name) = part else {
                if let Part::Text(text) = part {
                    out.push_str(&text);
                }
                continue;
            };
            match told.iter().find(|(of, _)| of == name) {
                Some((_, value)) => place.write(value, &mut out),
                None => {
                    let mut value = Vec::new();
                    self.write_variable(name, client, &mut value);
                    place.write(&String::from_utf8_lossy(&value), &mut out);
                }
            }
        }
        out
    }

    /// Whether what a step was told can stand in all places that the plan has for it.
    pub(crate) fn admits(&self, name: &str, value: &str) -> Result<(), &'static str> {
        let mut places = self.told.iter().filter(|of| of.name == name);
        places.try_for_each(|of| of.place.admits(value))
    }

    /// Appends what a variable of a message stands for with one client.
    pub(crate) fn write_variable(&self, name: &str, client: u64, out: &mut Vec<u8>) {
        if name == CLIENT {
            write!(out, "{client}").expect("a Vec takes everything");
        } else if let Some(column) = self.data.column(name) {
            out.extend_from_slice(self.data.field(client, column).as_bytes());
        }
    }

    /// Words of the server or the proxy in which it has not told the secrets of a client, nor what
    /// `told` has of it.
    pub(crate) fn silent<'a>(
        &'a self,
        client: u64,
        told: impl IntoIterator<Item = &'a str>,
        words: &str,
    ) -> String {
        self.secrets
            .silent(self.data.row(client).chain(told), words)
    }

    /// What the proxy is asked for; `None` where there is none.
    pub(crate) fn tunnel(&self, client: u64) -> Option<Vec<u8>> {
        self.tunnel_to(&self.tunnel.as_ref()?.authority, client)
    }

    /// The same for a way to another server.
    pub(crate) fn tunnel_to(&self, authority: &str, client: u64) -> Option<Vec<u8>> {
        let tunnel = self.tunnel.as_ref()?;
        let credentials = tunnel.credentials.filled(&self.data, client, &[]);
        let mut out = Vec::new();
        ConnectRequest {
            authority,
            authorization: Some(credentials.as_str()).filter(|value| !value.is_empty()),
        }
        .encode(&mut out);
        Some(out)
    }
}

/// The cookies among what steps were told, as pairs.
pub(crate) fn cookie_pairs(told: &[StepValue]) -> impl Iterator<Item = String> {
    told.iter().filter_map(|(name, value)| {
        let name = name.strip_prefix(COOKIE)?;
        Some(format!("{name}={value}"))
    })
}

/// The variable that is the number of a client of the whole run, from 0 on.
const CLIENT: &str = "client";
fn read(path: Option<&Path>, compiler: &Compiler) -> Result<Data, Unasked> {
    match (path, compiler.wanted.first()) {
        (Some(path), _) => Data::read(path, &compiler.wanted).map_err(Unasked::Data),
        (None, Some(first)) => Err(Unasked::NoData(first.key, first.name.clone())),
        (None, None) => Ok(Data::default()),
    }
}

impl Asked {
    /// Appends the request for an upgrade. What `rest` says of host, path and subprotocol is
    /// replaced.
    pub(crate) fn encode(&self, rest: UpgradeRequest<'_>, out: &mut Vec<u8>) {
        UpgradeRequest {
            authority: &self.host,
            target: &self.target,
            subprotocol: self.subprotocols().or(rest.subprotocol),
            ..rest
        }
        .encode_with(&self.lines, out);
    }

    /// The subprotocols that the plan asks for.
    pub(crate) fn subprotocols(&self) -> Option<&str> {
        Some(self.subprotocols.as_str()).filter(|list| !list.is_empty())
    }
}

#[cfg(test)]
mod tests;
