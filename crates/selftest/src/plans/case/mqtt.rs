//! MQTT, whose broker may have each delivery acknowledged.

use super::{Case, Dice};
use plan::{Audience, Dialect, MqttTerms};
use test_servers::Framework;

/// Has the clients of some plans speak MQTT: of those whose messages no dialect file describes.
pub(super) fn draw(dice: &mut Dice, case: &mut Case) {
    let (is_5, qos) = (dice.once_in(2), dice.one_of(&[0, 1]));
    let named = dice.once_in(2);
    // An echo is published with QoS 0, and comes back with it.
    let qos = match case.plan.audience {
        Audience::Sender => 0,
        Audience::Everyone | Audience::Room(_) => qos,
    };
    let message = &mut case.plan.message;
    let is_free = case.server.framework == Framework::Plain && message.definition.is_none();
    if !dice.once_in(2) || !is_free {
        return;
    }
    case.server.framework = Framework::Mqtt;
    message.dialect = if is_5 { Dialect::Mqtt5 } else { Dialect::Mqtt };
    message.mqtt = Some(MqttTerms {
        client_id: named.then(|| "bench-{client}".to_owned()),
        username: named.then(|| "user-{n}".to_owned()),
        subscribe_qos: qos,
        ..MqttTerms::default()
    });
    let query = &mut case.plan.connection.query;
    query.push(format!("mqtt={}", if is_5 { 5 } else { 3 }));
    query.push(format!("qos={qos}"));
}
