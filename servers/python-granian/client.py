"""A connection and what waits for it."""

import asyncio

MAX_BACKLOG = 64 << 20  # bytes; docs/protocol.md, "Limits"


class Client:
    """Takes messages without a wait; a task of its own awaits the library's send for each of them."""

    def __init__(self, write, cut_off):
        self.write = write
        self.cut_off = cut_off
        self.queue = asyncio.Queue()
        self.queued = 0  # bytes

    def send(self, message):
        size = len(message)
        if self.queued and self.queued + size > MAX_BACKLOG:
            self.cut_off()
            return
        self.queued += size
        self.queue.put_nowait(message)

    async def write_all(self):
        while True:
            message = await self.queue.get()
            await self.write(message)
            self.queued -= len(message)
