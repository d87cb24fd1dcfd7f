//! What must hold of messages that are followed to each client, where no connection ends.

use super::{Kind, Trial};
use record::{Fates, Watched};
use test_servers::oracle::Fate;

impl Trial<'_> {
    /// Every delivery has the fate that the server gave it.
    pub(super) fn hold_watched(&mut self) {
        let steps = self.record.steps.iter();
        let Some(watched) = steps.filter_map(|step| step.watched.as_deref()).next_back() else {
            return self.says("a step that is watched", false, || {
                "none is reported".to_owned()
            });
        };
        let watched = watched.clone();
        let asked = self.told.asked.len() as u64;
        self.exactly("messages that were sent", asked, watched.sent);
        self.exactly("messages that are watched", watched.planned, watched.sent);
        let answered = self
            .told
            .asked
            .iter()
            .filter(|asked| asked.result_ns.is_some());
        let answered = answered.count() as u64;
        self.exactly("messages that were confirmed", answered, watched.confirmed);
        let mut fates = watched.of_confirmed;
        fates.add(watched.of_unconfirmed);
        let lost = self.count(Kind::Awaited, Fate::Lost);
        let came = self.copies(Kind::Awaited).count() as u64 - lost;
        let due = Fates {
            live: came,
            lost_silent: lost,
            ..Fates::default()
        };
        self.says("what became of deliveries", fates == due, || {
            format!("{due:?} are known, {fates:?} reported")
        });
        let doubled = self.count(Kind::Awaited, Fate::Doubled);
        self.exactly("duplicates", doubled, watched.duplicate);
        let corrupt = self.count(Kind::Awaited, Fate::Corrupt);
        let faults = self.record.faults;
        self.exactly("corrupt messages", corrupt, faults.corrupt);
        self.exactly("faults that nobody made", corrupt, faults.total());
        self.hold_line(&watched, fates);
        let wrong = watched.repeated + watched.reordered + watched.refused;
        self.exactly("messages that came wrongly", 0, wrong);
        let clients = self.plan().clients_at(0);
        self.exactly(
            "clients whose connection lasted",
            clients,
            watched.bystanders,
        );
    }

    /// The timeline adds up to the figures.
    fn hold_line(&mut self, watched: &Watched, fates: Fates) {
        let line = &watched.timeline;
        let sum = |of: &[u64]| of.iter().sum::<u64>();
        self.exactly("messages, part by part", watched.sent, sum(&line.sent));
        self.exactly(
            "confirmed, part by part",
            watched.confirmed,
            sum(&line.confirmed),
        );
        self.exactly("live, part by part", fates.live, sum(&line.live));
        self.exactly(
            "lost, part by part",
            fates.lost_silent,
            sum(&line.lost_silent),
        );
        let times = [&watched.same_node, &watched.cross_node];
        let timed = times.into_iter().flatten().map(|of| of.count).sum::<u64>();
        self.exactly("deliveries that are timed", fates.live, timed);
    }
}
