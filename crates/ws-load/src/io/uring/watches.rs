//! Which sockets are watched, and which requests of them the kernel still holds.
//!
//! A completion names a slot and its generation. A slot is used again only when the kernel has
//! answered every request that names it; with the generation, an error in this count cannot
//! give a socket the bytes of another one. This module makes no system calls.

use crate::io::Token;
use socket2::Socket;
use std::collections::HashMap;
use std::os::fd::{AsRawFd as _, RawFd};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Ask {
    /// To be woken by another thread.
    Wake,
    /// The end of a connection attempt, or room to write.
    Writable,
    /// Bytes, until told otherwise.
    Receive,
    /// That there are bytes to be read by a call.
    Readable,
    /// That a socket's requests be ended.
    Cancel,
}

/// A request, as its completions name it: 8 bits of what it asks, 24 of the generation, 32 of the
/// slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) ask: Ask,
    pub(super) slot: u32,
    generation: u32,
}

const GENERATIONS: u32 = 1 << 24;

impl Name {
    pub(super) const WAKE: Self = Self {
        ask: Ask::Wake,
        slot: 0,
        generation: 0,
    };
    pub(super) const CANCEL: Self = Self {
        ask: Ask::Cancel,
        slot: 0,
        generation: 0,
    };

    #[inline]
    pub(super) const fn pack(self) -> u64 {
        (self.ask as u64) << 56 | (self.generation as u64) << 32 | self.slot as u64
    }

    #[inline]
    pub(super) const fn unpack(data: u64) -> Self {
        Self {
            ask: match data >> 56 {
                0 => Ask::Wake,
                1 => Ask::Writable,
                2 => Ask::Receive,
                3 => Ask::Readable,
                _ => Ask::Cancel,
            },
            generation: (data >> 32) as u32 % GENERATIONS,
            slot: data as u32,
        }
    }
}

/// A socket.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) token: Token,
    pub(super) socket: RawFd,
    generation: u32,
    /// A receive is with the kernel.
    pub(super) receiving: bool,
    /// A poll for room to write is with the kernel.
    pub(super) polling: bool,
    /// The caller wants to hear of room to write.
    pub(super) wants_writable: bool,
    /// No bytes are asked for.
    pub(super) paused: bool,
    /// It was paused before: it is read by calls.
    pub(super) paced: bool,
    /// No further event may be given: the socket has ended, or is given up.
    pub(super) silent: bool,
    /// Kept from when it is given up until no request names it.
    given_up: Option<Socket>,
}

impl Watch {
    /// How bytes of it are asked for.
    pub(super) const fn receive(&self) -> Ask {
        if self.paced {
            Ask::Readable
        } else {
            Ask::Receive
        }
    }

    const fn is_asked_for(&self) -> bool {
        self.receiving || self.polling
    }
}

/// All sockets of a backend.
#[derive(Debug, Default)]
pub(super) struct Watches {
    slots: Vec<Watch>,
    free: Vec<u32>,
    by_socket: HashMap<RawFd, u32>,
    /// Sockets that are closed at the end of the turn.
    pub(super) parting: Vec<Socket>,
}

impl Watches {
    /// Begins to watch a socket; returns its slot.
    pub(super) fn add(&mut self, token: Token, socket: RawFd) -> u32 {
        let mut watch = Watch {
            token,
            socket,
            generation: 0,
            receiving: false,
            polling: false,
            wants_writable: false,
            paused: false,
            paced: false,
            silent: false,
            given_up: None,
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                let place = &mut self.slots[slot as usize];
                watch.generation = (place.generation + 1) % GENERATIONS;
                *place = watch;
                slot
            }
            None => {
                self.slots.push(watch);
                (self.slots.len() - 1) as u32
            }
        };
        self.by_socket.insert(socket, slot);
        slot
    }

    /// The slot of a watched socket.
    pub(super) fn slot_of(&self, socket: RawFd) -> Option<u32> {
        self.by_socket.get(&socket).copied()
    }

    pub(super) fn get(&mut self, slot: u32) -> &mut Watch {
        &mut self.slots[slot as usize]
    }

    /// The name of a request of this slot.
    pub(super) fn name(&self, slot: u32, ask: Ask) -> Name {
        Name {
            ask,
            slot,
            generation: self.slots[slot as usize].generation,
        }
    }

    /// The socket that a completion is about, unless it is that of another time.
    #[inline]
    pub(super) fn named(&mut self, name: Name) -> Option<&mut Watch> {
        let watch = self.slots.get_mut(name.slot as usize)?;
        (watch.generation == name.generation).then_some(watch)
    }

    /// Takes a socket that is given up. True when the kernel has requests of it that must be
    /// cancelled first.
    pub(super) fn give_up(&mut self, socket: Socket) -> bool {
        let Some(slot) = self.by_socket.remove(&socket.as_raw_fd()) else {
            self.parting.push(socket);
            return false;
        };
        let watch = &mut self.slots[slot as usize];
        watch.silent = true;
        watch.given_up = Some(socket);
        self.release_if_over(slot);
        self.slots[slot as usize].given_up.is_some()
    }

    /// Notes that the kernel has answered a request for the last time.
    pub(super) fn answered(&mut self, name: Name) {
        let Some(watch) = self.named(name) else {
            return;
        };
        match name.ask {
            Ask::Receive | Ask::Readable => watch.receiving = false,
            Ask::Writable => watch.polling = false,
            Ask::Wake | Ask::Cancel => return,
        }
        self.release_if_over(name.slot);
    }

    fn release_if_over(&mut self, slot: u32) {
        let watch = &mut self.slots[slot as usize];
        if !watch.is_asked_for()
            && let Some(socket) = watch.given_up.take()
        {
            self.parting.push(socket);
            self.free.push(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::net::UnixStream;

    fn socket() -> Socket {
        Socket::from(std::os::fd::OwnedFd::from(UnixStream::pair().unwrap().0))
    }

    proptest! {
        #[test]
        fn names_survive_their_packing(ask in 0usize..5, slot: u32, generation in 0..GENERATIONS) {
            use Ask::{Cancel, Receive, Readable, Wake, Writable};
            let ask = [Wake, Writable, Receive, Readable, Cancel][ask];
            let name = Name { ask, slot, generation };
            prop_assert_eq!(Name::unpack(name.pack()), name);
        }
    }

    #[test]
    fn a_slot_is_used_again_only_when_every_request_of_it_is_answered() {
        let mut watches = Watches::default();
        let first = socket();
        let slot = watches.add(7, first.as_raw_fd());
        watches.get(slot).receiving = true;
        watches.get(slot).polling = true;
        let receive = watches.name(slot, Ask::Receive);
        assert!(watches.give_up(first));
        let second = socket();
        assert_ne!(watches.add(7, second.as_raw_fd()), slot);
        watches.answered(receive);
        assert!(watches.parting.is_empty());
        watches.answered(watches.name(slot, Ask::Writable));
        assert_eq!(watches.parting.len(), 1);
        let third = socket();
        assert_eq!(watches.add(7, third.as_raw_fd()), slot);
        assert!(watches.named(receive).is_none(), "of another time");
    }

    #[test]
    fn a_socket_that_the_kernel_holds_no_request_of_parts_at_once() {
        let mut watches = Watches::default();
        let watched = socket();
        watches.add(1, watched.as_raw_fd());
        assert!(!watches.give_up(watched));
        assert!(!watches.give_up(socket()), "never watched");
        assert_eq!(watches.parting.len(), 2);
    }
}
