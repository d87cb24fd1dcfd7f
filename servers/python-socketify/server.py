"""A server of the shoot-out protocol on socketify.

    python server.py [--host HOST] [--port PORT] [--raw-echo] [--deflate]
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
        response.upgrade(
            request.get_header("sec-websocket-key"),
            "",
            request.get_header("sec-websocket-extensions") or "",
            context,
        )


def protocol(deflate):
    def on_message(socket, message, opcode):
        reply, published, topic = answer(message, socket)
        if published is not None:
            socket.publish(topic, published, opcode, deflate)
        socket.send(reply, OpCode.TEXT if isinstance(reply, str) else OpCode.BINARY, deflate)

    return on_message


def raw_echo(deflate):
    return lambda socket, message, opcode: socket.send(message, opcode, deflate)


def main():
    parser = argparse.ArgumentParser(prog="python-socketify", allow_abbrev=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3000)
    parser.add_argument("--raw-echo", action="store_true", help="send every message back as it came")
    parser.add_argument("--deflate", action="store_true", help="compress for clients that offer it")
    parser.add_argument("--version", action="version", version=f"socketify {version('socketify')}")
    options = parser.parse_args()
    # The usual soft limit, 1,024 open files, would refuse clients.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    deflate = options.deflate
    app = App()
    app.ws(
        "/ws",
        {
            "compression": CompressOptions.SHARED_COMPRESSOR if deflate else CompressOptions.DISABLED,
            "max_payload_length": MAX_MESSAGE,
            "max_backpressure": MAX_BACKLOG,
            "close_on_backpressure_limit": True,
            "idle_timeout": 0,
            "upgrade": upgrade,
            "open": lambda socket: socket.subscribe(EVERYONE),
            "message": raw_echo(deflate) if options.raw_echo else protocol(deflate),
        },
    )
    listening = []
    app.listen(AppListenOptions(options.port, options.host, EXCLUSIVE_PORT), listening.append)
    if not listening:
        sys.exit("python-socketify: cannot listen; choose another --host or --port")
    app.run()


if __name__ == "__main__":
    main()
