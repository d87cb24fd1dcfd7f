//! `shootout run` of servers that need another program beside them.

use crate::support::{Project, Server, eventually, running};
use record::Status;

/// A service that listens, and fails once the file `$until` is there.
fn store(prepare: &str) -> String {
    format!(
        "[[service]]\nname = \"store\"\ncommand = [\"sh\", \"-c\", \"\"\"{prepare}\nexec python3 -c '\n\
         import os, socket, sys, time\n\
         s = socket.create_server((\\\"127.0.0.1\\\", {{service:store}}))\n\
         while not os.path.exists(sys.argv[1]): time.sleep(0.05)\n\
         sys.exit(\\\"out of memory\\\")' $until\"\"\"]\n"
    )
}

#[test]
fn what_services_use_is_counted_and_their_death_ends_the_row() {
    let project = Project::new();
    let folder = project.path("").display().to_string();
    let never = format!("{folder}/never");
    let log = "out/logs/b-forgetful.default.broadcast.text.1.generator.log";
    project.add(&Server {
        name: "a-stored",
        more: &store(&format!("until={never}")),
        ..Server::default()
    });
    project.add(&Server {
        name: "b-forgetful",
        // The second start is the one that is measured: it ends once the generator has begun.
        more: &store(&format!(
            "until={never}; [ -e verified ] && until={folder}/{log}; touch verified"
        )),
        ..Server::default()
    });
    project.add(&Server {
        name: "c-storeless",
        more: "[[service]]\nname = \"store\"\ncommand = [\"no-such-store\", \"{service:store}\"]\n",
        ..Server::default()
    });
    let done = project.shootout(
        "run --out out --set clients.first=20 --set clients.add=5 --set clients.count=20 --set load.samples=200 \
         --set limits.time=20s",
    );
    done.expect(3, &[]);
    let of = |server: &str| project.measurement(&format!("{server}.default.broadcast.text.1"));
    let stored = of("a-stored");
    assert_eq!(stored.status, Status::Ok, "{:?}", stored.reason);
    let series = stored.server_series.as_ref().unwrap();
    assert!(series.rows.len() >= 2 && series.rows.len() <= record::MOST_SERVER_ROWS);
    assert!(series.rows.iter().all(|row| row.resident_bytes > 0));
    assert!(series.rows.iter().any(|row| row.cpu_ns > 0));
    // The shell of the server became the server, and that of the service the interpreter.
    assert_eq!(stored.idle.unwrap().processes, 2);
    assert!(
        stored
            .server_steps
            .iter()
            .all(|step| step.memory.processes == 2)
    );

    let forgetful = of("b-forgetful");
    assert_eq!(forgetful.status, Status::Crashed, "{:?}", forgetful.reason);
    let reason = forgetful.reason.unwrap();
    assert!(
        reason.starts_with("the service store ended by itself: exit code 1"),
        "{reason}"
    );
    assert_eq!(forgetful.log_tail.as_deref(), Some("out of memory"));

    let storeless = of("c-storeless");
    assert_eq!(storeless.status, Status::StartFailed);
    assert!(
        storeless
            .reason
            .unwrap()
            .starts_with("the service store did not start: `no-such-store` could not be started: ")
    );
    eventually("no service is left", || running(&never) == 0);
}
