//! The generator against test servers; every test runs on every backend.

#![allow(clippy::duplicate_mod, reason = "the same tests for each backend")]

pub(crate) mod common;

/// The files of tests, with `plan` for the backend that they are to run on.
macro_rules! suite {
    ($name:ident, $io:ident, $timestamps:ident) => {
        #[path = "."]
        mod $name {
            fn plan(addr: std::net::SocketAddr) -> plan::Plan {
                let timestamps = plan::Timestamps::$timestamps;
                let io = crate::engine::common::or_epoll(plan::Io::$io, timestamps);
                crate::engine::common::plan(addr, io, timestamps)
            }

            mod backpressure;
            mod connect;
            mod connections_lost;
            mod faulty_servers;
            mod honest_server;
            mod lives;
            mod lossy_storm;
            mod members;
            mod open_loop;
            mod resumed;
            mod room_changes;
            mod rooms;
            mod slow_readers;
            mod verdict;
            mod watched;
        }
    };
}

suite!(epoll, Epoll, User);
suite!(uring, Uring, User);
suite!(uring_with_kernel_stamps, Uring, Kernel);
