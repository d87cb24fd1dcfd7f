//! The engine's site on a thread of its own, as the conversation sees it.

use super::assignment::{Occupied, Taken};
use std::sync::mpsc;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;
use ws_load::site::{self, Order, Word};

/// A site at work. Without its `orders` it closes its connections and ends.
pub(super) struct Running {
    pub(super) orders: Option<mpsc::Sender<Order>>,
    /// What it says; closed when it has ended.
    pub(super) words: UnboundedReceiver<Word>,
    /// Why it could not go on, in words, if so.
    pub(super) ended: oneshot::Receiver<Result<(), String>>,
}

/// Starts the site; the worker's place is free again when it has ended.
pub(super) fn start(taken: Taken, occupied: Occupied) -> std::io::Result<Running> {
    let (orders, told) = mpsc::channel();
    let (say, words) = unbounded_channel();
    let (end, ended) = oneshot::channel();
    std::thread::Builder::new()
        .name("site".to_owned())
        .spawn(move || {
            let say_word = Box::new(move |word| {
                // Nobody listens when the coordinator is lost.
                let _ = say.send(word);
            });
            let result = site::serve_at(&taken.plan, taken.share, &taken.addrs, told, say_word);
            drop(taken);
            drop(occupied);
            let _ = end.send(result.map_err(|error| error.to_string()));
        })?;
    Ok(Running {
        orders: Some(orders),
        words,
        ended,
    })
}
