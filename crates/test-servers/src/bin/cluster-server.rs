//! A node of a server, or the broker between its nodes, as a program. See `test_servers::cluster`.

use clap::{Args, Parser};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;
use test_servers::cluster::{Broker, BrokerOptions, Node, NodeOptions};

/// One part of a server of several nodes.
#[derive(Parser)]
enum Part {
    /// Serves clients, and passes broadcasts by the broker
    Node {
        #[command(flatten)]
        place: ListenOn,
        /// Port of the broker, on the same address
        #[arg(long)]
        broker: u16,
        /// Pass so many broadcasts on before it forgets any
        #[arg(long, default_value_t = 0)]
        after: u64,
        /// Answer so many broadcasts and pass none of them on
        #[arg(long, default_value_t = 0)]
        forget: u64,
        /// End the connections of clients when that to the broker ends
        #[arg(long)]
        loud: bool,
    },
    /// Passes broadcasts between nodes
    Broker {
        #[command(flatten)]
        place: ListenOn,
        /// Pass so many messages before it does anything wrong
        #[arg(long, default_value_t = 0)]
        after: u64,
        /// Take so many messages and pass them to no node
        #[arg(long, default_value_t = 0)]
        drop: u64,
        /// End all connections when so many were dropped
        #[arg(long)]
        then_close: bool,
        /// Pass so many messages twice
        #[arg(long, default_value_t = 0)]
        twice: u64,
        /// Pass each message so many milliseconds later
        #[arg(long, default_value_t = 0)]
        delay_ms: u64,
    },
}

#[derive(Args)]
struct ListenOn {
    /// Address to listen on
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

fn main() -> io::Result<()> {
    match Part::parse() {
        Part::Node {
            place,
            broker,
            after,
            forget,
            loud,
        } => {
            let node = Node::start(NodeOptions {
                address: SocketAddr::new(place.address, place.port),
                broker: SocketAddr::new(place.address, broker),
                after,
                forget,
                loud,
            })?;
            writeln!(io::stdout(), "listening on {}", node.addr())?;
            node.wait();
        }
        Part::Broker {
            place,
            after,
            drop,
            then_close,
            twice,
            delay_ms,
        } => {
            let broker = Broker::start(BrokerOptions {
                address: SocketAddr::new(place.address, place.port),
                after,
                drop,
                then_close,
                twice,
                delay: Duration::from_millis(delay_ms),
            })?;
            writeln!(io::stdout(), "listening on {}", broker.addr())?;
            broker.wait();
        }
    }
    Ok(())
}
