//! Pages in a real browser, for tests: what became of them, what the console said, what was asked for.

mod capture;
mod walk;

pub use capture::record;
pub use walk::Walk;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Names under which distributions install Chromium.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A page that opens a dialog keeps a headless browser waiting for good.
const PATIENCE: Duration = Duration::from_secs(60);

fn browser() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .flat_map(|dir| BROWSERS.map(|name| dir.join(name)))
        .find(|program| program.is_file())
        .expect("no Chromium in PATH; install it: apt-get install chromium")
}

/// What the browser made of a page.
pub struct Shown {
    /// The document after its scripts have run.
    pub dom: String,
    /// The browser's log.
    pub log: String,
    /// What the browser did on the network.
    pub net: String,
}

/// Opens a page; `scratch` takes the browser's own files.
///
/// # Panics
/// When there is no browser, or it fails.
pub fn show(page: &Path, scratch: &Path) -> Shown {
    let net = scratch.join("net.json");
    let output = dump(page, &net, scratch);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    Shown {
        dom: text(&output.stdout),
        log: text(&output.stderr),
        net: fs::read_to_string(net).unwrap(),
    }
}

/// Opens a page in a window of so many pixels, and says what of it does not fit there. It is shown in a
/// frame of that width: a browser without a screen has windows of a least width.
///
/// # Panics
/// When there is no browser, or the page does not report.
pub fn look(page: &Path, width: u32, scratch: &Path) -> (Shown, Vec<String>) {
    let mut text = fs::read_to_string(page).unwrap();
    let looked = scratch.join("looked.html");
    // A page that needs no script forbids all.
    if !text.contains("script-src") {
        let policy = "default-src 'none';";
        text = text.replacen(policy, &format!("{policy} script-src 'unsafe-inline';"), 1);
    }
    let looking = format!("<script>{LOOK}{TELL}</script></body>");
    fs::write(&looked, text.replace("</body>", &looking)).unwrap();
    let frame = scratch.join("frame.html");
    let text = format!(
        "<body><script>addEventListener('message', (m) => document.body.append('FOUND' + m.data + \
         'END'))</script><iframe src=\"looked.html\" style=\"width:{width}px;height:900px;border:0\"></iframe>"
    );
    fs::write(&frame, text).unwrap();
    let shown = show(&frame, scratch);
    let found = shown
        .dom
        .split("FOUND")
        .nth(2)
        .and_then(|rest| rest.split("END").next());
    let found = found.unwrap_or_else(|| panic!("the page did not report: {}", shown.log));
    let mut found: Vec<String> = serde_json::from_str(
        &found
            .replace("&amp;", "&")
            .replace("&lt;", "<")
            .replace("&gt;", ">"),
    )
    .unwrap();
    assert_eq!(found.remove(0), width.to_string(), "the width of the page");
    (shown, found)
}

/// What a page finds of itself that is cut off: wider than the window, hidden beyond the edge of its
/// box, or outside of its chart; a ranking that a wide window does not hold, and one whose clients and
/// p95 a narrow one does not show at first. Other boxes that scroll are there to hold more than that.
const LOOK: &str = r#"
const found = [String(innerWidth)];
const root = document.documentElement;
if (root.scrollWidth > innerWidth) found.push("the page is " + root.scrollWidth + " wide");
for (const one of document.body.querySelectorAll("*")) {
  const name = one.tagName + " " + (one.textContent || "").trim().slice(0, 40);
  if (one.closest("svg")) {
    if (one.tagName !== "text") continue;
    const box = one.getBBox(), view = one.ownerSVGElement.viewBox.baseVal;
    // Parts that other charts use have no place of their own.
    if (one.closest("defs")) continue;
    const at = one.getAttribute("transform") ? null : box;
    if (at && (at.x < -1 || at.y < -1 || at.x + at.width > view.width + 1 || at.y + at.height > view.height + 1)) {
      found.push("outside of its chart: " + name);
    }
    continue;
  }
  const style = getComputedStyle(one);
  const hides = style.overflowX === "hidden" || style.overflowX === "clip" || style.textOverflow === "ellipsis";
  if (hides && one.scrollWidth > one.clientWidth + 1) found.push("hidden: " + name);
  const box = one.getBoundingClientRect();
  if (box.width > 0 && box.right > innerWidth + 1 && !one.closest(".scroll")) found.push("beyond the edge: " + name);
}
for (const table of document.querySelectorAll("table.ranking")) {
  const box = table.closest(".scroll"), name = table.caption.textContent;
  if (innerWidth >= 1300 && box.scrollWidth > box.clientWidth + 1) {
    found.push("wider than its box by " + (box.scrollWidth - box.clientWidth) + ": " + name);
  }
  for (const head of table.tHead.rows[0].cells) {
    const is_first = ["clients", "p95"].includes(head.textContent.trim());
    if (is_first && head.getBoundingClientRect().right > innerWidth) found.push(head.textContent + " is out of sight: " + name);
  }
}
"#;

/// Tells the page around it what was found.
const TELL: &str = r#"parent.postMessage(JSON.stringify(found), "*");"#;

/// Has the browser write the document of a page to its stdout, and what it does on the network to `net`.
///
/// # Panics
/// When there is no browser.
pub fn dump(page: &Path, net: &Path, scratch: &Path) -> Output {
    let mut browser = Command::new(browser());
    browser
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            scratch.join("browser").display()
        ))
        .arg(format!("--log-net-log={}", net.display()))
        .arg(format!("file://{}", page.display()))
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = browser.spawn().unwrap();
    let group = -(child.id() as i32);
    let (done, watch) = watch(group, PATIENCE);
    let output = child.wait_with_output().unwrap();
    drop(done);
    watch.join().unwrap();
    output
}

/// Kills a group of processes that is still there after so long. It ends when the sender is dropped.
fn watch(group: i32, patience: Duration) -> (mpsc::Sender<()>, JoinHandle<()>) {
    let (done, waiting) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        if waiting.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
            // SAFETY: kill takes numbers only; the group is the one opened by a child that has not
            // been waited for.
            unsafe { libc::kill(group, libc::SIGKILL) };
        }
    });
    (done, watch)
}

/// Lines of the console in a browser's log.
pub fn console(log: &str) -> Vec<&str> {
    log.lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect()
}

/// Addresses that the page itself asked for. Requests of the browser's own services carry no
/// initiator that is a page.
///
/// # Panics
/// When the browser's log of the network is none.
pub fn requests(net: &str) -> Vec<String> {
    let log: serde_json::Value = serde_json::from_str(net).unwrap();
    let url_request = &log["constants"]["logSourceType"]["URL_REQUEST"];
    assert!(
        url_request.is_number(),
        "the browser's log has no URL_REQUEST"
    );
    log["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| &event["source"]["type"] == url_request)
        .filter(|event| {
            let initiator = event["params"]["initiator"].as_str().unwrap_or_default();
            initiator.starts_with("file:") || initiator == "null" || initiator.starts_with("opaque")
        })
        .filter_map(|event| event["params"]["url"].as_str())
        .filter(|url| url.starts_with("http"))
        .map(str::to_owned)
        .collect()
}
