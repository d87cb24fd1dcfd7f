//! Names that say that their value is a secret, in whatever case and style they are written.

use plan::{is_secret, words_of as words};

/// Names that say a secret only in handshakes: as names of a message's fields they are common.
const COMMON: [&str; 2] = ["code", "key"];
/// A name with one of these words is that of a secret ...
const WORDS: [&str; 62] = [
    "mfa",
    "psk",
    "pswrd",
    "sas",
    "tfa",
    "clave",
    "haslo",
    "hasło",
    "heslo",
    "jelszó",
    "macaroon",
    "mnemonic",
    "parola",
    "psw",
    "pswd",
    "salasana",
    "sifre",
    "tkn",
    "tok",
    "xprv",
    "şifre",
    "пароль",
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
const WITHIN: [&str; 33] = [
    "connectionstring",
    "masterauth",
    "primaryauth",
    "lösenord",
    "privkey",
    "recoveryphrase",
    "seedphrase",
    "wachtwoord",
    "パスワード",
    "密码",
    "密碼",
    "비밀번호",
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
/// What is before `id` in the name of an identifier that says which client it is.
const OF_CLIENT: [&str; 8] = [
    "app",
    "application",
    "client",
    "consumer",
    "device",
    "install",
    "installation",
    "tenant",
];
/// Behind `signed`: names of another sense.
const SIGNED_OTHERWISE: [&str; 8] = ["at", "by", "in", "off", "on", "out", "up", "until"];
/// Fields of a message that says who the client is, which are no secrets.
const OPEN: [&str; 64] = [
    "operationname",
    "query",
    "account",
    "agent",
    "app",
    "appname",
    "browser",
    "build",
    "capabilities",
    "client",
    "country",
    "date",
    "device",
    "email",
    "encoding",
    "events",
    "exchange",
    "features",
    "format",
    "host",
    "hostname",
    "intents",
    "jsonrpc",
    "lang",
    "language",
    "level",
    "locale",
    "login",
    "mail",
    "market",
    "mechanism",
    "method",
    "mode",
    "model",
    "os",
    "platform",
    "protocol",
    "provider",
    "reason",
    "realm",
    "referrer",
    "region",
    "resolution",
    "role",
    "roles",
    "room",
    "scheme",
    "scope",
    "scopes",
    "status",
    "symbol",
    "time",
    "timestamp",
    "timezone",
    "ts",
    "tz",
    "u",
    "url",
    "user",
    "useragent",
    "userid",
    "username",
    "ver",
    "version",
];
/// Fields that name the user beside a password of one letter.
const USERS: [&str; 6] = ["account", "email", "login", "u", "user", "username"];
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

/// Names of what often is a secret: it is one where its value is no word.
const MAY_BE: [&str; 21] = [
    "activation",
    "captcha",
    "digest",
    "guardian",
    "handshake",
    "invitation",
    "invite",
    "licence",
    "license",
    "magic",
    "pat",
    "proof",
    "recovery",
    "redeem",
    "serial",
    "solution",
    "static",
    "ticket",
    "unlock",
    "verifier",
    "voucher",
];
/// What a client calls it when it comes in, with a key where it needs one.
const ENTRANCES: [&str; 6] = ["enter", "join", "redeem", "unlock", "verify", "watch"];
/// What the key is called then.
const ENTRANCE_KEYS: [&str; 4] = ["code", "invite", "key", "k"];
/// What a server calls it when it asks who the client is, beside a verb.
const DEMANDS: [&str; 10] = [
    "ask",
    "challenge",
    "demand",
    "enter",
    "needed",
    "prompt",
    "req",
    "request",
    "requested",
    "required",
];

/// True of the name of what often is a secret.
pub(super) fn may_be_secret(name: &str) -> bool {
    words(name).iter().any(|word| MAY_BE.contains(&&**word))
        && !words(name)
            .last()
            .is_some_and(|last| ABOUT.contains(&&**last) || IDENTIFIERS.contains(&&**last))
}

/// True of what a client calls it when it comes in somewhere: `join`, `room:enter`.
pub(super) fn is_entrance(text: &str) -> bool {
    let words = words(text);
    words.len() <= 3 && words.iter().any(|word| ENTRANCES.contains(&&**word))
}

/// True of the field that then has the key.
pub(super) fn is_entrance_key(name: &str) -> bool {
    ENTRANCE_KEYS.contains(&name)
}

/// True of what a server says when it asks who the client is: `auth_required`, `Password:`.
pub(in super::super) fn is_demand(text: &str) -> bool {
    let words = words(text);
    is_verb(text) && (words.len() == 1 || words.iter().any(|word| DEMANDS.contains(&&**word)))
}

/// True of the name of a message's field or header whose value is a secret.
pub(in super::super) fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return false;
    };
    let is_amount = last == "tokens" && AMOUNTS.contains(&&**first);
    let is_about = words.len() > 1 && (ABOUT.contains(&&**last) || is_amount);
    if is_signed(&words) {
        return true;
    }
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

/// `signed_stream_name`: who has it may use it.
fn is_signed(words: &[String]) -> bool {
    let behind = words.iter().skip_while(|word| *word != "signed").nth(1);
    behind.is_some_and(|word| !SIGNED_OTHERWISE.contains(&&**word))
}

/// True of the name of an identifier that says which client it is, and that may be random.
pub(super) fn is_of_client(name: &str) -> bool {
    let words = words(name);
    matches!(&*words, [.., of, id] if id == "id" && OF_CLIENT.contains(&&**of))
}

/// True of the name of what a client says of itself that is no secret.
pub(in super::super) fn is_open(name: &str) -> bool {
    let bare: String = words(name).concat();
    let last = words(name).pop().unwrap_or_default();
    OPEN.contains(&&*bare) || IDENTIFIERS.contains(&&*last) || ABOUT.contains(&&*last)
}

/// True of a field that names the user.
pub(super) fn is_user(name: &str) -> bool {
    USERS.contains(&name)
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
        && (words.iter().any(|word| VERBS.contains(&&**word))
            || words
                .windows(2)
                .any(|pair| VERBS.contains(&&*pair.concat())))
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
