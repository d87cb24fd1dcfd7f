"""Broadcasts and publications between processes or nodes, by publish/subscribe of Redis."""

import asyncio
import os
import sys
import uuid

from redis.asyncio import Redis
from redis.exceptions import RedisError

TEXT, BINARY = "text", "binary"  # channels
TOPIC = "topic/"  # the beginning of a topic's channel
PAUSE = 1  # seconds between two attempts to connect again


class NotPublished(Exception):
    pass


class Relay:
    """Hands messages to the other processes, and theirs to deliver.

    A worker ends when it has lost Redis; a node goes on, and has the library connect again.
    """

    def __init__(self, url, deliver, is_node):
        self.redis = Redis.from_url(url)
        self.pubsub = self.redis.pubsub(ignore_subscribe_messages=True)
        self.deliver = deliver
        self.is_node = is_node
        self.name = uuid.uuid4().bytes

    async def __aenter__(self):
        await self.pubsub.subscribe(**{TEXT: self.received, BINARY: self.received})
        await self.pubsub.psubscribe(**{TOPIC + "*": self.received})
        listening = self.pubsub.run(exception_handler=self.lost) if self.is_node else self.listen()
        self.listener = asyncio.create_task(listening)
        self.listener.add_done_callback(self.ended)
        return self

    async def __aexit__(self, *error):
        self.listener.remove_done_callback(self.ended)
        self.listener.cancel()
        await self.pubsub.aclose()
        await self.redis.aclose()

    async def publish(self, message, topic):
        """Returns when Redis has the message in the output of every subscriber."""
        data = message.encode() if isinstance(message, str) else message
        if topic is not None:
            channel = TOPIC + topic
        else:
            channel = TEXT if isinstance(message, str) else BINARY
        try:
            await self.redis.publish(channel, self.name + data)
        except RedisError as error:
            raise NotPublished(type(error).__name__) from error

    async def listen(self):
        async for _ in self.pubsub.listen():
            pass  # every channel has a handler, which has taken the message

    async def received(self, event):
        origin, data = event["data"][:16], event["data"][16:]
        if origin == self.name:
            return
        channel = event["channel"].decode()
        if channel.startswith(TOPIC):
            await self.deliver(data.decode(), channel.removeprefix(TOPIC))
        else:
            await self.deliver(data.decode() if channel == TEXT else data)

    async def lost(self, error, pubsub):
        print(f"Redis: {error}", file=sys.stderr)
        # The library's loop tries again at once, and would occupy the processor.
        await asyncio.sleep(PAUSE)

    def ended(self, listener):
        # A process without its relay would be another server than was measured.
        os._exit(1)
