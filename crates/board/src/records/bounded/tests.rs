use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::os::unix::fs::symlink;

fn refusal(path: &Path) -> String {
    text(path).unwrap_err().to_string()
}

#[test]
fn nothing_but_a_file_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("good.json"), "{}").unwrap();
    symlink("/dev/zero", at("zero.json")).unwrap();
    symlink("/dev/zero", at("zero.json.gz")).unwrap();
    symlink(at("good.json"), at("link.json")).unwrap();
    symlink(at("ring.json"), at("ring.json")).unwrap();
    fs::create_dir(at("folder.json")).unwrap();
    let fifo = std::ffi::CString::new(at("fifo.json").to_str().unwrap()).unwrap();
    // SAFETY: the path ends with a null byte and lives until the call returns.
    assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
    assert_eq!(text(&at("good.json")).unwrap(), "{}");
    for name in ["zero.json", "zero.json.gz", "link.json", "ring.json"] {
        assert!(refusal(&at(name)).contains("symbolic link"), "{name}");
        let words = beside(&at(name)).unwrap_err().to_string();
        assert!(words.contains("symbolic link"), "{name}: {words}");
    }
    for name in ["fifo.json", "folder.json"] {
        assert!(refusal(&at(name)).contains("is no file"), "{name}");
    }
    assert_eq!(named_text(&at("link.json")).unwrap(), "{}");
    let words = named_text(&at("zero.json")).unwrap_err().to_string();
    assert!(words.contains("more than 16 MiB"), "{words}");
}

/// Counts what is read of bytes without an end.
struct Endless(u64);

impl Read for &mut Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b' ');
        self.0 += buffer.len() as u64;
        Ok(buffer.len())
    }
}

#[test]
fn no_more_is_read_than_a_record_has() {
    let mut endless = Endless(0);
    bounded(&mut endless).unwrap_err();
    assert!(endless.0 <= MOST_BYTES + 1, "{}", endless.0);

    let dir = tempfile::tempdir().unwrap();
    let sparse = dir.path().join("sparse.json");
    File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
    assert!(refusal(&sparse).contains("more than 16 MiB"));

    let packed = dir.path().join("bomb.json.gz");
    let mut out = GzEncoder::new(File::create(&packed).unwrap(), Compression::best());
    let block = vec![b' '; 1 << 20];
    for _ in 0..=(MOST_BYTES >> 20) {
        out.write_all(&block).unwrap();
    }
    out.finish().unwrap();
    assert!(fs::metadata(&packed).unwrap().len() < 1 << 18);
    assert!(refusal(&packed).contains("more than 16 MiB unpacked"));

    let many = dir.path().join("many.json");
    fs::write(&many, format!("[{}0]", "0,".repeat(MOST_VALUES as usize))).unwrap();
    assert!(refusal(&many).contains("more than 250000 values"));
}

#[test]
fn records_together_are_no_more_than_those_of_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    fs::write(&path, " ".repeat(MOST_BYTES as usize)).unwrap();
    let texts = Texts::default();
    for _ in 0..MOST_BYTES_IN_ALL / MOST_BYTES {
        assert!(texts.text(&path).is_ok());
    }
    fs::write(&path, "{}").unwrap();
    let words = texts.text(&path).unwrap_err().to_string();
    assert!(words.contains("more than 256 MiB"), "{words}");
    assert!(texts.is_spent());

    let texts = Texts {
        values_left: 3.into(),
        ..Texts::default()
    };
    fs::write(&path, "{\"a\": 1}").unwrap();
    assert!(texts.text(&path).is_ok());
    texts.text(&path).unwrap_err();
    assert!(texts.is_spent());
}

#[test]
fn directories_are_counted_and_links_to_them_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("a")).unwrap();
    symlink("/dev/null", at("no-directory")).unwrap();
    assert_eq!(directories(dir.path()).unwrap(), [at("a")]);
    symlink(dir.path(), at("ring")).unwrap();
    let words = directories(dir.path()).unwrap_err().to_string();
    assert!(words.contains("ring: is a symbolic link"), "{words}");
    fs::remove_file(at("ring")).unwrap();
    for number in 0..MOST_DIRECTORIES {
        fs::create_dir(at(&format!("b{number}"))).unwrap();
    }
    let words = directories(dir.path()).unwrap_err().to_string();
    assert!(words.contains("201 directories"), "{words}");
}

#[test]
fn a_text_may_be_as_long_as_those_of_records() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("long.json");
    for (long, is_refused) in [
        ("x".repeat(LONGEST_TEXT), false),
        ("x".repeat(LONGEST_TEXT + 1), true),
        ("\\\"".repeat(LONGEST_TEXT / 2 + 1), true),
    ] {
        fs::write(&path, format!("{{\"a\":\"{long}\",\"b\":1}}")).unwrap();
        assert_eq!(text(&path).is_err(), is_refused);
    }
    assert!(refusal(&path).contains("a text of more than 256 KiB"));
}

#[test]
fn the_longest_string_is_found_whatever_is_escaped_and_where_the_text_ends() {
    for (text, bytes) in [
        ("", 0),
        (r#"{"ab": ["", "c", 12345]}"#, 2),
        (r#"["a\\", "b"]"#, 3),
        (r#"["\"", "\\\"bc"]"#, 6),
        (r#"\"abc""#, 3),
        (r#"\\"abc" \"d"#, 3),
        (r#"["abc", "open"#, 3),
        (r#"["a\"#, 0),
        (r#"["äöü"]"#, 6),
    ] {
        assert_eq!(longest(text), bytes, "{text}");
    }
}

#[test]
fn a_value_stands_behind_one_of_four_characters() {
    for (text, count) in [
        (r#"{"a": [1, {"b": null}], "c": []}"#, 9),
        ("[1,2,3]", 3),
        ("7", 0),
    ] {
        assert_eq!(values(text), count, "{text}");
    }
}
