use super::*;
use proptest::prelude::*;

const TERMS: DeflateTerms = DeflateTerms {
    server_no_context_takeover: false,
    client_no_context_takeover: false,
    server_window_bits: 15,
    client_window_bits: 15,
};
const FORGETTING: DeflateTerms = DeflateTerms {
    server_no_context_takeover: true,
    client_no_context_takeover: true,
    ..TERMS
};
const HELLO: [u8; 7] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00];
const LIMIT: usize = 1 << 20;

fn inflater(terms: &DeflateTerms) -> Inflater {
    Inflater::new(terms, Sender::Server)
}

fn inflate_one(terms: &DeflateTerms, payload: &[u8]) -> Result<Vec<u8>, InflateError> {
    let mut out = Vec::new();
    inflater(terms).inflate(payload, LIMIT, &mut out)?;
    Ok(out)
}

#[test]
fn examples_of_rfc_7692_section_7_2_3() {
    for terms in [&TERMS, &FORGETTING] {
        for (payload, message) in [
            // 7.2.3.1, one block; 7.2.3.3, a block without compression; 7.2.3.4, a final block;
            // 7.2.3.5, two blocks; 7.2.3.6, an empty message.
            (&HELLO[..], "Hello"),
            (b"\x00\x05\x00\xFA\xFFHello\x00", "Hello"),
            (&[0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00], "Hello"),
            (
                &[
                    0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00,
                ],
                "Hello",
            ),
            (&[0x00], ""),
        ] {
            let inflated = inflate_one(terms, payload).unwrap();
            assert_eq!(inflated, message.as_bytes(), "{payload:?}");
        }
    }
    // 7.2.3.2, a shared window.
    let (mut one, mut out) = (inflater(&TERMS), Vec::new());
    for payload in [&HELLO[..], &[0xF2, 0x00, 0x11, 0x00, 0x00]] {
        one.inflate(payload, LIMIT, &mut out).unwrap();
        assert_eq!(out, b"Hello");
    }
    let mut deflater = Deflater::new(&TERMS, Sender::Client, 6);
    for payload in [&HELLO[..], &[0xF2, 0x00, 0x11, 0x00, 0x00]] {
        let mut out = Vec::new();
        deflater.deflate(b"Hello", &mut out);
        assert_eq!(out, payload);
    }
    let mut out = Vec::new();
    deflater.deflate(b"", &mut out);
    assert_eq!(out, [0x00]);
}

#[test]
fn a_message_may_go_on_after_its_final_blocks() {
    let hello = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00];
    let twice = [&hello[..], &hello[..], &[0x00]].concat();
    assert_eq!(inflate_one(&TERMS, &twice).unwrap(), b"HelloHello");
    // The second one refers to the first.
    let refers = [&hello[..], &[0xF2, 0x00, 0x11, 0x00, 0x00]].concat();
    assert_eq!(inflate_one(&TERMS, &refers).unwrap(), b"HelloHello");
    // And so does the next message of the connection.
    let (mut one, mut out) = (inflater(&TERMS), Vec::new());
    for payload in [
        &[&hello[..], &[0x00]].concat()[..],
        &[0xF2, 0x00, 0x11, 0x00, 0x00],
    ] {
        one.inflate(payload, LIMIT, &mut out).unwrap();
        assert_eq!(out, b"Hello");
    }
    // Each makes the receiver build its window again.
    let many = [[0x03, 0x00].repeat(1_000), vec![0x00]].concat();
    assert_eq!(inflate_one(&TERMS, &many), Err(InflateError::Corrupt));
}

#[test]
fn what_is_no_compressed_message_is_refused_by_name() {
    for terms in [&TERMS, &FORGETTING] {
        assert_eq!(inflate_one(terms, &[]), Err(InflateError::NoBlock));
        // Block type 3; a reference to before the first byte; lengths that do not agree.
        for payload in [
            &[0x06][..],
            &[0xF2, 0x00, 0x11, 0x00, 0x00],
            b"\x00\x05\x00\x05\x00Hello",
        ] {
            assert_eq!(inflate_one(terms, payload), Err(InflateError::Corrupt));
        }
        let untrimmed = [&HELLO[..], &TAIL[..]].concat();
        assert_eq!(inflate_one(terms, &untrimmed), Err(InflateError::End));
    }
    // Cut within a block. With context takeover the content of the message tells.
    assert_eq!(
        inflate_one(&FORGETTING, &HELLO[..4]),
        Err(InflateError::End)
    );
    assert_ne!(inflate_one(&TERMS, &HELLO[..4]).unwrap(), b"Hello");
    assert_eq!(
        inflate_one(&FORGETTING, b"\x00\x0C\x00\xF3\xFFHello"),
        Err(InflateError::End)
    );
}

/// The last block has no end; what is appended to find that out would give it one, and 115 bytes more.
#[test]
fn a_message_cut_within_its_final_block_is_refused() {
    let payload = [0xBB, 0x13, 0xF2, 0x68];
    assert_eq!(inflate_one(&FORGETTING, &payload), Err(InflateError::End));
}

/// A message of this many zeros in one compressed payload, made piece by piece.
fn bomb(mebibytes: usize) -> Vec<u8> {
    let mut stream = Compress::new_with_window_bits(Compression::new(9), false, 15);
    let (zeros, mut out) = (vec![0; 1 << 20], Vec::new());
    for piece in 1..=mebibytes {
        let flush = match piece == mebibytes {
            true => FlushCompress::Sync,
            false => FlushCompress::None,
        };
        out.reserve(1 << 16);
        let before = stream.total_in();
        stream.compress_vec(&zeros, &mut out, flush).unwrap();
        assert_eq!(stream.total_in() - before, 1 << 20);
    }
    assert!(out.ends_with(&TAIL));
    out.truncate(out.len() - TAIL.len());
    out
}

#[test]
#[cfg_attr(miri, ignore = "takes hours there")]
fn a_gibibyte_of_zeros_takes_no_more_memory_than_the_limit() {
    let bomb = bomb(1024);
    assert!(bomb.len() < 2 << 20, "{}", bomb.len());
    for (terms, limit) in [(&TERMS, 0), (&FORGETTING, 1000), (&TERMS, 1 << 20)] {
        let (mut inflater, mut out) = (inflater(terms), Vec::new());
        let verdict = inflater.inflate(&bomb, limit, &mut out);
        let compressed = bomb.len();
        assert_eq!(verdict, Err(InflateError::TooLong { compressed, limit }));
        assert!(out.capacity() <= limit + 8, "{} at {limit}", out.capacity());
    }
}

#[test]
fn a_message_may_be_as_long_as_the_limit_and_no_longer() {
    for len in [1, 4_095, 4_096, 4_097, 100_000] {
        let message = vec![7; len];
        let mut payload = Vec::new();
        Deflater::new(&TERMS, Sender::Server, 6).deflate(&message, &mut payload);
        for terms in [&TERMS, &FORGETTING] {
            let mut out = Vec::new();
            inflater(terms).inflate(&payload, len, &mut out).unwrap();
            assert_eq!(out, message);
            let verdict = inflater(terms).inflate(&payload, len - 1, &mut out);
            assert!(
                matches!(verdict, Err(InflateError::TooLong { .. })),
                "{len}"
            );
        }
    }
}

/// Messages that repeat what came some distance before.
fn any_messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let random = proptest::collection::vec(any::<u8>(), 0..2_000);
    let far = (proptest::collection::vec(any::<u8>(), 1..600), 1usize..40)
        .prop_map(|(part, times)| part.repeat(times));
    proptest::collection::vec(prop_oneof![random, far], 1..6)
}

proptest! {
    #[test]
    fn messages_survive_in_every_window_and_level(
        messages in any_messages(),
        bits in 8u8..=15,
        level in 1u8..=9,
        forgets: bool,
    ) {
        let terms = DeflateTerms {
            client_window_bits: bits,
            client_no_context_takeover: forgets,
            ..TERMS
        };
        let mut deflater = Deflater::new(&terms, Sender::Client, level);
        let mut inflater = Inflater::new(&terms, Sender::Client);
        let mut out = Vec::new();
        for message in &messages {
            let mut payload = Vec::new();
            deflater.deflate(message, &mut payload);
            inflater.inflate(&payload, LIMIT, &mut out).unwrap();
            prop_assert_eq!(&out, message);
        }
    }

    #[test]
    fn any_bytes_are_inflated_within_the_limit_or_refused(
        payload in proptest::collection::vec(any::<u8>(), 0..300),
        limit in 0usize..5_000,
        forgets: bool,
    ) {
        let terms = if forgets { &FORGETTING } else { &TERMS };
        let mut out = Vec::new();
        if inflater(terms).inflate(&payload, limit, &mut out).is_ok() {
            prop_assert!(out.len() <= limit);
        }
        prop_assert!(out.capacity() <= limit + 64);
    }

    /// What a window of 8 bits needs of a deflater that has no smaller one than 9: what was seen more
    /// than 256 bytes before is sent again.
    #[test]
    fn a_window_of_8_bits_is_never_left(
        part in proptest::collection::vec(any::<u8>(), 257..700),
        level in 1u8..=9,
    ) {
        let deflated = |bits| {
            let terms = DeflateTerms { client_window_bits: bits, ..TERMS };
            let mut payload = Vec::new();
            let message = part.repeat(2);
            Deflater::new(&terms, Sender::Client, level).deflate(&message, &mut payload);
            payload.len()
        };
        prop_assert!(deflated(8) >= part.len() * 2);
        prop_assert!(deflated(10) < part.len() * 2 - 200);
    }
}
