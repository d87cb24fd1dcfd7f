//! Rooms in the dialects of frameworks: clients publish, and go from room to room.

use crate::support::{assert_valid, bench, finish};
use record::End;
use std::fs;
use test_servers::Framework;
use test_servers::liar::{LiarServer, Lie};

/// 20 messages a second for three seconds in two rooms, between which half of ten clients change.
const PLAN: &str = r#"
    audience = { room = { equal = 2 } }
    [message]
    padding = 30
    [[populations]]
    [[populations]]
    life = { changes_room = { stays = "300ms", away = "50ms" } }
    [clients.steps]
    first = 10
    count = 1
    [load.open]
    rate = 20.0
    duration = "3s"
    [limits]
    time = "20s"
"#;

#[test]
fn clients_publish_and_change_rooms_in_the_dialects_of_frameworks() {
    for (framework, dialect, path) in [
        (Framework::Phoenix, "phoenix", "socket/websocket"),
        (Framework::Phoenix, "phoenix", "socket/websocket?vsn=2.0.0"),
        (Framework::ActionCable, "actioncable", "cable"),
    ] {
        let server = LiarServer::start_as(Lie::None, framework).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (file, json) = (
            folder.path().join("plan.toml"),
            folder.path().join("run.json"),
        );
        fs::write(&file, PLAN).unwrap();
        let mut command = bench();
        command.arg("run").arg(&file);
        command.arg(format!("ws://{}/{path}", server.addr()));
        command.args(["--set", &format!("message.dialect={dialect}")]);
        finish(command.arg("--json").arg(&json)).exits(0);
        let record = assert_valid(&json);
        assert_eq!(record.outcome.end, End::StepsDone, "{path}");
        let step = &record.steps[0];
        assert!(step.faults.is_empty(), "{path}: {}", step.faults);
        assert_eq!(step.samples, step.samples_planned, "{path}");
        let rooms = step.churn.as_ref().unwrap().rooms.as_ref().unwrap();
        assert!(rooms.left > 0 && rooms.joined > 0, "{path}: {rooms:?}");
        assert_eq!(rooms.unanswered, 0, "{path}");
    }
}
