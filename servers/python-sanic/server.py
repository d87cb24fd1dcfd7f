"""A server of the shoot-out protocol on Sanic.

This module holds the command line, the connections and what all of them are
told. What is said is in protocol.py, what waits for a client in client.py, who
is subscribed in topics.py.
"""

import argparse
import asyncio
import logging
import resource
import sys

import sanic
from sanic import Sanic
from sanic.exceptions import WebsocketClosed

from client import Client
from protocol import answer
from topics import Topics

MAX_MESSAGE = 16 << 20  # bytes; docs/protocol.md, "Limits"

clients = set()
topics = Topics()

app = Sanic("shootout", configure_logging=False)
app.config.WEBSOCKET_MAX_SIZE = MAX_MESSAGE
app.config.WEBSOCKET_PING_INTERVAL = None
app.config.GRACEFUL_SHUTDOWN_TIMEOUT = 1


@app.websocket("/ws")
async def protocol(request, socket):
    client = Client(socket.send, lambda: request.transport.abort())
    clients.add(client)
    writer = asyncio.create_task(client.write_all())
    writer.add_done_callback(lambda task: task.cancelled() or task.exception())
    try:
        async for message in socket:
            reply, others, topic = answer(message, client, topics)
            if others:
                for other in tuple(clients if topic is None else topics.subscribers(topic)):
                    other.send(others)
            client.send(reply)
    except WebsocketClosed:
        pass
    finally:
        clients.discard(client)
        topics.leave(client)
        writer.cancel()


@app.websocket("/raw")
async def raw_echo(request, socket):
    async for message in socket:
        await socket.send(message)


def main():
    parser = argparse.ArgumentParser(prog="python-sanic", allow_abbrev=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--version", action="version", version=f"sanic {sanic.__version__}")
    options = parser.parse_args()
    # The usual soft limit, 1,024 open files, would refuse clients.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    logging.disable(logging.CRITICAL)  # a line for each connection that breaks
    try:
        app.run(
            host=options.host,
            port=options.port,
            backlog=4096,
            access_log=False,
            motd=False,
            single_process=True,
        )
    except (OSError, OverflowError) as error:
        sys.exit(f"python-sanic: {error}; choose another with --host or --port")


if __name__ == "__main__":
    main()
