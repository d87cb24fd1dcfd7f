//! System calls that the kernel refuses to a program, as the sandboxes of containers have it.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Offset of the low half of an argument in `seccomp_data`, on a little-endian machine.
const fn argument(number: u32) -> u32 {
    16 + 8 * number
}

/// A system call that the kernel is to refuse to a program.
pub(crate) struct Refused {
    pub(crate) call: libc::c_long,
    /// Only where the argument of this number is this.
    pub(crate) argument: Option<(u32, u32)>,
    pub(crate) error: i32,
}

impl Refused {
    /// Has it refused to the program of `command`.
    pub(crate) fn to<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        install(command, self)
    }
}

fn install<'a>(command: &'a mut Command, refused: &Refused) -> &'a mut Command {
    let statement = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let load = |offset| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset);
    let unless_equal_skip = |k: u32, jf: u8| libc::sock_filter {
        jf,
        ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, k)
    };
    let end = |action| statement(libc::BPF_RET | libc::BPF_K, action);
    let mut filter = match refused.argument {
        Some((number, value)) => vec![
            load(0),
            unless_equal_skip(refused.call as u32, 3),
            load(argument(number)),
            unless_equal_skip(value, 1),
        ],
        None => vec![load(0), unless_equal_skip(refused.call as u32, 1)],
    };
    filter.push(end(libc::SECCOMP_RET_ERRNO | refused.error as u32));
    filter.push(end(libc::SECCOMP_RET_ALLOW));
    let install = move || {
        let program = libc::sock_fprog {
            len: filter.len() as u16,
            filter: filter.as_mut_ptr(),
        };
        // SAFETY: the program and its filter outlive the calls, which copy them.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                ) == 0
        };
        if done {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: between fork and exec two system calls are made and nothing is allocated.
    unsafe { command.pre_exec(install) }
}
