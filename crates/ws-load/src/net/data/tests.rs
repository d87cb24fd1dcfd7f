use super::*;
use proptest::prelude::*;
use std::io::Write as _;

fn wanted(name: &str, place: Place) -> Wanted {
    Wanted {
        name: name.to_owned(),
        place,
        key: "connection.headers",
    }
}

fn read(text: &[u8], wanted: &[Wanted]) -> Result<Data, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    let name = file.path().display().to_string();
    Data::read(file.path(), wanted).map_err(|error| error.to_string().replace(&name, "FILE"))
}

#[test]
fn a_client_has_its_row_modulo_the_rows_in_both_formats() {
    let wanted = [wanted("token", Place::Header), wanted("user", Place::Url)];
    for text in [
        "user,other,token\na,,1\n\"b\"\"\n,c\",x,2\n,y,\n",
        "\u{feff}user,other,token\r\na,,1\r\n\"b\"\"\n,c\",x,2\r\n,y,\r\n",
        "{\"user\":\"a\",\"token\":1,\"x\":[{}]}\n\n{\"token\":\"2\",\"user\":\"b\\\"\\n,c\"}\n \
         {\"user\":\"\",\"token\":\"\"}",
    ] {
        let data = read(text.as_bytes(), &wanted).unwrap();
        let (token, user) = (data.column("token").unwrap(), data.column("user").unwrap());
        for (client, fields) in [
            (0, ("1", "a")),
            (1, ("2", "b\"\n,c")),
            (5, ("", "")),
            (301, ("2", "b\"\n,c")),
        ] {
            let found = (data.field(client, token), data.field(client, user));
            assert_eq!(found, fields, "client {client} of {text}");
        }
        assert_eq!(data.column("other"), None, "what no text names is not kept");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_without_what_is_secret() {
    let in_header = [wanted("t", Place::Header)];
    for (text, words) in [
        (
            "",
            "FILE, line 1: has no header row with the names of its columns",
        ),
        ("t\n", "FILE: has no rows"),
        (
            "a,b\n1,2\n",
            "FILE, line 1: has no column `t`, which connection.headers has as a variable; it has `a`, `b`",
        ),
        ("t,t\n1,2\n", "FILE, line 1: has the column `t` twice"),
        (
            "t,a b\n1,2\n",
            "FILE, line 1: the column `a b` is no name of a variable",
        ),
        (
            "t,u\n1,2\nKx82nvQ0\n",
            "FILE, line 3: the row has 1 fields, the header row 2",
        ),
        (
            "t\n\"Kx82\n8\"\n",
            "FILE, line 2: `t` cannot stand in a header",
        ),
        (
            "t\na\nb\x07Kx82\n",
            "FILE, line 3: `t` cannot stand in a header",
        ),
        (
            "{\"t\":\"1\"}\n{\"u\":\"Kx82\"}\n",
            "FILE, line 2: has no column `t`",
        ),
        (
            "{\"t\":\"1\"}\n{\"t\":\"Kx82\"\n",
            "FILE, line 2: is no JSON",
        ),
        (
            "{\"t\":\"1\"}\n[\"Kx82\"]\n",
            "FILE, line 2: is no JSON object",
        ),
        (
            "{\"t\":[\"Kx82\"]}\n",
            "FILE, line 1: is no JSON object of strings",
        ),
        (
            "{\"t\":null}\n",
            "FILE, line 1: is no JSON object of strings",
        ),
        (
            "{\"t\":\"1\",\"t\":\"2\"}\n",
            "FILE, line 1: is no JSON object of strings",
        ),
        ("{\"t\":\"1\"} {\"t\":\"2\"}\n", "FILE, line 1: is no JSON"),
    ] {
        let told = read(text.as_bytes(), &in_header).unwrap_err();
        assert!(told.starts_with(words), "{told} of {text}");
        assert!(!told.contains("Kx82"), "{told}");
        assert_eq!(told.lines().count(), 1);
    }
    let told = read(b"t\n\xff\n", &in_header).unwrap_err();
    assert_eq!(told, "FILE, line 2: `t` is no UTF-8");
    let long = format!("t\n{}\n", "x".repeat(LONGEST_FIELD + 1));
    assert!(
        read(long.as_bytes(), &in_header)
            .unwrap_err()
            .contains("at most 65536")
    );
    for (field, place) in [
        ("a;b", Place::Cookie),
        ("a b", Place::Token),
        ("", Place::Token),
    ] {
        let text = format!("t\n\"{field}\"\n");
        let told = read(text.as_bytes(), &[wanted("t", place)]).unwrap_err();
        assert!(told.starts_with("FILE, line 2: `t` cannot stand"), "{told}");
    }
    for path in ["/dev/zero", "/", "/nonexistent.csv"] {
        Data::read(Path::new(path), &in_header).unwrap_err();
    }
}

#[test]
fn fields_of_a_url_are_percent_encoded() {
    let mut out = String::new();
    Place::Url.write("a/b?c&d=\u{e9} ~", &mut out);
    assert_eq!(out, "a%2Fb%3Fc%26d%3D%C3%A9%20~");
}

proptest! {
    #[test]
    fn every_field_comes_back(fields in prop::collection::vec(("[ -~\u{e9}\n]{0,200}", "[a-z]{0,3}"), 1..200)) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["a", "b"]).unwrap();
        for (a, b) in &fields {
            writer.write_record([a, b]).unwrap();
        }
        let text = writer.into_inner().unwrap();
        prop_assume!(text[0] == b'a');
        let data = read(&text, &[wanted("b", Place::Url), wanted("a", Place::Url)]).unwrap();
        prop_assert!(data.bytes.len() <= text.len() + 4 * fields.len());
        for (row, (a, b)) in fields.iter().enumerate() {
            let client = row as u64 + 3 * fields.len() as u64;
            prop_assert_eq!(data.field(client, 1), a);
            prop_assert_eq!(data.field(client, 0), b);
        }
    }
}
