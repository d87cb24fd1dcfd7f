//! Ctrl-C: the first asks for an orderly end, the second ends everything at once.
//!
//! Long work asks [`Interrupt::requested`] and ends itself; the first signal stops nothing by force.

use crate::exit::Exit;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Signals within this time of the first are the same one.
const SAME: Duration = Duration::from_millis(100);

/// Tells whether the user wants to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes over SIGINT, SIGTERM and SIGHUP. At the second of them `kill_all` is called and the
    /// program ends.
    ///
    /// # Errors
    /// When the signals cannot be taken over.
    pub fn install(kill_all: fn()) -> io::Result<Self> {
        let interrupt = Self::default();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let requested = interrupt.0.clone();
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                let mut first = None;
                for _ in signals.forever() {
                    let now = Instant::now();
                    let first = *first.get_or_insert(now);
                    // One that was sent to the process group and passed on comes twice.
                    if now != first && now - first < SAME {
                        continue;
                    }
                    if requested.swap(true, Ordering::SeqCst) {
                        kill_all();
                        std::process::exit(i32::from(Exit::Interrupted.code()));
                    }
                    anstream::eprintln!("\nending what is under way; Ctrl-C again stops at once");
                }
            })?;
        Ok(interrupt)
    }

    /// True from the first signal on.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Does what a signal does.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
