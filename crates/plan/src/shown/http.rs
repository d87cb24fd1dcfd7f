//! Requests over HTTP of a dialect file, as they are written: what is a secret is left out, and a variable
//! is none.

use crate::handshake::{REDACTED_VALUE, is_literal};
use crate::redact::{
    REDACTED, is_secret, members_but, parameters_but, redacted_members, without_users,
};
use crate::{DialectFile, Signature};
use std::collections::BTreeMap;

impl DialectFile {
    /// Replaces the secrets of its requests over HTTP.
    pub(super) fn redact_http(&mut self) {
        for step in &mut self.open.http {
            redact_headers(&mut step.headers);
            step.url = redacted_url(&step.url);
            step.body = step.body.take().map(|body| without_secrets(&body));
        }
        if let Some(of) = &mut self.send.http {
            redact_headers(&mut of.headers);
            of.url = redacted_url(&of.url);
            of.body = without_secrets(&of.body);
            of.signatures.values_mut().for_each(redact_signature);
        }
    }

    /// What [`Self::redact_http`] replaces, but for users of URLs, which no plan may have.
    pub(super) fn http_secrets(&self) -> Vec<String> {
        let mut found = Vec::new();
        let of_steps = self.open.http.iter();
        let of_steps = of_steps.map(|step| (&step.headers, &step.url, step.body.as_ref()));
        let publication = self.send.http.as_ref();
        let of_publication = publication.map(|of| (&of.headers, &of.url, Some(&of.body)));
        for (headers, url, body) in of_steps.chain(of_publication) {
            let secret = headers.iter().filter(|(name, value)| hides(name, value));
            found.extend(secret.map(|(_, value)| value.clone()));
            found.extend(parameters(url));
            found.extend(body.into_iter().flat_map(|body| literals(body)));
        }
        let signatures = publication
            .into_iter()
            .flat_map(|of| of.signatures.values());
        for Signature { key, of } in signatures {
            found.extend(Some(key.clone()).filter(|key| is_literal(key)));
            found.extend(literals(of));
        }
        found.retain(|secret| secret != REDACTED && secret != REDACTED_VALUE);
        found
    }

    /// True where such a secret was replaced.
    pub(super) fn lacks_http_secrets(&self) -> bool {
        let steps = self.open.http.iter().flat_map(|step| step.texts());
        let publication = self.send.http.iter();
        let publication = publication.flat_map(|of| of.texts().chain([of.body.as_str()]));
        let mut all = steps.chain(publication);
        all.any(|text| {
            let is_replaced = |before| text.contains(&format!("{before}REDACTED"));
            text == REDACTED_VALUE || is_replaced("=") || is_replaced(":\"") || is_replaced("//")
        })
    }
}

fn hides(name: &str, value: &str) -> bool {
    let is_secret = is_secret(name) || name.eq_ignore_ascii_case("cookie");
    is_secret && is_literal(value)
}

fn redact_headers(headers: &mut BTreeMap<String, String>) {
    for (name, value) in headers {
        if hides(name, value) {
            REDACTED_VALUE.clone_into(value);
        }
    }
}

fn redact_signature(signature: &mut Signature) {
    if is_literal(&signature.key) {
        REDACTED_VALUE.clone_into(&mut signature.key);
    }
    signature.of = redacted_url(&without_secrets(&signature.of));
}

/// A URL without the secrets of its user and of its parameters.
fn redacted_url(url: &str) -> String {
    parameters_but(&without_users(url), &is_literal)
}

/// A body that is JSON or a form.
fn without_secrets(body: &str) -> String {
    let body = redacted_members(body, &is_literal);
    let form = parameters_but(&format!("&{body}"), &is_literal);
    form[1..].to_owned()
}

/// The literal secrets of a body that is JSON or a form.
fn literals(body: &str) -> Vec<String> {
    let mut found = parameters(&format!("&{body}"));
    found.extend(members_but(body, &is_literal));
    found
}

/// The literal secrets among the parameters of a text.
fn parameters(text: &str) -> Vec<String> {
    let found = std::cell::RefCell::new(Vec::new());
    parameters_but(text, &|value| {
        if is_literal(value) {
            found.borrow_mut().push(value.to_owned());
        }
        false
    });
    found.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> DialectFile {
        let value = serde_json::json!({
            "name": "n", "summary": "s", "receive": [],
            "open": {"http": [{
                "url": "/login?token={token}&key=of-the-address",
                "headers": {"Authorization": "Bearer of-header", "X-Api-Key": "{key}", "Accept": "some/thing"},
                "body": "password=of-the-form&user={user}",
            }, {
                "url": "/join",
                "body": "{\"secret\":\"of-the-body\",\"token\":\"{token}\"}",
            }]},
            "send": {"http": {
                "url": "/events?auth_key={key}&auth_signature={signature}",
                "body": "{payload}",
                "signatures": {"signature": {"key": "of-signature", "of": "{body_md5}&token=of-the-signed"}},
            }},
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn literal_secrets_are_replaced_and_variables_stay() {
        let mut file = file();
        let mut secrets = file.http_secrets();
        secrets.sort();
        let due = [
            "Bearer of-header",
            "of-signature",
            "of-the-address",
            "of-the-body",
            "of-the-form",
            "of-the-signed",
        ];
        assert_eq!(secrets, due);
        assert!(!file.lacks_http_secrets());
        file.redact_http();
        assert!(file.lacks_http_secrets());
        assert_eq!(file.http_secrets(), Vec::<String>::new());
        let written = serde_json::to_string(&file).unwrap();
        assert!(!written.contains("of-"), "{written}");
        for stays in [
            "token={token}",
            "user={user}",
            "auth_signature={signature}",
            "some/thing",
        ] {
            assert!(written.contains(stays), "{stays}: {written}");
        }
    }
}
