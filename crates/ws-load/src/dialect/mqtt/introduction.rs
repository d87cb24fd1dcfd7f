//! Who a client says that it is, in CONNECT.

use std::fmt;

/// What CONNECT holds (3.1.3). Each text has at most [`LONGEST`] bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Introduction {
    /// `None` where the broker is to choose.
    pub(super) client_id: Option<Vec<u8>>,
    pub(super) username: Option<Vec<u8>>,
    pub(super) password: Option<Vec<u8>>,
}

/// Most bytes of a text, whose length has two bytes (1.5.3).
pub(super) const LONGEST: usize = u16::MAX as usize;

/// A text of this key is too long with the values of a client.
#[derive(Debug)]
pub(super) struct TooLong(pub(super) &'static str);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} has more than {LONGEST} bytes with the row of this client, and MQTT takes no more: \
             shorten it in the data file",
            self.0
        )
    }
}
