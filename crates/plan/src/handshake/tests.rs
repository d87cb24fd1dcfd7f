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
        ("Origin: http://a", "connection.origin"),
        ("Sec-WebSocket-Protocol: a", "connection.subprotocols"),
        ("Sec-WebSocket-Extensions: x", "connection.compression"),
        ("Kx82nvQ0", "`Name: value`"),
        ("a b: Kx82nvQ0", "`Name: value`"),
        (": Kx82nvQ0", "`Name: value`"),
        ("X: a\r\nKx82nvQ0: b", "on one line"),
        ("X: \u{e9}Kx82nvQ0", "printable ASCII"),
        ("Proxy-Authorization: Kx82nvQ0", "target.proxy"),
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
    target.proxy = None;
    target.url = "ws:u:p@h".to_owned();
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

#[test]
fn what_is_as_long_as_permitted_is_taken_and_no_longer() {
    let headers = |bytes: usize| {
        let name = "X: ".to_owned();
        let half = MOST_BYTES / 2;
        let lines = [half, bytes - half].map(|len| name.clone() + &"v".repeat(len - name.len()));
        with(|plan| plan.connection.headers = lines.into())
    };
    let subprotocol = |len| with(|plan| plan.connection.subprotocols = vec!["s".repeat(len)]);
    let host = |len| Resolve::parse(&format!("{}:80:127.0.0.1", "h".repeat(len)));
    headers(MOST_BYTES).unwrap();
    subprotocol(MOST_BYTES).unwrap();
    assert_eq!(host(253).unwrap().host.len(), 253);
    for more in [1, 2] {
        let words = headers(MOST_BYTES + more).unwrap_err();
        assert!(words.contains("65536 bytes together"), "{words}");
        subprotocol(MOST_BYTES + more).unwrap_err();
        assert_eq!(host(253 + more), None);
    }
}

#[test]
fn a_credential_of_either_name_may_be_kept_elsewhere() {
    let reference = |text: &str| {
        let plan =
            Plan::new("ws://h/").with(|plan| plan.connection.headers = vec![text.to_owned()]);
        let of = plan.connection.entries().next().unwrap();
        of.reference()
            .map(|(scheme, of)| (scheme.to_owned(), of == Reference::Env("T")))
    };
    for name in ["Authorization", "proxy-authorization"] {
        let found = reference(&format!("{name}: Basic env:T"));
        assert_eq!(found, Some(("Basic ".to_owned(), true)), "{name}");
    }
    assert_eq!(reference("X: Basic env:T"), None);
    assert_eq!(reference("X: env:T"), Some((String::new(), true)));
}

#[test]
fn a_proxy_sees_what_is_for_it_and_its_url_has_no_gaps() {
    with(|plan| {
        plan.target.proxy = Some("http://h:1".to_owned());
        plan.connection.headers = vec!["Proxy-Authorization: Basic x".to_owned()];
    })
    .unwrap();
    for proxy in ["http://h h", "http://h\u{1}"] {
        let words = with(|plan| plan.target.proxy = Some(proxy.to_owned())).unwrap_err();
        assert!(words.contains("target.proxy"), "{words}");
    }
}
