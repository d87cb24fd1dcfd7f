//! Which client is in which room: a pure function of the client's number, which does not change when
//! more clients come.

use super::{mix, spread};
use plan::{Audience, Plan, Rooms, Zipf};

/// What sets the draws of rooms apart from the others that the seed is for.
const ROOM_DRAWS: u64 = 0x54;

/// The rooms of a plan, ready to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RoomOf {
    /// Client `i` is in room `i mod n`: sizes differ by one at most.
    Equal(u32),
    /// The first `n` clients are in room 0, the next `n` in room 1, and so on.
    Members(u32),
    /// Where each room ends on a circle of 2^64 points.
    Zipf(Box<[u64]>),
}

impl RoomOf {
    fn new(rooms: Rooms) -> Self {
        match rooms {
            Rooms::Equal(count) => Self::Equal(count.max(1)),
            Rooms::Members(members) => Self::Members(members.max(1)),
            Rooms::Zipf(zipf) => Self::Zipf(ends(zipf)),
        }
    }

    /// The room of client number `client` of the whole run.
    fn room(&self, client: u64) -> u32 {
        match self {
            Self::Equal(count) => (client % u64::from(*count)) as u32,
            Self::Members(members) => (client / u64::from(*members)).min(u32::MAX.into()) as u32,
            Self::Zipf(ends) => {
                let place = spread::place(ROOM_DRAWS, client);
                let room = ends.partition_point(|end| *end <= place);
                room.min(ends.len() - 1) as u32
            }
        }
    }
}

/// The rooms of a worker's clients.
#[derive(Debug)]
pub(crate) struct WorkerRooms {
    rooms: Option<RoomOf>,
    /// For the draws of rooms alone.
    seed: u64,
    worker: u32,
    workers: u32,
}

impl WorkerRooms {
    /// Of a worker that has every `workers`-th client from number `worker` on.
    pub(crate) fn new(plan: &Plan, (worker, workers): (u32, u32)) -> Self {
        let rooms = match plan.audience {
            Audience::Room(rooms) => Some(RoomOf::new(rooms)),
            Audience::Sender | Audience::Everyone => None,
        };
        Self {
            rooms,
            seed: mix(plan.generator.seed, ROOM_DRAWS),
            worker,
            workers,
        }
    }

    const fn client(&self, slot: u32) -> u64 {
        slot as u64 * self.workers as u64 + self.worker as u64
    }

    /// The first room of the client in a slot, if there are rooms.
    pub(crate) fn first(&self, slot: u32) -> Option<u32> {
        let rooms = self.rooms.as_ref();
        rooms.map(|rooms| rooms.room(self.client(slot)))
    }

    /// The room that it enters after it has left so many, in a run of so many clients: that of a client
    /// drawn at random, which may be the same.
    pub(crate) fn next(&self, slot: u32, left: u32, clients: u64) -> Option<u32> {
        let drawn = mix(mix(self.seed, self.client(slot)), left.into());
        let rooms = self.rooms.as_ref();
        rooms.map(|rooms| rooms.room(drawn % clients.max(1)))
    }
}

/// Room `k`, counted from 1, has the share `k^-s / sum of all` of the clients (Zipf's law, as in
/// Knuth, The Art of Computer Programming, volume 3, 6.1).
fn ends(zipf: Zipf) -> Box<[u64]> {
    let weight = |room: u32| f64::from(room).powf(-zipf.exponent);
    let rooms = zipf.rooms.max(1);
    let all: f64 = (1..=rooms).map(weight).sum();
    let mut sum = 0.0;
    (1..=rooms)
        .map(|room| {
            sum += weight(room);
            // Saturates at the end of the circle.
            (sum / all * 2f64.powi(64)) as u64
        })
        .collect()
}

/// The rooms of the clients of a step, and which workers have clients of each that samples wait for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RoomTable {
    /// By client: where what is drawn for it goes, and who sends it. That is the room of the sender.
    rooms: Box<[u32]>,
    senders: Box<[u32]>,
    /// Of each room, a bit per worker.
    listening: Box<[u64]>,
    /// Words of `listening` per room.
    words: usize,
    /// Number of the first worker here, and how many the run has: by client, whose worker it is.
    workers: Box<[u32]>,
    of: u32,
}

impl RoomTable {
    /// The rooms of `clients` clients, of whom `is_awaited` says which ones samples wait for. Each of
    /// `workers` has every `of`-th client, from its number on.
    pub(crate) fn new(
        rooms: Rooms,
        clients: u64,
        is_awaited: impl Fn(u64) -> bool,
        workers: impl Iterator<Item = (u32, u32)>,
    ) -> Self {
        let room_of = RoomOf::new(rooms);
        let rooms: Box<[u32]> = (0..clients).map(|client| room_of.room(client)).collect();
        let mut all: Vec<(u32, u32)> = workers.collect();
        all.sort_unstable();
        let of = all.first().map_or(1, |(_, of)| *of);
        let words = all.len().div_ceil(64).max(1);
        let count = rooms.iter().max().map_or(0, |last| *last as usize + 1);
        let mut listening = vec![0; count * words];
        for (bit, (number, of)) in all.iter().enumerate() {
            for client in (u64::from(*number)..clients).step_by(*of as usize) {
                if is_awaited(client) {
                    let room = rooms[client as usize] as usize;
                    listening[room * words + bit / 64] |= 1 << (bit % 64);
                }
            }
        }
        let senders = senders(&rooms, count, is_awaited);
        Self {
            rooms: senders
                .iter()
                .map(|sender| rooms[*sender as usize])
                .collect(),
            senders,
            listening: listening.into(),
            words,
            workers: all.into_iter().map(|(number, _)| number).collect(),
            of,
        }
    }

    /// The room that what is drawn for a client of the step goes to: its own, if samples wait for a
    /// client there.
    #[inline]
    pub(crate) fn room(&self, drawn: u64) -> u32 {
        self.rooms[drawn as usize]
    }

    /// Who sends it: a client of that room that samples wait for. A server may want publishers to be
    /// subscribed.
    pub(crate) fn sender(&self, drawn: u64) -> u64 {
        self.senders[drawn as usize].into()
    }

    /// How many workers wait for a message from `sender` to a room: those with clients in it, and the
    /// sender's own, which waits for the result.
    pub(crate) fn parties(&self, room: u32, sender: u64) -> u32 {
        let room = room as usize;
        let row = &self.listening[room * self.words..][..self.words];
        let listening: u32 = row.iter().map(|word| word.count_ones()).sum();
        let own = (sender % u64::from(self.of)) as u32;
        let own = self.workers.binary_search(&own);
        let waits_anyway = own.is_ok_and(|bit| row[bit / 64] & (1 << (bit % 64)) != 0);
        listening + u32::from(own.is_ok() && !waits_anyway)
    }
}

/// By client: the first at or after it that samples wait for, past the last the first again; of its room
/// if there is one, else of any.
fn senders(rooms: &[u32], count: usize, is_awaited: impl Fn(u64) -> bool) -> Box<[u32]> {
    let (mut of_room, mut of_any) = (vec![None; count], None);
    let mut all = vec![0; rooms.len()];
    // The second time round, the last of a room know its first.
    for _ in 0..2 {
        for (client, room) in (0..rooms.len() as u32).zip(rooms).rev() {
            let of_room = &mut of_room[*room as usize];
            if is_awaited(u64::from(client)) {
                (*of_room, of_any) = (Some(client), Some(client));
            }
            all[client as usize] = of_room.or(of_any).unwrap_or(client);
        }
    }
    all.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sizes(rooms: Rooms, clients: u64) -> Vec<u32> {
        let of = RoomOf::new(rooms);
        let mut sizes = Vec::new();
        for client in 0..clients {
            let room = of.room(client) as usize;
            if sizes.len() <= room {
                sizes.resize(room + 1, 0);
            }
            sizes[room] += 1;
        }
        sizes
    }

    proptest! {
        /// Law: what is drawn for a client is sent by one that samples wait for, to that one's room. It is
        /// the client's own room where samples wait for one there, and the client itself if they wait
        /// for it.
        #[test]
        fn a_sender_is_of_the_room_that_it_sends_to(
            which in 0usize..3, size in 1u32..40, clients in 1u64..300, every in 1u64..9,
        ) {
            let zipf = Zipf { rooms: size, exponent: 1.0 };
            let rooms = [Rooms::Equal(size), Rooms::Members(size), Rooms::Zipf(zipf)][which];
            let stays = |client: u64| client.is_multiple_of(every);
            let table = RoomTable::new(rooms, clients, stays, [(0, 1)].into_iter());
            let own = RoomOf::new(rooms);
            for client in 0..clients {
                let sender = table.sender(client);
                prop_assert!(stays(sender) && (sender == client || !stays(client)));
                prop_assert_eq!(table.room(client), own.room(sender));
                let is_heard = (0..clients).any(|of| stays(of) && own.room(of) == own.room(client));
                prop_assert_eq!(table.room(client) == own.room(client), is_heard);
            }
        }

        /// Law: the workers together have the clients of the run, each in its own room.
        #[test]
        fn a_worker_has_the_rooms_of_its_own_clients(members in 1u32..40, workers in 1u32..9) {
            let mut plan = Plan::new("ws://h/");
            let rooms = Rooms::Members(members);
            plan.audience = Audience::Room(rooms);
            for client in 0..100 {
                let (worker, slot) = (client % workers, client / workers);
                let own = WorkerRooms::new(&plan, (worker, workers));
                prop_assert_eq!(own.first(slot), Some(RoomOf::new(rooms).room(client.into())));
            }
            plan.audience = Audience::Everyone;
            prop_assert_eq!(WorkerRooms::new(&plan, (0, workers)).first(1), None);
        }

        #[test]
        fn equal_rooms_differ_by_one_client_at_most(rooms in 1u32..500, clients in 1u64..5_000) {
            let sizes = sizes(Rooms::Equal(rooms), clients);
            prop_assert_eq!(sizes.len() as u64, u64::from(rooms).min(clients));
            let most = *sizes.iter().max().unwrap();
            if clients >= u64::from(rooms) {
                prop_assert!(sizes.iter().all(|size| most - size <= 1));
            }
        }

        #[test]
        fn rooms_are_filled_one_after_the_other(members in 1u32..500, clients in 1u64..5_000) {
            let sizes = sizes(Rooms::Members(members), clients);
            let (last, full) = sizes.split_last().unwrap();
            prop_assert!(full.iter().all(|size| *size == members));
            prop_assert!((1..=members).contains(last));
        }

        #[test]
        fn zipf_rooms_have_the_shares_of_the_law(
            rooms in 1u32..100, exponent in 0.0..3.0, clients in 1u64..20_000,
        ) {
            let zipf = Zipf { rooms, exponent };
            let all: f64 = (1..=rooms).map(|k| f64::from(k).powf(-exponent)).sum();
            for (k, size) in sizes(Rooms::Zipf(zipf), clients).iter().enumerate() {
                let exact = clients as f64 * ((k + 1) as f64).powf(-exponent) / all;
                prop_assert!((f64::from(*size) - exact).abs() < 6.0, "room {}: {size} of {exact}", k + 1);
            }
        }

        /// The parties of a sample, counted client by client.
        #[test]
        fn parties_are_the_workers_that_wait(
            rooms in 1u32..40, clients in 1u64..300, workers in 1u32..130, slow in 1u64..10,
        ) {
            let is_awaited = |client: u64| !client.is_multiple_of(slow + 1);
            let all = (0..workers).map(|n| (n, workers));
            let table = RoomTable::new(Rooms::Equal(rooms), clients, is_awaited, all);
            let room_of = |client: u64| (client % u64::from(rooms)) as u32;
            for sender in 0..clients {
                let mut waiting = vec![false; workers as usize];
                waiting[(sender % u64::from(workers)) as usize] = true;
                let room = room_of(sender);
                for client in (0..clients).filter(|client| room_of(*client) == room) {
                    waiting[(client % u64::from(workers)) as usize] |= is_awaited(client);
                }
                let count = waiting.iter().filter(|waits| **waits).count();
                prop_assert_eq!(table.parties(room, sender) as usize, count);
            }
        }
    }

    #[test]
    fn the_workers_of_one_site_are_asked_for_their_own_clients_alone() {
        let site = [(1, 4), (3, 4)];
        let table = RoomTable::new(Rooms::Members(2), 8, |_| true, site.into_iter());
        // Room 0 has clients 0 and 1, of workers 0 and 1; only worker 1 is of this site.
        assert_eq!(table.parties(0, 0), 1);
        // Whose sender is of another room, and of this site.
        assert_eq!(table.parties(0, 3), 2);
        let equal = RoomTable::new(Rooms::Equal(2), 8, |_| true, site.into_iter());
        // All clients with even numbers belong to workers 0 and 2.
        assert_eq!((equal.parties(0, 0), equal.parties(1, 1)), (0, 2));
    }
}
