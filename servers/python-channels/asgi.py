"""A server of the shoot-out protocol on Django Channels.

    daphne asgi:application [OPTIONS]
    uvicorn asgi:application --ws asgi:Protocol [OPTIONS]

/ws speaks the protocol, /raw sends every message back as it came. The consumers
are in consumers.py. With REDIS_URL in the environment it is one of several nodes,
which share that Redis.
"""

import os
import resource

import django
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.urls import path
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MAX_BACKLOG = 64 << 20  # bytes; docs/protocol.md, "Limits"

# The usual soft limit, 1,024 open files, would refuse clients.
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

# The layers drop messages beyond it; the default is 100.
config = {"capacity": 1_000_000}
backend = "channels.layers.InMemoryChannelLayer"
if "REDIS_URL" in os.environ:
    config["hosts"] = [os.environ["REDIS_URL"]]
    backend = "channels_redis.core.RedisChannelLayer"

settings.configure(
    INSTALLED_APPS=["channels"],
    LOGGING_CONFIG=None,
    CHANNEL_LAYERS={"default": {"BACKEND": backend, "CONFIG": config}},
)
django.setup()

from consumers import ProtocolConsumer, RawEchoConsumer  # noqa: E402  (needs the settings)


class Protocol(WebSocketsSansIOProtocol):
    """uvicorn's own, with sends that never wait for the peer, and a bound on what is kept for it."""

    def connection_made(self, transport):
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=MAX_BACKLOG)

    def pause_writing(self):
        self.transport.abort()


application = ProtocolTypeRouter(
    {
        "websocket": URLRouter(
            [path("ws", ProtocolConsumer.as_asgi()), path("raw", RawEchoConsumer.as_asgi())]
        )
    }
)
