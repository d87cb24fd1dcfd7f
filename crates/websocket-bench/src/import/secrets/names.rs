//! Names that say that their value is a secret, in whatever case and style they are written.

use run_record::is_secret;

/// Names that say a secret only in handshakes: as names of a message's fields they are common.
const COMMON: [&str; 2] = ["code", "key"];
/// A name with one of these words is that of a secret ...
const WORDS: [&str; 40] = [
    "apikey",
    "assertion",
    "contrasena",
    "contraseña",
    "mdp",
    "nkey",
    "auth",
    "authenticate",
    "authentication",
    "authn",
    "authorisation",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "cred",
    "credential",
    "credentials",
    "creds",
    "csrf",
    "cvc",
    "cvv",
    "hmac",
    "jwe",
    "jwt",
    "oauth",
    "otp",
    "pass",
    "passkey",
    "pw",
    "pwd",
    "saml",
    "sess",
    "session",
    "sid",
    "sig",
    "sign",
    "ssn",
    "totp",
    "xsrf",
];
/// ... and so is one with one of these in it, where its words are not told apart.
const WITHIN: [&str; 21] = [
    "accesskey",
    "kennwort",
    "motdepasse",
    "senha",
    "sessid",
    "apikey",
    "authkey",
    "clientkey",
    "encryptionkey",
    "licensekey",
    "listenkey",
    "masterkey",
    "passcode",
    "passwd",
    "passwort",
    "privatekey",
    "secretkey",
    "sessionid",
    "sessionkey",
    "signingkey",
    "streamkey",
];
/// What ends a name that is about a secret and is none.
const ABOUT: [&str; 26] = [
    "alg",
    "algorithm",
    "at",
    "count",
    "enabled",
    "endpoint",
    "expiration",
    "expires",
    "expiry",
    "in",
    "length",
    "limit",
    "method",
    "mode",
    "name",
    "policy",
    "provider",
    "required",
    "scheme",
    "status",
    "ttl",
    "type",
    "types",
    "uri",
    "url",
    "version",
];
/// What begins the name of a number of tokens.
const AMOUNTS: [&str; 8] = [
    "completion",
    "input",
    "max",
    "min",
    "num",
    "output",
    "prompt",
    "total",
];
/// Before `key`: keys of another sense.
const OPEN_KEYS: [&str; 30] = [
    "arrow",
    "cache",
    "column",
    "composite",
    "dedup",
    "field",
    "foreign",
    "group",
    "hot",
    "idempotency",
    "index",
    "item",
    "lang",
    "map",
    "message",
    "meta",
    "node",
    "object",
    "partition",
    "primary",
    "public",
    "query",
    "registry",
    "room",
    "routing",
    "row",
    "shortcut",
    "sort",
    "storage",
    "translation",
];
/// Words that end or begin as a secret's does.
const OTHER_WORDS: [&str; 13] = [
    "authid",
    "authmethod",
    "authmethods",
    "authmode",
    "authprovider",
    "authrole",
    "authtype",
    "bypass",
    "compass",
    "encompass",
    "overpass",
    "surpass",
    "underpass",
];
/// Names of what a message is called by: random values are no secrets there.
const IDENTIFIERS: [&str; 10] = [
    "checksum", "etag", "guid", "hash", "id", "ids", "nonce", "ref", "ulid", "uuid",
];
/// What a client calls it when it says who it is.
const VERBS: [&str; 17] = [
    "auth",
    "authenticate",
    "authentication",
    "authorisation",
    "authorization",
    "authorize",
    "challenge",
    "credentials",
    "identify",
    "login",
    "logon",
    "oper",
    "pass",
    "password",
    "sasl",
    "signin",
    "token",
];

/// The words of a name in lower case: `accessKey`, `ACCESS_KEY` and `access-key` have the same two.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let is_next_lower = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || before.is_uppercase() && is_next_lower
            });
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            let word = words.last_mut().expect("there is one");
            word.extend(letter.to_lowercase());
        }
    }
    for word in &mut words {
        let bare = word.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        word.truncate(bare);
    }
    words.retain(|word| !word.is_empty());
    words
}

/// True of the name of a message's field or header whose value is a secret.
pub(in super::super) fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return false;
    };
    let is_amount = last == "tokens" && AMOUNTS.contains(&&**first);
    let is_about = words.len() > 1 && (ABOUT.contains(&&**last) || is_amount);
    if is_about || COMMON.contains(&name.to_ascii_lowercase().as_str()) {
        return false;
    }
    let joined = words.concat();
    let is_key = matches!(last.as_str(), "key" | "keys")
        && words.len() > 1
        && !OPEN_KEYS.contains(&&*words[words.len() - 2]);
    let is_pin = last == "pin" || first == "pin" && matches!(last.as_str(), "code" | "number");
    let is_like_secret = |word: &str| {
        let is_auth = word.starts_with("auth") && !word.starts_with("author");
        (is_auth || word.ends_with("pass")) && !OTHER_WORDS.contains(&word)
    };
    // Which keys and codes are secrets is told above: of the name, the other words.
    let others = words.iter().map(String::as_str);
    let others: Vec<&str> = others.filter(|word| !COMMON.contains(word)).collect();
    is_secret(&others.join("_"))
        || words.iter().any(|word| is_like_secret(word))
        || is_key
        || is_pin
        || words.iter().any(|word| WORDS.contains(&&**word))
        || WITHIN.iter().any(|part| joined.contains(part))
}

/// True of a secret's name below which an object may hold something else: a session has a language, too.
pub(super) fn is_of_session(name: &str) -> bool {
    words(name).iter().any(|word| word.starts_with("sess"))
}

/// True of the name of an identifier that is no secret.
pub(super) fn is_identifier(name: &str) -> bool {
    let words = words(name);
    let last = words.last().map_or("", String::as_str);
    IDENTIFIERS.contains(&last) && !is_secret_name(name)
}

/// True of what a client calls it when it says who it is: `login`, `auth.request`.
pub(super) fn is_verb(text: &str) -> bool {
    let words = words(text);
    let is_of_verb = |c: char| c.is_alphanumeric() || "_-.:/".contains(c);
    text.chars().all(is_of_verb)
        && words.len() <= 3
        && words.iter().any(|word| VERBS.contains(&&**word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_by_its_name_in_each_style() {
        for name in [
            "accessKey",
            "listenKey",
            "privateKey",
            "pin",
            "apiSecret",
            "x-api-key",
            "sessionToken",
            "jwt",
            "Signature",
            "PASSWORD",
            "userPassword",
            "user_pass",
            "APIKey",
            "ACCESS-SIGN",
            "authToken",
            "passcode",
            "Authorization",
            "sid",
            "otp2",
            "clientkey",
            "pinCode",
            "pwd",
            "refreshToken",
            "id_token",
            "csrf-token",
            "connect.sid",
            "appkey2Token",
            "encKey",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "author",
            "keyboard",
            "key",
            "code",
            "sortKey",
            "publicKey",
            "authType",
            "tokenType",
            "max_output_tokens",
            "pinned",
            "pin_message",
            "message",
            "signal",
            "design",
            "passenger",
            "text",
            "",
            "sessionCount",
            "expiresIn",
            "compass",
            "cookieName",
            "id",
            "assign",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
