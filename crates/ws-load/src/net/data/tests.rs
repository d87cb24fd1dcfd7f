use super::*;
use proptest::prelude::*;
use std::io::Write as _;

fn wanted(name: &str, place: FieldPlace) -> Wanted {
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
    let wanted = [
        wanted("token", FieldPlace::Header),
        wanted("user", FieldPlace::Url),
    ];
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
    let in_header = [wanted("t", FieldPlace::Header)];
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
    let told = read(b"{\"t\":\"\xff\"}\n", &in_header).unwrap_err();
    assert_eq!(told, "FILE, line 1: is no UTF-8");
    let long = format!("t\n{}\n", "x".repeat(LONGEST_FIELD + 1));
    assert!(
        read(long.as_bytes(), &in_header)
            .unwrap_err()
            .contains("at most 65536")
    );
    for (field, place) in [
        ("a;b", FieldPlace::Cookie),
        ("a b", FieldPlace::Token),
        ("", FieldPlace::Token),
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
    FieldPlace::Url.write("a/b?c&d=\u{e9} ~", &mut out);
    assert_eq!(out, "a%2Fb%3Fc%26d%3D%C3%A9%20~");
}

#[test]
fn what_is_wrong_in_a_later_piece_of_the_file_is_told_with_its_line() {
    let in_header = [wanted("t", FieldPlace::Header)];
    let count = 40_000;
    for (head, row, wrong, words) in [
        (
            "t,u\n",
            "a1,b\n",
            "c\n",
            "the row has 1 fields, the header row 2",
        ),
        (
            "t,u\n",
            "\"a1\",b\n",
            "c\n",
            "the row has 1 fields, the header row 2",
        ),
        (
            "t,u\n",
            "a1,b\n",
            "\"c\n",
            "the row has 1 fields, the header row 2",
        ),
        (
            "t,u\r\n",
            "a1,b\r\n",
            "\u{7}c,\n",
            "`t` cannot stand in a header",
        ),
        (
            "\n",
            "{\"t\":\"a1\"}\n",
            "{\"t\":\"\u{e9}\"}\n",
            "`t` cannot stand in a header",
        ),
        ("\n", "{\"t\":\"a1\"}\n", "{\"t\":\"b\"\n", "is no JSON"),
    ] {
        let text = [head, &row.repeat(count), wrong, &row.repeat(10)].concat();
        let told = read(text.as_bytes(), &in_header).unwrap_err();
        assert!(
            told.starts_with(&format!("FILE, line {}: {words}", count + 2)),
            "{told}"
        );
    }
    let text = [
        "{\"t\":\"a\",\"u\":1}\n".repeat(count),
        "{\"t\":2,\"u\":-3e1}".to_owned(),
    ]
    .concat();
    let data = read(text.as_bytes(), &in_header).unwrap();
    assert_eq!(
        (data.rows, data.field(count as u64, 0)),
        (count as u64 + 1, "2")
    );
    let text = [&b"{\"t\":\"a\"}\n".repeat(count)[..], b"{\"t\":\"\xff\"}\n"].concat();
    let told = read(&text, &in_header).unwrap_err();
    assert_eq!(told, format!("FILE, line {}: is no UTF-8", count + 1));
}

proptest! {
    #[test]
    fn lines_are_read_as_the_parser_of_csv_reads_them(
        lines in prop::collection::vec("[ab \u{e9}]{0,3}(,|;)[a\",]{0,2}(\r|)(\n|\n|\r\n|)", 0..6),
    ) {
        let text = format!("a,b\n{}", lines.concat());
        let mut parser = csv::ReaderBuilder::new().from_reader(text.as_bytes());
        let parsed: Result<Vec<csv::StringRecord>, _> = parser.records().collect();
        let data = read(text.as_bytes(), &[wanted("b", FieldPlace::Url), wanted("a", FieldPlace::Url)]);
        match (parsed, data) {
            (Ok(records), Ok(data)) => {
                prop_assert_eq!(records.len() as u64, data.rows);
                for (row, record) in records.iter().enumerate() {
                    prop_assert_eq!(data.field(row as u64, 1), &record[0]);
                    prop_assert_eq!(data.field(row as u64, 0), &record[1]);
                }
            }
            (Ok(records), Err(told)) => prop_assert!(records.is_empty(), "{told} of {text:?}"),
            (Err(_), Ok(_)) => prop_assert!(false, "{:?} was read", text),
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn lines_are_read_as_the_parser_of_json_reads_them(
        rows in prop::collection::vec(
            (
                prop_oneof!["[ -~\u{e9}\n]{0,12}".prop_map(serde_json::Value::from),
                    any::<u64>().prop_map(serde_json::Value::from),
                    (0_u64..20).prop_map(serde_json::Value::from),
                    any::<f64>().prop_map(serde_json::Value::from)
                        .prop_filter("a number", serde_json::Value::is_number),
                    any::<bool>().prop_map(serde_json::Value::from)],
                "[a-z]{0,3}",
                any::<bool>(),
            ),
            1..40,
        ),
    ) {
        let lines: Vec<String> = rows.iter().map(|(a, b, in_turn)| {
            let (a, b) = (a.to_string(), serde_json::json!(b).to_string());
            if *in_turn { format!("{{\"a\":{a},\"b\":{b}}}") } else { format!("{{\"b\":{b}, \"a\":{a} }}") }
        }).collect();
        let text = lines.join("\n");
        let data = read(text.as_bytes(), &[wanted("b", FieldPlace::Url), wanted("a", FieldPlace::Url)]).unwrap();
        prop_assert_eq!(data.rows, rows.len() as u64);
        for (row, (a, b, _)) in rows.iter().enumerate() {
            let a = match a {
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Number(number) if number.is_f64() => number.as_f64().unwrap().to_string(),
                other => other.to_string(),
            };
            prop_assert_eq!(data.field(row as u64, 1), &a);
            prop_assert_eq!(data.field(row as u64, 0), b);
        }
    }

    #[test]
    fn every_field_comes_back(fields in prop::collection::vec(("[ -~\u{e9}\n]{0,200}", "[a-z]{0,3}"), 1..200)) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["a", "b"]).unwrap();
        for (a, b) in &fields {
            writer.write_record([a, b]).unwrap();
        }
        let text = writer.into_inner().unwrap();
        prop_assume!(text[0] == b'a');
        let data = read(&text, &[wanted("b", FieldPlace::Url), wanted("a", FieldPlace::Url)]).unwrap();
        prop_assert!(data.bytes.len() <= text.len() + 4 * fields.len());
        for (row, (a, b)) in fields.iter().enumerate() {
            let client = row as u64 + 3 * fields.len() as u64;
            prop_assert_eq!(data.field(client, 1), a);
            prop_assert_eq!(data.field(client, 0), b);
        }
    }
}

#[test]
fn a_field_of_a_wide_row_is_a_few_fields_from_a_known_place() {
    const COLUMNS: usize = 1_000;
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("c{column}")).collect();
    let mut text = names.join(",");
    for row in 0..7 {
        let fields: Vec<String> = (0..COLUMNS)
            .map(|column| format!("{row}-{column}"))
            .collect();
        text.push('\n');
        text.push_str(&fields.join(","));
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let wanted: Vec<Wanted> = names
        .iter()
        .map(|name| Wanted {
            name: name.clone(),
            place: FieldPlace::Url,
            key: "connection.query",
        })
        .collect();
    let data = Data::read(file.path(), &wanted).unwrap();
    for client in [0, 3, 6, 7 + 5] {
        for (column, name) in names.iter().enumerate() {
            assert_eq!(data.column(name), Some(column));
            let expected = format!("{}-{column}", client % 7);
            assert_eq!(data.field(client, column), expected);
        }
    }
    assert_eq!(data.marks.len(), (7 * COLUMNS).div_ceil(STRIDE as usize));
}
