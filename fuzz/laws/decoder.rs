//! Laws of `ws_proto::Decoder` on any bytes.

use ws_proto::{CloseFrame, DecodeError, Decoder, Event, Opcode, Sender, encode_frame};

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// Small, so that streams over it are short.
const MAX_MESSAGE: u32 = 300;

/// What a stream gave: its events as frames of one part each, and how it ended.
#[derive(Debug, PartialEq)]
struct Decoded {
    events: Vec<(Opcode, Vec<u8>)>,
    end: Result<bool, DecodeError>,
}

/// Byte 0: lowest bit who writes, the rest a seed for cuts. After it: the stream.
pub(crate) fn check(data: &[u8]) {
    let Some((options, stream)) = data.split_first() else {
        return;
    };
    let sender = if options & 1 == 0 {
        Sender::Server
    } else {
        Sender::Client
    };
    let whole = decode([stream], sender);
    assert_eq!(whole, decode(stream.chunks(1), sender), "byte by byte");
    let cuts = stream.chunks(usize::from(options >> 1) + 2);
    assert_eq!(whole, decode(cuts, sender), "in chunks");
    for (opcode, payload) in &whole.events {
        let longest = if opcode.is_control() {
            125
        } else {
            MAX_MESSAGE as usize
        };
        assert!(
            payload.len() <= longest,
            "{opcode:?} of {} bytes",
            payload.len()
        );
        if *opcode == Opcode::Close
            && let Ok(Some(close)) = CloseFrame::parse(payload)
        {
            assert_eq!(close.encode(), *payload);
        }
    }
    let mut again = Vec::new();
    let mask = (sender == Sender::Client).then_some(MASK);
    for (opcode, payload) in &whole.events {
        encode_frame(&mut again, *opcode, mask, payload);
    }
    let decoded_again = decode([&again[..]], sender);
    assert_eq!(decoded_again.events, whole.events);
    assert_eq!(decoded_again.end, Ok(true));
}

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, sender: Sender) -> Decoded {
    let mut decoder = Decoder::new(sender, MAX_MESSAGE);
    let mut events = Vec::new();
    let fed = chunks.into_iter().try_for_each(|chunk| {
        decoder.feed(chunk, |event| {
            events.push(match event {
                Event::Message { opcode, payload } => (opcode, payload.to_vec()),
                Event::Ping(payload) => (Opcode::Ping, payload.to_vec()),
                Event::Pong(payload) => (Opcode::Pong, payload.to_vec()),
                Event::Close(payload) => (Opcode::Close, payload.to_vec()),
            });
            Ok::<_, DecodeError>(())
        })
    });
    Decoded {
        events,
        end: fed.map(|()| decoder.is_at_boundary()),
    }
}
