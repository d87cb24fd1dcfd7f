"""A server of the shoot-out protocol on Starlette, for Granian.

    granian --interface asgi app:app [OPTIONS]

/ws speaks the protocol, /raw sends every message back as it came. What is said
is in protocol.py, what waits for a client in client.py, who is subscribed in
topics.py.
"""

import asyncio
import resource

from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

from client import Client
from protocol import answer
from topics import Topics

MAX_MESSAGE = 16 << 20  # bytes; docs/protocol.md, "Limits"
TOO_BIG = 1009

# The usual soft limit, 1,024 open files, would refuse clients.
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

clients = set()
topics = Topics()


async def send(websocket, message):
    if isinstance(message, str):
        await websocket.send_text(message)
    else:
        await websocket.send_bytes(message)


async def received(websocket):
    """The messages of a client; ends with the connection."""
    while (event := await websocket.receive())["type"] == "websocket.receive":
        text = event.get("text")
        message = event["bytes"] if text is None else text
        # Granian has no option for the size of a message.
        if len(message) > MAX_MESSAGE or (text and len(text.encode()) > MAX_MESSAGE):
            await websocket.close(TOO_BIG)
            return
        yield message


async def protocol(websocket):
    reader = asyncio.current_task()
    client = Client(lambda message: send(websocket, message), reader.cancel)
    clients.add(client)
    await websocket.accept()
    writer = asyncio.create_task(client.write_all())
    # It ends with the connection, which the reader meets too.
    writer.add_done_callback(lambda task: task.cancelled() or task.exception())
    try:
        async for message in received(websocket):
            reply, others, topic = answer(message, client, topics)
            if others:
                for other in tuple(clients if topic is None else topics.subscribers(topic)):
                    other.send(others)
            client.send(reply)
    finally:
        clients.discard(client)
        topics.leave(client)
        writer.cancel()


async def raw_echo(websocket):
    await websocket.accept()
    async for message in received(websocket):
        await send(websocket, message)


app = Starlette(routes=[WebSocketRoute("/ws", protocol), WebSocketRoute("/raw", raw_echo)])
