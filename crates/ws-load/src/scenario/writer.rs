//! The frames of requests, compressed and in fragments where the plan says so.

use super::{Clients, Slot};
use crate::dialect::{Codec, Variables};
use plan::{Plan, Workload};
use std::mem::swap;
use ws_proto::{FrameHeader, MAX_HEADER, apply_mask, encode_fragments, mark_compressed};

/// Writes requests, each in the place of the one before.
#[derive(Debug)]
pub(super) struct Writer {
    workload: Workload,
    /// Most bytes of a frame's payload.
    fragment: usize,
    /// The frame of a request, from `frame_start` on: the header is written in front of the payload
    /// when its length is known, so that a long message is not copied.
    frame: Vec<u8>,
    frame_start: usize,
    deflated: Vec<u8>,
    /// The frames of the request before the last that was sent in fragments: room for the next.
    fragments: Vec<u8>,
}

/// What decides on the text of a request, besides its stamp.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// A request of a script, of this kind.
    Script(u32),
    /// Any other, with the room that a publication goes to.
    Room(u32),
}

impl Writer {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            workload: plan.workload(),
            fragment: plan.connection.fragment.unwrap_or(u32::MAX) as usize,
            frame: Vec::new(),
            frame_start: 0,
            deflated: Vec::new(),
            fragments: Vec::new(),
        }
    }

    /// The frames that were written last.
    pub(super) fn frames(&self) -> &[u8] {
        &self.frame[self.frame_start..]
    }

    /// Makes the whole frame of a request, or its frames, compressed where that was negotiated.
    pub(super) fn write(
        &mut self,
        codec: &dyn Codec,
        (way, stamp): (Way, u64),
        mask: [u8; 4],
        slot: Slot,
        clients: &mut dyn Clients,
    ) {
        // What stands there is written over below.
        self.frame.resize(MAX_HEADER, 0);
        let variables = OfClient::new(&*clients, slot);
        match way {
            Way::Script(kind) => codec.scripted(kind, stamp, &variables, &mut self.frame),
            Way::Room(room) => {
                codec.request(self.workload, room, stamp, &variables, &mut self.frame)
            }
        }
        let message = &self.frame[MAX_HEADER..];
        let is_compressed = clients.deflate(slot, message, &mut self.deflated);
        if is_compressed {
            self.frame.truncate(MAX_HEADER);
            self.frame.extend_from_slice(&self.deflated);
        }
        if self.frame.len() - MAX_HEADER > self.fragment {
            let kind = (codec.opcode(), is_compressed);
            self.fragments.clear();
            encode_fragments(
                &mut self.fragments,
                kind,
                mask,
                &self.frame[MAX_HEADER..],
                self.fragment,
            );
            swap(&mut self.frame, &mut self.fragments);
            self.frame_start = 0;
            return;
        }
        let (mut header, start) = FrameHeader {
            fin: true,
            opcode: codec.opcode(),
            mask: Some(mask),
            payload_len: (self.frame.len() - MAX_HEADER) as u64,
        }
        .encode();
        if is_compressed {
            mark_compressed(&mut header[start]);
        }
        self.frame_start = start;
        self.frame[..MAX_HEADER].copy_from_slice(&header);
        apply_mask(&mut self.frame[MAX_HEADER..], mask);
    }
}

/// The variables of the client that sends.
pub(super) struct OfClient<'a> {
    clients: &'a dyn Clients,
    slot: Slot,
}

impl<'a> OfClient<'a> {
    pub(super) fn new(clients: &'a dyn Clients, slot: Slot) -> Self {
        Self { clients, slot }
    }
}

impl Variables for OfClient<'_> {
    fn write(&self, name: &str, out: &mut Vec<u8>) {
        self.clients.write_variable(self.slot, name, out);
    }
}
