"""A server of the shoot-out protocol on picows.

    python server.py [--host HOST] [--port PORT] [--raw-echo]
    python server.py --version

This file holds the command line and the connections. What they say is in
protocol.py, how frames become messages in messages.py.
"""

import argparse
import logging
import resource
import sys
from importlib.metadata import version

import uvloop
from picows import WSCloseCode, WSListener, WSMsgType, ws_create_server

from messages import MAX_MESSAGE, Assembler
from protocol import answer
from topics import Topics

MAX_BACKLOG = 64 << 20  # bytes; docs/protocol.md, "Limits"

clients = set()
topics = Topics()


def send(transport, message):
    transport.send(WSMsgType.TEXT if isinstance(message, str) else WSMsgType.BINARY, message)


def broadcast(message, to):
    if isinstance(message, str):
        kind, data = WSMsgType.TEXT, message.encode()
    else:
        kind, data = WSMsgType.BINARY, message
    # A copy: a client that is cut off leaves the set.
    for transport in tuple(to):
        transport.send(kind, data)


class Connection(WSListener):
    def on_ws_connected(self, transport):
        self.transport = transport
        self.assembler = Assembler()
        transport.underlying_transport.set_write_buffer_limits(high=MAX_BACKLOG)

    def on_ws_frame(self, transport, frame):
        if frame.msg_type == WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code() or WSCloseCode.OK)
            transport.disconnect()
        elif frame.msg_type != WSMsgType.PONG:
            message = self.assembler.add(frame)
            if message is not None:
                self.on_message(message)

    def pause_writing(self):
        self.transport.disconnect(graceful=False)

    def resume_writing(self):
        pass


class Protocol(Connection):
    def on_ws_connected(self, transport):
        super().on_ws_connected(transport)
        clients.add(transport)

    def on_ws_disconnected(self, transport):
        clients.discard(transport)
        topics.leave(transport)

    def on_message(self, message):
        reply, others, topic = answer(message, self.transport, topics)
        if others is not None:
            broadcast(others, clients if topic is None else topics.subscribers(topic))
        send(self.transport, reply)


class RawEcho(Connection):
    def on_message(self, message):
        send(self.transport, message)


async def run(options):
    connection = RawEcho if options.raw_echo else Protocol
    server = await ws_create_server(
        lambda request: connection(),
        options.host,
        options.port,
        max_frame_size=MAX_MESSAGE,
        backlog=4096,
    )
    await server.serve_forever()


def main():
    parser = argparse.ArgumentParser(prog="python-picows", allow_abbrev=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3000)
    parser.add_argument("--raw-echo", action="store_true", help="send every message back as it came")
    parser.add_argument("--version", action="version", version=f"picows {version('picows')}")
    options = parser.parse_args()
    # The usual soft limit, 1,024 open files, would refuse clients.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    # Both tell of violations and resets by a peer as if they were the server's errors.
    for library in ("picows", "aiofastnet"):
        logging.getLogger(library).setLevel(logging.CRITICAL)
    try:
        uvloop.run(run(options))
    except (OSError, OverflowError) as error:
        sys.exit(f"python-picows: {error}; choose another with --host or --port")


if __name__ == "__main__":
    main()
