//! Flags of what clients say in their handshakes, and of their way to the server.

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
    /// CSV with a header row, or JSON lines: client i is row i, modulo the rows. {token} is the
    /// column `token`
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
    /// Has the plan say all this, but for the name of TLS.
    ///
    /// # Errors
    /// In words, when the path of a token cannot stand in a plan.
    pub(crate) fn apply(&self, plan: &mut run_record::Plan) -> Result<(), String> {
        let of = &mut plan.connection;
        of.headers.clone_from(&self.header);
        if let Some(path) = &self.bearer_file {
            let path = path
                .to_str()
                .filter(|path| path.is_ascii())
                .ok_or_else(|| {
                    format!(
                        "--bearer-file {}: the path is not ASCII; rename it",
                        path.display()
                    )
                })?;
            of.headers
                .push(format!("Authorization: Bearer file:{path}"));
        }
        of.cookies.clone_from(&self.cookie);
        of.query.clone_from(&self.query);
        of.subprotocols.clone_from(&self.subprotocol);
        of.data.clone_from(&self.data);
        plan.target.resolve.clone_from(&self.resolve);
        plan.target.unix_socket.clone_from(&self.unix);
        plan.target.proxy.clone_from(&self.proxy);
        Ok(())
    }
}
