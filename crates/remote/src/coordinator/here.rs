//! This process as a site of its own run: a thread beside the coordinator's.

use crate::error::RemoteError;
use run_record::Plan;
use std::sync::mpsc;
use std::thread;
use ws_load::site::{self, ClockRelation, Heard, Link, Order, Share, Site};

/// The way to a thread.
struct Beside(mpsc::Sender<Order>);

impl Link for Beside {
    fn tell(&self, order: Order) {
        // A site that has ended has said why.
        let _ = self.0.send(order);
    }

    fn clock(&self) -> ClockRelation {
        ClockRelation {
            offset_ns: 0,
            bound_ns: 0,
        }
    }
}

/// Starts the site.
pub(super) fn site(
    plan: Plan,
    share: Share,
    words: mpsc::Sender<(u32, Heard)>,
) -> Result<Site, RemoteError> {
    let (orders, told) = mpsc::channel();
    thread::Builder::new()
        .name("site".to_owned())
        .spawn(move || {
            let number = share.number;
            let last = words.clone();
            let say = move |word| {
                let _ = words.send((number, Heard::Word(word)));
            };
            if let Err(error) = site::serve_from_here(&plan, share, told, Box::new(say)) {
                let _ = last.send((number, Heard::Lost(error.to_string())));
            }
        })
        .map_err(RemoteError::Runtime)?;
    Ok(Site {
        name: "here".to_owned(),
        link: Box::new(Beside(orders)),
    })
}
