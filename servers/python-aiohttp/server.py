"""A server of the shoot-out protocol on aiohttp.

    python server.py [--host HOST] [--port PORT] [--raw-echo]
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
from aiohttp import WSCloseCode, WSMsgType, web

from protocol import answer
from topics import Topics

MAX_MESSAGE = 16 << 20  # bytes; docs/protocol.md, "Limits"
MAX_BACKLOG = 64 << 20

DEFLATE = web.AppKey("deflate", bool)

clients = set()
topics = Topics()


class Client:
    """A connection whose sends never wait for the peer (writer_limit below)."""

    def __init__(self, socket, transport):
        self.socket = socket
        self.transport = transport

    async def send(self, message):
        # Over TLS an ended transport cannot be asked what waits.
        if self.transport.is_closing():
            return
        waiting = self.transport.get_write_buffer_size()
        if waiting and waiting + len(message.data) > MAX_BACKLOG:
            self.transport.abort()
            return
        try:
            opcode = WSMsgType.TEXT if message.text else WSMsgType.BINARY
            await self.socket.send_frame(message.data, opcode)
        except ConnectionError:
            pass  # the connection has just ended; its reader meets that too


async def protocol(request):
    socket = await prepare(request)
    client = Client(socket, request.transport)
    clients.add(client)
    try:
        async for message in socket:
            if message.type is WSMsgType.ERROR:
                break  # the library has closed the connection with the proper code
            reply, others, topic = answer(message.data, client, topics)
            if others:
                for other in tuple(clients if topic is None else topics.subscribers(topic)):
                    await other.send(others)
            await client.send(reply)
            # None is kept until the next one comes.
            del message, reply, others
    finally:
        clients.remove(client)
        topics.leave(client)
    await finish(socket)
    return socket


async def raw_echo(request):
    socket = await prepare(request)
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await socket.send_str(message.data)
        elif message.type is WSMsgType.BINARY:
            await socket.send_bytes(message.data)
    await finish(socket)
    return socket


async def prepare(request):
    socket = web.WebSocketResponse(
        compress=request.app[DEFLATE],
        max_msg_size=MAX_MESSAGE + 1,  # the library refuses this size itself
        writer_limit=sys.maxsize,
        autoclose=False,
    )
    await socket.prepare(request)
    return socket


async def finish(socket):
    """Answers a close frame with its own code; autoclose answers each with 1000."""
    await socket.close(code=socket.close_code or WSCloseCode.OK, drain=False)


def tls(options):
    """What connections are served over; None for plain TCP."""
    if options.tls_cert is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.tls_cert, options.tls_key)
    return context


def main():
    parser = argparse.ArgumentParser(prog="python-aiohttp", allow_abbrev=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3000)
    parser.add_argument("--raw-echo", action="store_true", help="send every message back as it came")
    parser.add_argument("--deflate", action="store_true", help="compress for clients that offer it")
    parser.add_argument("--tls-cert", metavar="FILE", help="serve TLS: PEM file with the certificate")
    parser.add_argument("--tls-key", metavar="FILE", help="PEM file with the key of that certificate")
    parser.add_argument("--version", action="version", version=f"aiohttp {version('aiohttp')}")
    options = parser.parse_args()
    if (options.tls_cert is None) != (options.tls_key is None):
        parser.error("--tls-cert and --tls-key belong together: give both")
    # The usual soft limit, 1,024 open files, would refuse clients.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    # asyncio would warn of every write to a connection that has just been reset.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    app = web.Application()
    app[DEFLATE] = options.deflate
    app.router.add_get("/ws", raw_echo if options.raw_echo else protocol)
    try:
        web.run_app(
            app,
            host=options.host,
            port=options.port,
            backlog=4096,
            ssl_context=tls(options),
            access_log=None,
            print=None,
            handle_signals=False,
            loop=uvloop.new_event_loop(),
        )
    except (OSError, OverflowError) as error:
        sys.exit(f"python-aiohttp: {error}; choose another with --host or --port")


if __name__ == "__main__":
    main()
