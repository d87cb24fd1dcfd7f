//! This process as a site of its own run: a thread beside the coordinator's.

use crate::error::RemoteError;
use plan::Plan;
use std::sync::mpsc;
use std::thread;
use ws_load::cluster::{self, ClockRelation, Command, NodeTransport, Report, Share, Site};

/// The transport to a thread.
struct ThreadTransport(mpsc::Sender<Command>);

impl NodeTransport for ThreadTransport {
    fn tell(&self, command: Command) {
        // A site that has ended has said why.
        let _ = self.0.send(command);
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
    reports: mpsc::Sender<(u32, Report)>,
) -> Result<Site, RemoteError> {
    let (commands, told) = mpsc::channel();
    thread::Builder::new()
        .name("site".to_owned())
        .spawn(move || {
            let number = share.number;
            let last = reports.clone();
            let say = move |report| {
                let _ = reports.send((number, report));
            };
            if let Err(error) = cluster::serve_from_here(&plan, share, told, Box::new(say)) {
                let _ = last.send((number, Report::Lost(error.to_string())));
            }
        })
        .map_err(RemoteError::Runtime)?;
    Ok(Site {
        name: "here".to_owned(),
        transport: Box::new(ThreadTransport(commands)),
    })
}
