use super::*;
use crate::Plan;

fn with(change: impl FnOnce(&mut Plan)) -> Result<(), String> {
    let plan = Plan::new("ws://h/").with(change);
    plan.validate().map_err(|error| error.to_string())
}

fn header(text: &str) -> Result<(), String> {
    with(|plan| plan.connection.headers = vec![text.to_owned()])
}

#[test]
fn headers_of_the_handshake_are_refused_by_name_and_no_value_is_shown() {
    for name in [
        "Upgrade",
        "CONNECTION",
        "sec-websocket-KEY",
        "Content-Length",
        "Expect",
    ] {
        let words = header(&format!("{name}: Kx82nvQ0")).unwrap_err();
        assert!(words.contains("those of the handshake itself"), "{words}");
        assert!(!words.contains("Kx82nvQ0"), "{words}");
    }
    for (text, remedy) in [
        ("Origin: http://a", "--origin"),
        ("Sec-WebSocket-Protocol: a", "--subprotocol"),
        ("Sec-WebSocket-Extensions: x", "--compression"),
        ("Kx82nvQ0", "`Name: value`"),
        ("a b: Kx82nvQ0", "`Name: value`"),
        (": Kx82nvQ0", "`Name: value`"),
        ("X: a\r\nKx82nvQ0: b", "on one line"),
        ("X: \u{e9}Kx82nvQ0", "printable ASCII"),
        ("Proxy-Authorization: Kx82nvQ0", "--proxy"),
        ("Authorization: <redacted>", "env:NAME"),
    ] {
        let words = header(text).unwrap_err();
        assert!(words.contains(remedy), "{words}");
        assert!(!words.contains("Kx82nvQ0"), "{words}");
    }
    for text in [
        "X:y",
        "Host: other:1",
        "X-Empty:",
        "Authorization: Bearer env:T",
        "Cookie: a",
    ] {
        header(text).unwrap();
    }
}

#[test]
fn what_travels_with_a_plan_is_known() {
    let has = |text: &str| {
        let plan =
            Plan::new("ws://h/").with(|plan| plan.connection.headers = vec![text.to_owned()]);
        plan.connection.has_secrets()
    };
    for text in [
        "Authorization: Bearer x",
        "X-Api-Key: x",
        "X: env:T",
        "Cookie: a={t}b",
    ] {
        assert!(has(text), "{text}");
    }
    for text in [
        "X: y",
        "Authorization: Bearer {t}",
        "Host: h",
        "Cookie: {all}",
    ] {
        assert!(!has(text), "{text}");
    }
    let mut target = Plan::new("ws://u@h/").target;
    assert!(target.has_credentials());
    target.url = "ws://h/?a@b".to_owned();
    assert!(!target.has_credentials());
    target.proxy = Some("http://u:p@h:1".to_owned());
    assert!(target.has_credentials());
}

#[test]
fn what_stands_in_two_places_is_refused() {
    for (url, headers, cookies) in [
        ("ws://h/", vec!["Host: a", "host: b"], vec![]),
        ("ws://h/", vec!["Cookie: a=b"], vec!["c=d"]),
        ("ws://u:p@h/", vec!["Authorization: Basic x"], vec![]),
    ] {
        let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect();
        let plan = Plan::new(url).with(|plan| {
            plan.connection.headers = owned(headers);
            plan.connection.cookies = owned(cookies);
        });
        assert_eq!(plan.validate().unwrap_err().field(), HEADERS, "{url}");
    }
}

#[test]
fn cookies_parameters_and_subprotocols_are_what_their_rules_permit() {
    for text in [
        "a",
        "=b",
        "a b=c",
        "a=b;c",
        "a=\"b\"",
        "a=b c",
        "a=<redacted>",
    ] {
        with(|plan| plan.connection.cookies = vec![text.to_owned()]).unwrap_err();
    }
    with(|plan| plan.connection.cookies = vec!["a={token}=".to_owned()]).unwrap();
    for text in ["a", "=b", "a\n=b", "a=<redacted>"] {
        with(|plan| plan.connection.query = vec![text.to_owned()]).unwrap_err();
    }
    with(|plan| plan.connection.query = vec!["a=b c\u{e9}".to_owned()]).unwrap();
    for list in [vec!["a, b"], vec![""], vec!["a", "a"], vec!["a{x} b"]] {
        let list = list.into_iter().map(str::to_owned).collect();
        with(|plan| plan.connection.subprotocols = list).unwrap_err();
    }
    with(|plan| plan.connection.subprotocols = vec!["bearer.{token}".to_owned()]).unwrap();
}

#[test]
fn ways_to_the_server_are_checked() {
    for proxy in [
        "",
        "https://h:1",
        "h:1",
        "http://",
        "http://u:p@",
        "http://h/p",
        "http://h\n",
    ] {
        let words = with(|plan| plan.target.proxy = Some(proxy.to_owned())).unwrap_err();
        assert!(words.contains("target.proxy"), "{words}");
    }
    with(|plan| plan.target.proxy = Some("http://u:p@h:1/".to_owned())).unwrap();
    with(|plan| plan.target.unix_socket = Some("x".repeat(108).into())).unwrap_err();
    for change in [
        |plan: &mut Plan| plan.target.proxy = Some("http://h:1".to_owned()),
        |plan: &mut Plan| plan.target.local_addrs = vec!["127.0.0.1".parse().unwrap()],
        |plan: &mut Plan| plan.target.resolve = vec!["h:80:127.0.0.1".to_owned()],
    ] {
        with(|plan| {
            plan.target.unix_socket = Some("/s".into());
            change(plan);
        })
        .unwrap_err();
    }
}

#[test]
fn resolve_has_the_words_of_curl() {
    let parsed = Resolve::parse("Chat.Example:443:127.0.0.1,[::1]").unwrap();
    assert_eq!((parsed.host.as_str(), parsed.port), ("chat.example", 443));
    assert_eq!(parsed.addrs.len(), 2);
    assert_eq!(Resolve::parse("[::1]:80:127.0.0.1").unwrap().host, "::1");
    for text in [
        "",
        "h",
        "h:80",
        "h:80:",
        "h:0:1.2.3.4",
        "h:99999:1.2.3.4",
        ":1:1.2.3.4",
        "h:1:x",
    ] {
        assert_eq!(Resolve::parse(text), None, "{text}");
    }
}
