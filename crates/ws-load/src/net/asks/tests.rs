use crate::net::{ConnectError, Target};
use plan::Plan;
use std::io::Write as _;
use ws_proto::{HandshakeError, UpgradeRequest};

fn plan(url: &str, change: impl FnOnce(&mut Plan)) -> Plan {
    let plan = crate::test_plan(url).with(change);
    plan.validate().unwrap();
    plan
}

fn owned(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn request(target: &Target, client: u64) -> String {
    let mut out = Vec::new();
    let rest = UpgradeRequest {
        authority: "",
        target: "",
        key: "k",
        origin: None,
        subprotocol: Some("of-dialect"),
        deflate: None,
    };
    target.asks.of_client(client, &[]).encode(rest, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_request_has_what_the_plan_says_with_the_row_of_its_client() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"user,token\nann/x,t1\nbob,t2\n").unwrap();
    let plan = plan("ws://me:p%40ss@127.0.0.1:9/u/{user}?a={token}", |plan| {
        plan.connection.data = Some(file.path().to_owned());
        plan.connection.headers =
            owned(&["X-T: <{token}>", "host: {user}.example", "X-J: {\"a\":1}"]);
        plan.connection.cookies = owned(&["s={token}", "b=c"]);
        plan.connection.query = owned(&["q 1=a&b", "u={user}"]);
        plan.connection.subprotocols = owned(&["v1", "bearer.{token}"]);
    });
    let target = Target::new(&plan);
    // `ann/x` is a path's part and a header's text, and both are written as these need it.
    let target = target.unwrap();
    let first = request(&target, 2);
    for line in [
        "GET /u/ann%2Fx?a=t1&q%201=a%26b&u=ann%2Fx HTTP/1.1\r\n",
        "\r\nHost: ann/x.example\r\n",
        "\r\nSec-WebSocket-Protocol: v1, bearer.t1\r\n",
        "\r\nAuthorization: Basic bWU6cEBzcw==\r\n",
        "\r\nX-T: <t1>\r\n",
        "\r\nX-J: {\"a\":1}\r\n",
        "\r\nCookie: s=t1; b=c\r\n",
    ] {
        assert!(format!("\r\n{first}").contains(line), "{line} in {first}");
    }
    assert_eq!(first.matches("Host:").count(), 1);
    assert!(first.ends_with("\r\n\r\n"));
    assert!(request(&target, 1).starts_with("GET /u/bob?a=t2&"));
}

#[test]
fn the_number_of_a_client_needs_no_data_file() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"user\nann\n").unwrap();
    for data in [None, Some(file.path().to_owned())] {
        let plan = plan("ws://127.0.0.1:9/room/{client}?of={client}", |plan| {
            plan.connection.data = data;
            plan.connection.headers = owned(&["X-User: u{client}", "Host: h{client}.example"]);
            plan.connection.cookies = owned(&["s={client}"]);
            plan.connection.query = owned(&["q={client}"]);
            plan.connection.subprotocols = owned(&["v{client}"]);
        });
        let asked = request(&Target::new(&plan).unwrap(), 17);
        for line in [
            "GET /room/17?of=17&q=17 HTTP/1.1\r\n",
            "\r\nHost: h17.example\r\n",
            "\r\nX-User: u17\r\n",
            "\r\nCookie: s=17\r\n",
            "\r\nSec-WebSocket-Protocol: v17\r\n",
        ] {
            assert!(format!("\r\n{asked}").contains(line), "{line} in {asked}");
        }
    }
}

#[test]
fn without_anything_to_say_the_dialect_has_its_own_word() {
    let target = Target::new(&plan("ws://127.0.0.1:9/", |_| {})).unwrap();
    assert!(request(&target, 0).contains("Sec-WebSocket-Protocol: of-dialect\r\n"));
    assert!(target.asks.tunnel(0).is_none());
}

#[test]
fn a_proxy_sees_its_own_credentials_and_the_server_does_not() {
    let by_url = plan("ws://server.invalid/", |plan| {
        plan.target.proxy = Some("http://u:p@127.0.0.1:1".to_owned());
        plan.connection.headers = owned(&["Authorization: Bearer x"]);
    });
    let by_header = plan("wss://server.invalid/", |plan| {
        plan.target.proxy = Some("http://127.0.0.1:1".to_owned());
        plan.connection.headers = owned(&["Proxy-Authorization: Basic dTpw"]);
    });
    for (plan, port) in [(by_url, 80), (by_header, 443)] {
        let target = Target::new(&plan).unwrap();
        let tunnel = String::from_utf8(target.asks.tunnel(0).unwrap()).unwrap();
        assert_eq!(
            tunnel,
            format!(
                "CONNECT server.invalid:{port} HTTP/1.1\r\nHost: server.invalid:{port}\r\n\
                 Proxy-Authorization: Basic dTpw\r\n\r\n"
            )
        );
        assert!(!request(&target, 0).contains("dTpw"));
    }
}

#[test]
fn a_server_that_repeats_a_secret_does_not_get_it_into_the_error() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"token\nrow+secret\n").unwrap();
    let plan = plan("ws://127.0.0.1:9/", |plan| {
        plan.connection.data = Some(file.path().to_owned());
        plan.connection.headers = owned(&[
            "Authorization: Bearer head-secret",
            "Cookie: a=cookie-1; b=cookie-2",
        ]);
        plan.connection.query = owned(&["t={token}"]);
    });
    let target = Target::new(&plan).unwrap();
    let error = ConnectError::Handshake {
        addr: target.endpoint.clone(),
        source: HandshakeError::Status {
            status: 302,
            reason: "no head-secret for cookie-2 of Bearer".to_owned(),
            says: Some("/login?t=row%2Bsecret&u=row+secret".to_owned()),
            body: Some("head-secret is not cookie-1, nor head-sec".to_owned()),
        },
    };
    let told = error.with_words(|words| target.asks.silent(0, [], words));
    let ConnectError::Handshake { source, .. } = told else {
        panic!("{told:?}");
    };
    assert_eq!(
        source,
        HandshakeError::Status {
            status: 302,
            reason: "no <redacted> for <redacted> of Bearer".to_owned(),
            says: Some("/login?t=<redacted>&u=<redacted>".to_owned()),
            body: Some("<redacted> is not <redacted>, nor <redacted>".to_owned()),
        }
    );
}
