//! A page in a real browser is recorded, and its sessions are replayed by many clients.

use crate::replay::{await_messages, counted, import, replay, room};
use plan::Plan;
use record::{End, Faults};
use serde_json::Value;
use std::collections::BTreeMap;
use test_browser::record;

/// Two visitors one after the other. What they say depends on what they are told.
const PAGE: &str = r#"<!doctype html><script>
function visit(user, then) {
  const socket = new WebSocket("ws://ADDR/room");
  let said = 0;
  socket.onopen = () => socket.send(JSON.stringify({type: "login", user}));
  socket.onmessage = (message) => {
    const told = JSON.parse(message.data);
    if (told.type === "welcome") {
      socket.send(JSON.stringify({type: "typing", text: "{text} of " + user}));
      setTimeout(() => socket.send(JSON.stringify({type: "say", text: "good day \u00fc"})), 120);
    } else if (told.type === "said" && ++said < 3) {
      setTimeout(() => socket.send(JSON.stringify({type: "say", text: "again"})), 40);
    } else if (told.type === "said") {
      socket.send(JSON.stringify({type: "buy", n: 3}));
    } else if (told.type === "bought") {
      socket.close();
    }
  };
  socket.onclose = then;
}
visit("ann", () => visit("bob", () => {}));
</script>"#;

/// What the client of a connection said, and how long after the first message of both sides.
fn said(connection: &Value) -> Vec<(String, f64)> {
    let messages = connection["_webSocketMessages"].as_array().unwrap();
    let time = |message: &Value| message["time"].as_f64().unwrap();
    let first = time(&messages[0]);
    let sends = messages.iter().filter(|message| message["type"] == "send");
    let said = sends.map(|message| {
        let text = message["data"].as_str().unwrap().to_owned();
        (text, time(message) - first)
    });
    said.collect()
}

#[test]
fn the_sessions_of_a_page_are_replayed_message_by_message() {
    let folder = tempfile::tempdir().unwrap();
    let (addr, heard) = room();
    let page = folder.path().join("page.html");
    std::fs::write(&page, PAGE.replace("ADDR", &addr.to_string())).unwrap();
    let capture = record(&page, 2, folder.path());
    let entries = capture["log"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2, "{capture:#}");
    let sessions = [said(&entries[0]), said(&entries[1])];
    let texts = sessions.each_ref().map(|said| {
        said.iter()
            .map(|(text, _)| text.clone())
            .collect::<Vec<_>>()
    });
    assert_eq!(texts[0].len(), 6, "{capture:#}");
    // What the browser recorded is what the server heard.
    await_messages(&heard, 12);
    let once = BTreeMap::from([(texts[0].clone(), 1), (texts[1].clone(), 1)]);
    assert_eq!(counted(&heard), once);

    let data = folder.path().join("users.csv");
    let data_out = data.to_str().unwrap();
    let (ran, path) = import(
        &capture,
        folder.path(),
        &["--data-out", data_out, "--clients", "10"],
    );
    assert_eq!(ran.code, 0, "{ran:#?}");
    let plan: Plan = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let script = &plan.message.definition.as_ref().unwrap().send.script;
    let planned: Vec<f64> = script
        .iter()
        .map(|turn| turn.at.ns() as f64 / 1e9)
        .collect();
    for (planned, (_, recorded)) in planned.iter().zip(&sessions[0]) {
        // Microseconds are kept.
        assert!((planned - recorded).abs() < 2e-6, "{planned} {recorded}");
    }
    for more in [&[][..], &["--processes", "2"]] {
        heard.lock().unwrap().clear();
        let (ran, record) = replay(&path, more);
        assert_eq!(record.outcome.end, End::StepsDone, "{ran:#?}");
        assert_eq!(record.faults(), Faults::default(), "{ran:#?}");
        await_messages(&heard, 60);
        let many = once.keys().map(|said| (said.clone(), 5)).collect();
        assert_eq!(counted(&heard), many, "{more:?}");
    }
}
