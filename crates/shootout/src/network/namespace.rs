//! Network namespaces without a name: they last as long as a process or a descriptor is in them, so
//! that nothing of them is left when this program has ended, however it ends.

use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::thread;

/// The interface of each side.
const INTERFACE: &str = "wire";
/// As on Ethernet.
const MTU: i32 = 1500;
/// Packets that the kernel keeps for the thread that carries them: what a broadcast to many
/// thousands of clients sends at once.
const QUEUE: i32 = 100_000;
/// A namespace begins with the kernel's own values of these; here both sides have those of the machine.
const SETTINGS: [&str; 2] = ["/proc/sys/net/ipv4", "/proc/sys/net/core"];
const CLONED: [&str; 4] = [
    "tcp_",
    "ip_local_port_range",
    "somaxconn",
    "netdev_max_backlog",
];
/// They are of a side itself, or want more than one of its values.
const NOT_CLONED: [&str; 1] = ["tcp_fastopen_key"];
const CONGESTION_CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// A network namespace.
#[derive(Debug)]
pub(super) struct Namespace(OwnedFd);

/// The calling thread is in another namespace until this is dropped.
#[derive(Debug)]
pub struct Inside {
    back: Namespace,
}

impl Namespace {
    /// A namespace in which only loopback is there.
    pub(super) fn new() -> io::Result<Self> {
        let settings = settings();
        let made = thread::scope(|scope| {
            let there = scope.spawn(move || {
                // SAFETY: plain system call; it changes this thread alone.
                check(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
                let made = Self::current()?;
                for (path, value) in settings {
                    // A setting that a namespace may not change is the machine's there, too.
                    let _ = fs::write(path, value);
                }
                Control::new()?.up("lo")?;
                Ok(made)
            });
            there.join()
        });
        made.unwrap_or_else(|_| Err(io::Error::other("a thread has failed")))
    }

    /// That of the calling thread.
    fn current() -> io::Result<Self> {
        Ok(Self(File::open("/proc/thread-self/ns/net")?.into()))
    }

    /// Puts the calling thread, and what it starts from then on, into the namespace.
    pub(super) fn enter(&self) -> io::Result<Inside> {
        let back = Self::current()?;
        self.stay()?;
        Ok(Inside { back })
    }

    /// Neither allocates nor takes a lock, so that it may be called between fork and exec.
    fn stay(&self) -> io::Result<()> {
        // SAFETY: the descriptor is open; the call changes this thread alone.
        check(unsafe { libc::setns(self.0.as_raw_fd(), libc::CLONE_NEWNET) })
    }

    /// Does something in the namespace, on a thread that is there.
    pub(super) fn within<R: Send>(&self, act: impl FnOnce() -> R + Send) -> io::Result<R> {
        thread::scope(|scope| {
            let there = scope.spawn(|| self.stay().map(|()| act()));
            let done = there.join();
            done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Lets what `command` starts begin in the namespace.
    pub(super) fn begin(&self, command: &mut Command) -> io::Result<()> {
        let there = Self(self.0.try_clone()?);
        // SAFETY: the closure runs between fork and exec and makes one system call.
        unsafe { command.pre_exec(move || there.stay()) };
        Ok(())
    }

    /// An interface with these addresses of one network. What is written into the file arrives at
    /// it, and what is sent through it is read from the file, a packet at a time, without waiting.
    /// It goes with the file.
    pub(super) fn interface(&self, addresses: &[Ipv4Addr]) -> io::Result<File> {
        self.within(|| {
            let file = File::options()
                .read(true)
                .write(true)
                .open("/dev/net/tun")
                .map_err(|error| io::Error::new(error.kind(), format!("/dev/net/tun: {error}")))?;
            let mut request = named(INTERFACE);
            request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
            // SAFETY: `request` is a valid ifreq, and the descriptor is open.
            check(unsafe {
                libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request)
            })?;
            // SAFETY: the descriptor is open.
            check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) })?;
            // Its messages would be counted with those of the clients.
            let quiet = format!("/proc/sys/net/ipv6/conf/{INTERFACE}/disable_ipv6");
            let _ = fs::write(quiet, "1");
            let control = Control::new()?;
            control.number(INTERFACE, libc::SIOCSIFMTU as _, MTU)?;
            control.number(INTERFACE, libc::SIOCSIFTXQLEN as _, QUEUE)?;
            for (number, address) in addresses.iter().enumerate() {
                let label = match number {
                    0 => INTERFACE.to_owned(),
                    _ => format!("{INTERFACE}:{number}"),
                };
                control.address(&label, libc::SIOCSIFADDR as _, *address)?;
                let mask = Ipv4Addr::new(255, 255, 255, 0);
                control.address(&label, libc::SIOCSIFNETMASK as _, mask)?;
            }
            control.up(INTERFACE)?;
            Ok(file)
        })?
    }

    /// Packets that the kernel dropped because the link's thread did not read them from the interface in time.
    pub(super) fn missed(&self) -> io::Result<u64> {
        // Of `RX` and `TX` each eight columns, of which the fourth are drops (proc_pid_net(5)).
        const SENT_DROPS: usize = 8 + 3;
        let text = self.within(|| fs::read_to_string("/proc/thread-self/net/dev"))??;
        let line = text.lines().find_map(|line| {
            let (name, figures) = line.split_once(':')?;
            (name.trim() == INTERFACE).then_some(figures)
        });
        let figure = line.and_then(|line| line.split_whitespace().nth(SENT_DROPS)?.parse().ok());
        figure.ok_or_else(|| io::Error::other("/proc/net/dev does not name the interface"))
    }

    /// The kernel's congestion control there.
    pub(super) fn congestion_control(&self) -> Option<String> {
        let text = self.within(|| fs::read_to_string(CONGESTION_CONTROL));
        Some(text.ok()?.ok()?.trim().to_owned())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // It was there before.
        let _ = self.back.stay();
    }
}

/// What both sides have as the machine has it.
fn settings() -> Vec<(std::path::PathBuf, String)> {
    let dirs = SETTINGS.iter().filter_map(|dir| fs::read_dir(dir).ok());
    let files = dirs.flatten().flatten().filter(|file| {
        let name = file.file_name();
        let name = name.to_string_lossy();
        CLONED.iter().any(|start| name.starts_with(start)) && !NOT_CLONED.contains(&&*name)
    });
    let read = |file: fs::DirEntry| Some((file.path(), fs::read_to_string(file.path()).ok()?));
    files.filter_map(read).collect()
}

/// A socket by which interfaces are changed (netdevice(7)).
struct Control(OwnedFd);

impl Control {
    fn new() -> io::Result<Self> {
        Ok(Self(
            std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?.into(),
        ))
    }

    fn ask(&self, request: libc::Ioctl, about: &mut libc::ifreq) -> io::Result<()> {
        // SAFETY: the requests of this file take an ifreq, which `about` is; the descriptor is open.
        check(unsafe { libc::ioctl(self.0.as_raw_fd(), request, about) })
    }

    fn number(&self, name: &str, request: libc::Ioctl, value: i32) -> io::Result<()> {
        let mut about = named(name);
        about.ifr_ifru.ifru_mtu = value;
        self.ask(request, &mut about)
    }

    fn address(&self, name: &str, request: libc::Ioctl, value: Ipv4Addr) -> io::Result<()> {
        let mut about = named(name);
        let address = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: 0,
            sin_addr: libc::in_addr {
                s_addr: u32::from(value).to_be(),
            },
            sin_zero: [0; 8],
        };
        // SAFETY: both are socket addresses of the same size, made of plain integers.
        about.ifr_ifru.ifru_addr =
            unsafe { std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(address) };
        self.ask(request, &mut about)
    }

    fn up(&self, name: &str) -> io::Result<()> {
        let mut about = named(name);
        about.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        self.ask(libc::SIOCSIFFLAGS as _, &mut about)
    }
}

/// A request about the interface of that name, which is short enough.
fn named(name: &str) -> libc::ifreq {
    // SAFETY: all zeros are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
