//! Who the sites are, what is known of each, and what they are told.

use super::{ClockRelation, Site};
use crate::message::{Command, CompleteSample, Report, SentSample};
use crate::plan::{Audience, Hearing as _, share_of};
use record::SiteUse;

/// All sites, those that are lost included: a site keeps its number.
pub(super) struct Members(Vec<Member>);

pub(super) struct Member {
    pub(super) site: Site,
    pub(super) is_here: bool,
    pub(super) connected: u64,
    /// As it was known when the step began: all its times are converted with one offset, so that
    /// differences within a site stay exact.
    clock: ClockRelation,
}

impl Member {
    fn tell(&self, command: Command) {
        if self.is_here {
            self.site
                .transport
                .tell(command.shifted(self.clock.offset_ns));
        }
    }

    /// A report with its times in the coordinator's clock.
    pub(super) fn to_coordinator(&self, report: Report) -> Report {
        report.shifted(-self.clock.offset_ns)
    }
}

impl Members {
    pub(super) fn new(sites: Vec<Site>) -> Self {
        let members = sites.into_iter().map(|site| Member {
            clock: site.transport.clock(),
            site,
            is_here: true,
            connected: 0,
        });
        Self(members.collect())
    }

    /// Sites of the run, those that are lost included.
    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Numbers of the sites that are not lost.
    pub(super) fn here(&self) -> impl Iterator<Item = u32> {
        let here = self.0.iter().enumerate().filter(|(_, m)| m.is_here);
        here.map(|(number, _)| number as u32)
    }

    /// A site that is not lost.
    pub(super) fn member(&mut self, number: u32) -> Option<&mut Member> {
        let member = self.0.get_mut(number as usize)?;
        member.is_here.then_some(member)
    }

    pub(super) fn connected(&self) -> u64 {
        self.0.iter().map(|member| member.connected).sum()
    }

    pub(super) fn forget_connected(&mut self) {
        self.0.iter_mut().for_each(|member| member.connected = 0);
    }

    /// Takes what is known of the clocks now for the step that begins.
    pub(super) fn compare_clocks(&mut self) {
        for member in &mut self.0 {
            member.clock = member.site.transport.clock();
        }
    }

    pub(super) fn worst_bound_ns(&self) -> u64 {
        let bounds = self.0.iter().map(|member| member.clock.bound_ns);
        bounds.max().unwrap_or(0)
    }

    pub(super) fn tell_all(&self, command: &Command) {
        self.0
            .iter()
            .for_each(|member| member.tell(command.clone()));
    }

    /// Has samples sent, each by the site that has its sender.
    pub(super) fn send(&self, released: Vec<(u32, u64)>) {
        let sites = self.len();
        let mut shares = vec![Vec::new(); self.0.len()];
        for (index, client) in released {
            shares[(client % sites) as usize].push(index);
        }
        for (member, share) in self.0.iter().zip(shares) {
            if !share.is_empty() {
                member.tell(Command::Send(share));
            }
        }
    }

    /// Tells all other sites what one has sent. An echo concerns its own site alone.
    pub(super) fn relay(&self, from: u32, sent: &[SentSample], audience: Audience) {
        if sent.is_empty() || !audience.reaches_others() {
            return;
        }
        for (number, member) in self.0.iter().enumerate() {
            if number != from as usize {
                member.tell(Command::Sent(sent.to_vec()));
            }
        }
    }

    /// Tells all sites which samples are complete.
    pub(super) fn tell_complete(&self, samples: Vec<CompleteSample>) {
        if !samples.is_empty() {
            self.tell_all(&Command::Complete(samples));
        }
    }

    /// A row for each site, of a step with so many clients.
    pub(super) fn rows(&self, clients: u64) -> Vec<SiteUse> {
        let sites = self.len();
        let rows = (0..).zip(&self.0).map(|(number, member)| SiteUse {
            name: member.site.name.as_str().into(),
            clients: share_of(clients, number, sites),
            clock_offset_ns: member.clock.offset_ns,
            clock_bound_ns: member.clock.bound_ns,
            ..SiteUse::default()
        });
        rows.collect()
    }
}
