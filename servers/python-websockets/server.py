"""A server of the shoot-out protocol on websockets.

    python server.py [--host HOST] [--port PORT] [--raw-echo] [--deflate]
                     [--tls-cert FILE --tls-key FILE]
    python server.py --version

This file holds the command line and the connections. What they say is in
protocol.py.
"""

import argparse
import logging
import resource
import ssl
import sys
from importlib.metadata import version

import uvloop
from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed

from protocol import answer
from topics import Topics

MAX_MESSAGE = 16 << 20  # bytes; docs/protocol.md, "Limits"
MAX_BACKLOG = 64 << 20

clients = set()
topics = Topics()


class Connection(ServerConnection):
    """A connection that is cut off when more than write_limit waits for its peer."""

    def pause_writing(self):
        super().pause_writing()
        self.transport.abort()


async def protocol(client):
    clients.add(client)
    try:
        async for message in client:
            reply, others, topic = answer(message, client, topics)
            if others:
                to = clients if topic is None else topics.subscribers(topic)
                broadcast(to, others.data, text=others.text)
            await client.send(reply.data, text=reply.text)
            # None is kept until the next one comes.
            del message, reply, others
    except ConnectionClosed:
        pass  # by an error of the peer; a normal end leaves the loop
    finally:
        clients.remove(client)
        topics.leave(client)


async def raw_echo(client):
    try:
        async for message in client:
            await client.send(message)
    except ConnectionClosed:
        pass


async def run(options):
    server = await serve(
        raw_echo if options.raw_echo else protocol,
        options.host,
        options.port,
        ssl=tls(options),
        compression="deflate" if options.deflate else None,
        ping_interval=None,
        max_size=MAX_MESSAGE,
        write_limit=MAX_BACKLOG,
        create_connection=Connection,
        backlog=4096,
    )
    await server.serve_forever()


def tls(options):
    """What connections are served over; None for plain TCP."""
    if options.tls_cert is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.tls_cert, options.tls_key)
    return context


def main():
    parser = argparse.ArgumentParser(prog="python-websockets", allow_abbrev=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3000)
    parser.add_argument("--raw-echo", action="store_true", help="send every message back as it came")
    parser.add_argument("--deflate", action="store_true", help="compress for clients that offer it")
    parser.add_argument("--tls-cert", metavar="FILE", help="serve TLS: PEM file with the certificate")
    parser.add_argument("--tls-key", metavar="FILE", help="PEM file with the key of that certificate")
    parser.add_argument("--version", action="version", version=f"websockets {version('websockets')}")
    options = parser.parse_args()
    if (options.tls_cert is None) != (options.tls_key is None):
        parser.error("--tls-cert and --tls-key belong together: give both")
    # The usual soft limit, 1,024 open files, would refuse clients.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    # asyncio would warn of every write to a connection that has just been reset.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    try:
        uvloop.run(run(options))
    except (OSError, OverflowError) as error:
        sys.exit(f"python-websockets: {error}; choose another with --host or --port")


if __name__ == "__main__":
    main()
