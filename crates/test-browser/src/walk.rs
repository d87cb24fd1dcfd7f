//! A walk over the pages of a site in one browser: each page is opened, looked at, and acted upon.

use super::LOOK;
use super::capture::Browser;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// A walk that lasts longer hangs.
const PATIENCE: Duration = Duration::from_secs(1200);

/// A browser with one page.
pub struct Walk {
    browser: Browser,
    session: String,
}

impl Walk {
    /// Starts a browser; `scratch` takes its files.
    ///
    /// # Panics
    /// When there is no browser, or it fails.
    pub fn start(scratch: &Path) -> Self {
        let mut browser = Browser::start(scratch, PATIENCE);
        let session = browser.attach();
        let mut walk = Self { browser, session };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            walk.ask(&format!("{domain}.enable"), json!({}));
        }
        walk
    }

    /// Sends a command of the DevTools protocol.
    ///
    /// # Panics
    /// When the browser refuses it.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.browser.ask(&self.session, method, params)
    }

    /// Gives the window so many pixels.
    ///
    /// # Panics
    /// As [`Walk::ask`].
    pub fn width(&mut self, width: u32) {
        let metrics =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Opens a file, with a fragment or without one, and waits until it is loaded. A page that is open
    /// already is loaded again.
    ///
    /// # Panics
    /// When the browser does not load it.
    pub fn open(&mut self, page: &Path, fragment: &str) {
        self.browser
            .seen
            .retain(|event| event["method"] != "Page.loadEventFired");
        // Another fragment of the same page is no navigation.
        self.ask("Page.navigate", json!({"url": "about:blank"}));
        self.loaded();
        let url = format!("file://{}{fragment}", page.display());
        let told = self.ask("Page.navigate", json!({"url": url}));
        assert!(told["errorText"].is_null(), "{url}: {}", told["errorText"]);
        self.loaded();
    }

    /// Waits until a page is loaded.
    ///
    /// # Panics
    /// When the browser ends.
    pub fn loaded(&mut self) {
        let is_end = |event: &Value| event["method"] == "Page.loadEventFired";
        loop {
            if let Some(at) = self.browser.seen.iter().position(is_end) {
                self.browser.seen.remove(at);
                return;
            }
            let event = self.browser.next();
            self.browser.seen.push(event);
        }
    }

    /// The value of an expression in the page; of a promise, what it becomes.
    ///
    /// # Panics
    /// When the script fails.
    pub fn run(&mut self, script: &str) -> Value {
        let told = self.ask(
            "Runtime.evaluate",
            json!({"expression": script, "awaitPromise": true, "returnByValue": true}),
        );
        assert!(
            told["exceptionDetails"].is_null(),
            "{script:.200}: {}",
            told["exceptionDetails"]
        );
        told["result"]["value"].clone()
    }

    /// Presses and releases a key, as a keyboard does: `Tab`, `Enter`, or the space ` `.
    ///
    /// # Panics
    /// As [`Walk::ask`].
    pub fn press(&mut self, key: &str) {
        let (code, number, text) = match key {
            "Tab" => ("Tab", 9, ""),
            "Enter" => ("Enter", 13, "\r"),
            " " => ("Space", 32, " "),
            other => panic!("no key {other:?}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.ask(
                "Input.dispatchKeyEvent",
                json!({"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number, "text": text}),
            );
        }
    }

    /// What of the page does not fit into the window.
    ///
    /// # Panics
    /// As [`Walk::run`].
    pub fn cut_off(&mut self) -> Vec<String> {
        let found = self.run(&format!("(() => {{{LOOK}; return found.slice(1); }})()"));
        serde_json::from_value(found).unwrap()
    }

    /// What pages complained about since it was last asked: messages of the console that are errors or
    /// warnings, exceptions, and what was asked of the network.
    pub fn complaints(&mut self) -> Vec<String> {
        let events = std::mem::take(&mut self.browser.seen);
        events.iter().filter_map(complaint).collect()
    }

    /// Ends the browser.
    pub fn stop(self) {
        self.browser.stop();
    }
}

fn complaint(event: &Value) -> Option<String> {
    let params = &event["params"];
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(params["exceptionDetails"].to_string()),
        "Runtime.consoleAPICalled" => {
            let is_harmless = ["log", "info", "debug"]
                .iter()
                .any(|kind| params["type"] == *kind);
            (!is_harmless).then(|| params["args"].to_string())
        }
        "Log.entryAdded" => {
            let entry = &params["entry"];
            (entry["level"] != "info" && entry["level"] != "verbose").then(|| entry.to_string())
        }
        "Network.requestWillBeSent" => {
            let url = params["request"]["url"].as_str()?;
            let is_local = ["file:", "about:", "data:"]
                .iter()
                .any(|scheme| url.starts_with(scheme));
            (!is_local).then(|| format!("asked for {url}"))
        }
        _ => None,
    }
}
