"""A server of the shoot-out protocol on Tornado.

This module holds the command line, the connections, their limits and what all of
them are told. What is said is in protocol.py, who is subscribed in topics.py.
"""

import argparse
import asyncio
import logging
import resource
import sys

import tornado
import uvloop
from tornado.web import Application
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from protocol import answer
from topics import Topics

MAX_MESSAGE = 16 << 20  # bytes; docs/protocol.md, "Limits"
MAX_BACKLOG = 64 << 20

clients = set()
topics = Topics()


class Base(WebSocketHandler):
    def check_origin(self, origin):
        return True


class Protocol(Base):
    queued = 0  # bytes that write_message has taken and not written yet

    def open(self):
        clients.add(self)

    def on_close(self):
        clients.discard(self)
        topics.leave(self)

    def on_message(self, message):
        reply, others, topic = answer(message, self, topics)
        if others:
            for other in tuple(clients if topic is None else topics.subscribers(topic)):
                other.send(others)
        self.send(reply)

    def send(self, message):
        size = len(message)
        if self.queued and self.queued + size > MAX_BACKLOG:
            self.cut_off()
            return
        try:
            written = self.write_message(message, binary=isinstance(message, bytes))
        except WebSocketClosedError:
            return  # on_close comes next
        if written.done():
            return
        self.queued += size
        written.add_done_callback(lambda future: self.taken(future, size))

    def taken(self, future, size):
        self.queued -= size
        future.exception()  # a connection that has ended; on_close tells of it

    def cut_off(self):
        """Takes no more messages; the library ends the connection five seconds later."""
        self.on_close()
        self.close(1008)


class RawEcho(Base):
    async def on_message(self, message):
        try:
            await self.write_message(message, binary=isinstance(message, bytes))
        except WebSocketClosedError:
            pass


async def serve(options):
    application = Application(
        [("/ws", RawEcho if options.raw_echo else Protocol)],
        websocket_max_message_size=MAX_MESSAGE,
        log_function=lambda handler: None,
    )
    application.listen(options.port, options.host, backlog=4096)
    await asyncio.Event().wait()


def main():
    parser = argparse.ArgumentParser(prog="python-tornado", allow_abbrev=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3000)
    parser.add_argument("--raw-echo", action="store_true", help="send every message back as it came")
    parser.add_argument("--version", action="version", version=f"tornado {tornado.version}")
    options = parser.parse_args()
    # The usual soft limit, 1,024 open files, would refuse clients.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    logging.disable(logging.CRITICAL)  # a line for each connection that breaks
    try:
        uvloop.run(serve(options))
    except (OSError, OverflowError) as error:
        sys.exit(f"python-tornado: {error}; choose another with --host or --port")


if __name__ == "__main__":
    main()
