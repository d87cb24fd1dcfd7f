//! Flags of what clients say in their handshakes, and of their way to the server.

use crate::refused::Refused;
use crate::secrets;
use clap::Args;
use std::path::PathBuf;

/// What clients say in their handshakes, and how they get to the server.
///
/// Values are checked with the plan and not here, where an error would show them.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "What clients say ({column} is of their row of --data; env:NAME and file:PATH keep a secret out of the command)"
)]
pub(crate) struct Handshake {
    /// Header line of every handshake; repeat it for more than one. `Host` replaces that of the URL
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// Cookie of every handshake; repeat it for more than one
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) cookie: Vec<String>,
    /// Show the token in the first line of a file: `Authorization: Bearer TOKEN`. A user and a
    /// password in the URL are shown as `Authorization: Basic`
    #[arg(long, value_name = "FILE")]
    pub(crate) bearer_file: Option<PathBuf>,
    /// Parameter behind the query of the URL, which is percent-encoded; repeat it for more than one
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) query: Vec<String>,
    /// Subprotocol to ask for, in place of the dialect's; repeat it for more than one. The server
    /// must choose one of them
    #[arg(long, value_name = "NAME")]
    pub(crate) subprotocol: Vec<String>,
    /// CSV with a header row, or JSON lines: client i is row i, modulo the number of rows.
    /// {token} is the column `token`
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// Connect to this address in place of looking the host up; repeat it for more than one
    #[arg(long, value_name = "HOST:PORT:ADDR")]
    pub(crate) resolve: Vec<String>,
    /// Connect to this Unix socket; the URL says the rest, as ws://localhost/ws does
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,
    /// Reach the server through this HTTP proxy, by CONNECT
    #[arg(long, value_name = "http://[USER:PASSWORD@]HOST:PORT")]
    pub(crate) proxy: Option<String>,
    /// wss: ask for this name, which the certificate must have, in place of the URL's host
    #[arg(long, value_name = "NAME")]
    pub(crate) sni: Option<String>,
}

impl Handshake {
    /// Has the plan say what was given of all this, but for the name of TLS.
    ///
    /// # Errors
    /// When a token cannot be read or its path cannot stand in a plan, and when there is a
    /// piece of what clients say in the place of the URL.
    pub(crate) fn apply(&self, plan: &mut plan::Plan) -> Result<(), Refused> {
        let lists = [&self.header, &self.cookie, &self.query, &self.subprotocol];
        let is_given = self.bearer_file.is_some() || lists.iter().any(|list| !list.is_empty());
        if is_given && !plan.target.url.contains("://") {
            return Err(Refused::NoUrl);
        }
        let of = &mut plan.connection;
        let mut headers = self.header.clone();
        if let Some(path) = &self.bearer_file {
            secrets::check_token_file("--bearer-file", path)?;
            let path = path
                .to_str()
                .filter(|path| path.is_ascii())
                .ok_or(Refused::BearerPath)?;
            headers.push(format!("Authorization: Bearer file:{path}"));
        }
        replace(&mut of.headers, headers, ':');
        replace(&mut of.cookies, self.cookie.clone(), '=');
        replace(&mut of.query, self.query.clone(), '=');
        let whole = [
            (&mut of.subprotocols, &self.subprotocol),
            (&mut plan.target.resolve, &self.resolve),
        ];
        for (list, given) in whole {
            if !given.is_empty() {
                list.clone_from(given);
            }
        }
        or_keep(&mut of.data, &self.data);
        or_keep(&mut plan.target.unix_socket, &self.unix);
        or_keep(&mut plan.target.proxy, &self.proxy);
        Ok(())
    }
}

fn or_keep<T: Clone>(value: &mut Option<T>, given: &Option<T>) {
    if given.is_some() {
        value.clone_from(given);
    }
}

/// Puts entries behind those of a list, without the ones of the same names that it had.
fn replace(list: &mut Vec<String>, given: Vec<String>, separator: char) {
    let name = |entry: &str| {
        let (name, _) = entry.split_once(separator).unwrap_or((entry, ""));
        match separator {
            // The names of header lines are those of RFC 9110, 5.1.
            ':' => name.trim().to_ascii_lowercase(),
            _ => name.to_owned(),
        }
    };
    list.retain(|old| !given.iter().any(|new| name(new) == name(old)));
    list.extend(given);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_takes_the_place_of_those_with_its_name() {
        let owned = |list: &[&str]| {
            list.iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>()
        };
        for (separator, had, given, has) in [
            (
                ':',
                &["X-A: 1", "x-b: 2", "X-B: 3"][..],
                &["X-b: 4", "X-C: 5"][..],
                &["X-A: 1", "X-b: 4", "X-C: 5"][..],
            ),
            (
                '=',
                &["a=1", "A=2"],
                &["a=3", "a=4"],
                &["A=2", "a=3", "a=4"],
            ),
            ('=', &["a=1"], &[], &["a=1"]),
        ] {
            let mut list = owned(had);
            replace(&mut list, owned(given), separator);
            assert_eq!(list, has);
        }
    }
}
