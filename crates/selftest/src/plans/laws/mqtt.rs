//! What must hold of deliveries that clients acknowledge.

use super::{Kind, Trial};
use test_servers::Framework;
use test_servers::oracle::{Copy, Fate};

impl Trial<'_> {
    /// Clients acknowledge each delivery of MQTT with QoS 1 once for each time that it came. They may leave
    /// out what they read after the last sample, or do not read.
    pub(super) fn hold_acknowledgements(&mut self) {
        let has_qos_1 = self.plan().message.mqtt.as_ref();
        let has_qos_1 = has_qos_1.is_some_and(|of| of.subscribe_qos == 1);
        if self.case.server.framework != Framework::Mqtt {
            return;
        }
        let copies = self.told.asked.iter().flat_map(|asked| &asked.copies);
        let written = copies.chain(&self.told.strays);
        let written = written.filter(|copy| copy.written_ns.is_some());
        let times = |copy: &Copy| 1 + u64::from(copy.fate == Fate::Doubled);
        let most = written.map(times).sum::<u64>() * u64::from(has_qos_1);
        let read = self.copies(Kind::Awaited);
        let read = read.filter(|(_, copy)| copy.written_ns.is_some()).count() as u64;
        let least = match self.is_partial() {
            true => 0,
            false => read * u64::from(has_qos_1),
        };
        let law = "deliveries that are acknowledged";
        self.within(law, least..=most, self.told.acknowledged);
    }
}
