//! Clients without sockets, in a time that the test sets.
