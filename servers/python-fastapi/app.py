"""A server of the shoot-out protocol on FastAPI.

    uvicorn app:app --ws app:Protocol [OPTIONS]

/ws speaks the protocol, /raw sends every message back as it came. What is said
is in protocol.py, the way between processes in relay.py.
"""

import os
import resource
from contextlib import asynccontextmanager

from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from protocol import answer, refusal
from relay import NotPublished, Relay
from topics import Topics

MAX_BACKLOG = 64 << 20  # bytes; docs/protocol.md, "Limits"

# The usual soft limit, 1,024 open files, would refuse clients.
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Protocol(WebSocketsSansIOProtocol):
    """uvicorn's own, with sends that never wait for the peer, and a bound on what is kept for it."""

    def connection_made(self, transport):
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=MAX_BACKLOG)

    def pause_writing(self):
        self.transport.abort()


class ConnectionManager:
    def __init__(self):
        self.active_connections = set()
        self.topics = Topics()

    async def connect(self, websocket):
        await websocket.accept()
        self.active_connections.add(websocket)

    def disconnect(self, websocket):
        self.active_connections.remove(websocket)
        self.topics.leave(websocket)

    async def broadcast(self, message, topic=None):
        connections = self.active_connections if topic is None else self.topics.subscribers(topic)
        for connection in tuple(connections):
            try:
                await send(connection, message)
            # The connection has just ended; its reader meets that too.
            except (WebSocketDisconnect, RuntimeError):
                pass


async def send(websocket, message):
    if isinstance(message, str):
        await websocket.send_text(message)
    else:
        await websocket.send_bytes(message)


async def received(websocket):
    """The messages of a client; ends with the connection."""
    while (event := await websocket.receive())["type"] == "websocket.receive":
        text = event.get("text")
        yield event["bytes"] if text is None else text
        del event, text


manager = ConnectionManager()
relay = None


@asynccontextmanager
async def lifespan(app):
    global relay
    if "REDIS_URL" in os.environ:
        is_node = os.environ.get("NODE") == "1"
        async with Relay(os.environ["REDIS_URL"], manager.broadcast, is_node) as relay:
            yield
    else:
        yield


app = FastAPI(lifespan=lifespan)


@app.websocket("/ws")
async def protocol(websocket: WebSocket):
    await manager.connect(websocket)
    try:
        async for message in received(websocket):
            reply, others, topic = answer(message, websocket, manager.topics)
            if others:
                try:
                    if relay:
                        await relay.publish(others, topic)
                    await manager.broadcast(others, topic)
                except NotPublished as error:
                    reply = refusal(f"not published: {error}")
            await send(websocket, reply)
            # None is kept until the next one comes.
            del message, reply, others
    except (WebSocketDisconnect, RuntimeError):
        pass  # the connection ended while its reply was sent
    finally:
        manager.disconnect(websocket)


@app.websocket("/raw")
async def raw_echo(websocket: WebSocket):
    await websocket.accept()
    try:
        async for message in received(websocket):
            await send(websocket, message)
    except (WebSocketDisconnect, RuntimeError):
        pass
