//! The delay server as a program, for trying a load generator by hand. See
//! `test_servers::DelayServer`.

use clap::{Parser, ValueEnum};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use test_servers::{Delay, DelayOptions, DelayServer, Framework, Freeze, Pace};

/// Answers after a known delay. Times are in milliseconds.
#[derive(Parser)]
struct Args {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    address: IpAddr,
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// How the delays are spread; bimodal is 100 ms for 12 requests in a thousand
    #[arg(long, value_enum, default_value_t = Kind::Constant)]
    delay: Kind,
    /// The constant, mean or usual delay
    #[arg(long, value_name = "MS", default_value = "0", value_parser = ms)]
    time: Duration,
    /// Seed of the delays
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Freeze once for this long ...
    #[arg(long, value_name = "MS", value_parser = ms)]
    freeze: Option<Duration>,
    /// ... this long after the first request
    #[arg(long, value_name = "MS", default_value = "1000", value_parser = ms)]
    freeze_after: Duration,
    /// Delay the copy for the last listener by this much more
    #[arg(long, value_name = "MS", default_value = "0", value_parser = ms)]
    last_listener: Duration,
    /// Spread the copies of a broadcast evenly over this time
    #[arg(long, value_name = "MS", default_value = "0", value_parser = ms)]
    spread: Duration,
    /// Send the result of a broadcast this much later than its first copy
    #[arg(long, value_name = "MS", default_value = "0", value_parser = ms)]
    result: Duration,
    /// Speak the message formats of this framework
    #[arg(long, value_enum, default_value_t = Framework::Plain)]
    framework: Framework,
    /// Serve at most so many requests per second, one after the other
    #[arg(long, value_name = "N", value_parser = rate, conflicts_with = "max_deliveries")]
    max_requests: Option<f64>,
    /// Send at most so many copies of broadcasts per second
    #[arg(long, value_name = "N", value_parser = rate)]
    max_deliveries: Option<f64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Constant,
    Exponential,
    Bimodal,
}

#[derive(Debug)]
enum Unfit {
    Time,
    Rate,
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Time => "expected milliseconds, like 12.5",
            Self::Rate => "expected a number above 0",
        })
    }
}

impl std::error::Error for Unfit {}

fn ms(text: &str) -> Result<Duration, Unfit> {
    let parsed = text.parse::<f64>().ok();
    let time = parsed.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok());
    time.ok_or(Unfit::Time)
}

fn rate(text: &str) -> Result<f64, Unfit> {
    let parsed = text.parse::<f64>().ok();
    let rate = parsed.filter(|rate| rate.is_finite() && *rate > 0.0);
    rate.ok_or(Unfit::Rate)
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let requests = args.max_requests.map(Pace::requests_per_second);
    let deliveries = args.max_deliveries.map(Pace::deliveries_per_second);
    let server = DelayServer::start(DelayOptions {
        address: SocketAddr::new(args.address, args.port),
        delay: match args.delay {
            Kind::Constant => Delay::Constant(args.time),
            Kind::Exponential => Delay::Exponential(args.time),
            Kind::Bimodal => Delay::bimodal(args.time),
        },
        seed: args.seed,
        freeze: args.freeze.map(|length| Freeze {
            after: args.freeze_after,
            length,
        }),
        last_listener: args.last_listener,
        spread: args.spread,
        result: args.result,
        framework: args.framework,
        pace: requests.or(deliveries),
    })?;
    writeln!(io::stdout(), "listening on {}", server.addr())?;
    server.wait()
}
