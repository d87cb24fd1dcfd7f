"""Broadcasts and publications between the processes, by publish/subscribe of Redis."""

import asyncio
import os
import uuid

from redis.asyncio import Redis

TEXT, BINARY = "text", "binary"  # channels
TOPIC = "topic/"  # the beginning of a topic's channel


class Relay:
    """Hands messages to the other processes, and theirs to deliver."""

    def __init__(self, url, deliver):
        self.redis = Redis.from_url(url)
        self.pubsub = self.redis.pubsub(ignore_subscribe_messages=True)
        self.deliver = deliver
        self.name = uuid.uuid4().bytes

    async def __aenter__(self):
        await self.pubsub.subscribe(TEXT, BINARY)
        await self.pubsub.psubscribe(TOPIC + "*")
        self.listener = asyncio.create_task(self.listen())
        self.listener.add_done_callback(self.ended)
        return self

    async def __aexit__(self, *error):
        self.listener.remove_done_callback(self.ended)
        self.listener.cancel()
        await self.pubsub.aclose()
        await self.redis.aclose()

    async def publish(self, message, topic):
        """Returns when Redis has the message in the output of every subscriber."""
        if topic is not None:
            await self.redis.publish(TOPIC + topic, self.name + message.encode())
        elif isinstance(message, str):
            await self.redis.publish(TEXT, self.name + message.encode())
        else:
            await self.redis.publish(BINARY, self.name + message)

    async def listen(self):
        async for event in self.pubsub.listen():
            origin, data = event["data"][:16], event["data"][16:]
            if origin == self.name:
                continue
            channel = event["channel"].decode()
            if channel.startswith(TOPIC):
                await self.deliver(data.decode(), channel.removeprefix(TOPIC))
            else:
                await self.deliver(data.decode() if channel == TEXT else data)

    def ended(self, listener):
        # A process without its relay would be another server than was measured.
        os._exit(1)
