//! What goes on beside the generator: the samples of each step, what people see, and the faults.

use super::faults::Timetable;
use super::steps::Steps;
use super::through::OfProxy;
use crate::generator::Beside;
use crate::progress::Progress;
use crate::sample::Sampler;
use crate::supervise::Server;
use record::Event;
use std::time::Duration;

pub(super) struct Meanwhile<'a> {
    pub(super) steps: Steps<'a>,
    pub(super) proxy: Option<OfProxy<'a>>,
    pub(super) progress: &'a Progress,
    pub(super) sampler: &'a Sampler,
    pub(super) faults: Timetable,
    /// Those that the sampler follows.
    pub(super) pids: Vec<u32>,
}

impl Beside for Meanwhile<'_> {
    fn event(&mut self, event: &Event) {
        self.faults.event(event);
        self.steps.event(event);
        if let Some(proxy) = &mut self.proxy {
            proxy.event(event);
        }
        self.progress.event(event);
    }

    fn act(&mut self, server: &mut Server) -> Duration {
        let wait = self.faults.act(server);
        let pids = server.pids();
        if pids != self.pids {
            let is_new = |pid: &u32| !self.pids.contains(pid);
            let new: Vec<u32> = pids.iter().copied().filter(is_new).collect();
            self.sampler.follow_also(&new);
            self.pids = pids;
        }
        if let Some(proxy) = &mut self.proxy {
            proxy.follow(server);
        }
        wait
    }
}
