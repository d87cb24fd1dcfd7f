"""A server of the shoot-out protocol on socketify.

    python server.py [--host HOST] [--port PORT] [--raw-echo]
    python server.py --version

This file holds the command line and the connections. What they say is in
protocol.py.
"""

import argparse
import resource
import sys
from importlib.metadata import version

from socketify import App, AppListenOptions, CompressOptions, OpCode

from protocol import EVERYONE, answer

MAX_MESSAGE = 16 << 20  # bytes; docs/protocol.md, "Limits"
MAX_BACKLOG = 64 << 20
EXCLUSIVE_PORT = 1  # LIBUS_LISTEN_EXCLUSIVE_PORT; without it the port would be shared


def upgrade(response, request, context):
    # uWebSockets upgrades a request of any version.
    if request.get_header("sec-websocket-version") != "13":
        response.write_status(426).write_header("Sec-WebSocket-Version", "13").end("")
    else:
        response.upgrade(request.get_header("sec-websocket-key"), "", "", context)


def send(socket, message):
    socket.send(message, OpCode.TEXT if isinstance(message, str) else OpCode.BINARY)


def protocol(socket, message, opcode):
    reply, published, topic = answer(message, socket)
    if published is not None:
        socket.publish(topic, published, opcode)
    send(socket, reply)


def raw_echo(socket, message, opcode):
    socket.send(message, opcode)


def main():
    parser = argparse.ArgumentParser(prog="python-socketify", allow_abbrev=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3000)
    parser.add_argument("--raw-echo", action="store_true", help="send every message back as it came")
    parser.add_argument("--version", action="version", version=f"socketify {version('socketify')}")
    options = parser.parse_args()
    # The usual soft limit, 1,024 open files, would refuse clients.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    app = App()
    app.ws(
        "/ws",
        {
            "compression": CompressOptions.DISABLED,
            "max_payload_length": MAX_MESSAGE,
            "max_backpressure": MAX_BACKLOG,
            "close_on_backpressure_limit": True,
            "idle_timeout": 0,
            "upgrade": upgrade,
            "open": lambda socket: socket.subscribe(EVERYONE),
            "message": raw_echo if options.raw_echo else protocol,
        },
    )
    listening = []
    app.listen(AppListenOptions(options.port, options.host, EXCLUSIVE_PORT), listening.append)
    if not listening:
        sys.exit("python-socketify: cannot listen; choose another --host or --port")
    app.run()


if __name__ == "__main__":
    main()
