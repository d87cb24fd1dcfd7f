//! What a server keeps for a client that does not read (docs/protocol.md, Limits).
//!
//! From outside, memory cannot be seen. But what was kept for a client can be fetched: one that
//! begins to read at the end gets it, up to the place where it was cut off.

use crate::check::{Check, Scope};
use crate::client::{Client, Skimmed};
use crate::context::Context;
use crate::failure::{Checked, Failure};
use crate::message::Kind;
use crate::raw;
use crate::target::ProtocolRequest;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

const MIB: usize = 1024 * 1024;

/// A little more than 1 MiB, the largest payload of other checks.
const PAYLOAD: usize = MIB + 4096;

/// Kept for one client (docs/protocol.md, Limits).
const LIMIT: usize = 64 * MIB;

/// Beyond the limit and the sockets: the message under way, a batch that was handed over, the
/// nearest that a library has.
const TOLERANCE: usize = 12 * MIB;

/// Sent beyond what may be kept. Any amount tells a server that keeps more than that, whatever its
/// bound: the slow client gets all that was kept.
const BEYOND: usize = 8 * MIB;

/// For all broadcasts together. Most servers take a second or two.
const LONGEST: Duration = Duration::from_secs(60);

pub(super) static CHECKS: &[Check] = &[Check {
    id: "protocol-limit-slow-client",
    section: "protocol, Limits",
    description: "One client does not read while another broadcasts messages of 1 MiB, some 90 of \
                  them; then it reads what there is for it.",
    expectation: "sender and a third client get every broadcast in time; the slow client gets \
                  64 MiB at most, beside what the sockets hold, and then the end of the connection",
    scope: Scope::Once,
    needs: Some(ProtocolRequest::Broadcast),
    run: slow_client,
}];

fn slow_client(context: &mut Context<'_>) -> Checked {
    // Its receive buffer is the kernel's usual one, which does not grow while it does not read: a
    // smaller one would make the reading at the end a matter of minutes.
    let mut slow = context.connect()?;
    let allowed = LIMIT + TOLERANCE + sockets();
    let total = (allowed + BEYOND) / MIB;
    let checked = flood(context, total).and_then(|()| cut_off(&mut slow, allowed));
    slow.reset();
    checked
}

/// Broadcasts so many messages, each when the one before has reached the sender and another client.
fn flood(context: &mut Context<'_>, total: usize) -> Checked {
    let mut sender = context.connect()?;
    let mut reader = context.connect()?;
    let payload = context.payload_padded(PAYLOAD);
    // The same each time: other checks look at contents.
    let (opcode, message) = context.message(Kind::Broadcast, &payload);
    let frame = raw::frame(raw::FIN | opcode as u8, &message);
    let until = Instant::now() + LONGEST;
    let (told, news) = mpsc::sync_channel(total);
    thread::scope(|scope| {
        // Apart, so that a server with blocking writes may begin with either of the two.
        scope.spawn(move || read_on(&mut reader, total, until, &told));
        send_all(&mut sender, &frame, total, until, &news)
    })
}

/// What has become of a broadcast at the reader.
type News = Checked;

fn read_on(reader: &mut Client, total: usize, until: Instant, told: &SyncSender<News>) {
    let mut got = Skimmed::default();
    for number in 1..=total {
        reader.skim(&mut got, until, |got| got.large >= number);
        let news = match got.large >= number {
            true => Ok(()),
            false => Err(missing(reader, until, "a client that reads", "broadcast")),
        };
        let last = news.is_err();
        if told.send(news).is_err() || last {
            return;
        }
    }
}

fn send_all(
    sender: &mut Client,
    frame: &[u8],
    total: usize,
    until: Instant,
    news: &Receiver<News>,
) -> Checked {
    let mut got = Skimmed::default();
    for number in 1..=total {
        let at = |failure: Failure| {
            let nth =
                format_args!("broadcast {number} of {total}, with a client that does not read");
            failure.at(nth)
        };
        sender.send_raw(frame).map_err(at)?;
        // Its own broadcast and the result.
        sender.skim(&mut got, until, |got| got.large >= 2 * number);
        if got.large < 2 * number {
            return Err(at(missing(
                sender,
                until,
                "the sender",
                "broadcast and result",
            )));
        }
        // The reader gives up by itself.
        if let Ok(news) = news.recv() {
            news.map_err(at)?;
        }
    }
    Ok(())
}

fn missing(client: &Client, until: Instant, who: &str, what: &str) -> Failure {
    Failure(match client.ending() {
        Some(ending) => format!("{who} got {ending}"),
        None if Instant::now() >= until => format!("the broadcasts took more than {LONGEST:?}"),
        None => format!("{who} did not get its {what} within {:?}", client.timeout),
    })
}

/// Fetches what was kept for the client.
fn cut_off(slow: &mut Client, allowed: usize) -> Checked {
    let mut got = Skimmed::default();
    slow.skim(&mut got, Instant::now() + LONGEST, |got| {
        got.bytes > allowed
    });
    let mib = got.bytes / MIB;
    if got.bytes > allowed {
        return Err(Failure(format!(
            "more than {mib} MiB were kept for the client that did not read"
        )));
    }
    match slow.ending() {
        Some(ending) if ending.is_forbidden() => Err(Failure(format!(
            "the client that did not read got {mib} MiB, then {ending}"
        ))),
        Some(_) => Ok(()),
        None if got.closed => Ok(()),
        None => Err(Failure(format!(
            "the client that did not read got {mib} MiB and was not cut off"
        ))),
    }
}

/// What the server's kernel may hold of one connection.
fn sockets() -> usize {
    const USUAL: usize = 4 * MIB;
    const MOST: usize = 64 * MIB;
    let set = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_wmem").unwrap_or_default();
    let most = set.split_whitespace().nth(2).and_then(|n| n.parse().ok());
    most.unwrap_or(USUAL).clamp(USUAL, MOST)
}
