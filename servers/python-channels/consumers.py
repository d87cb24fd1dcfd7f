"""The consumers: one connection each.

What is published, and the answers to it, go through the client's channel, so that
they keep their order. An answer that has none of these before it goes to the client
at once.
"""

from hashlib import sha256

from channels.generic.websocket import AsyncWebsocketConsumer

from protocol import answer

EVERYONE = "everyone"


def group_of(topic):
    """A topic may have characters that the name of a group may not, and be as long."""
    return EVERYONE if topic is None else "topic." + sha256(topic.encode()).hexdigest()


class ProtocolConsumer(AsyncWebsocketConsumer):
    async def connect(self):
        self.topics = set()  # whose messages are delivered now
        self.joined = set()
        self.answers = 0  # in the channel
        await self.channel_layer.group_add(EVERYONE, self.channel_name)
        await self.accept()

    async def disconnect(self, code):
        await self.channel_layer.group_discard(EVERYONE, self.channel_name)
        for topic in self.joined:
            await self.channel_layer.group_discard(group_of(topic), self.channel_name)

    async def receive(self, text_data=None, bytes_data=None):
        request = answer(bytes_data if text_data is None else text_data)
        is_for_sender_alone = request.message is None and not request.join and not request.leave
        if is_for_sender_alone and self.answers == 0:
            return await self.tell(request.reply)
        if request.message is not None:
            event = {"type": "published", "message": request.message, "topic": request.topic}
            await self.channel_layer.group_send(group_of(request.topic), event)
        if request.join:
            self.joined.add(request.join)
            await self.channel_layer.group_add(group_of(request.join), self.channel_name)
        if request.leave:
            self.joined.discard(request.leave)
            await self.channel_layer.group_discard(group_of(request.leave), self.channel_name)
        event = {"type": "answered", "message": request.reply, "join": request.join, "leave": request.leave}
        self.answers += 1
        await self.channel_layer.send(self.channel_name, event)

    async def published(self, event):
        # group_send hands out its messages one turn of the loop later, when the
        # client may have left the topic.
        if event["topic"] is None or event["topic"] in self.topics:
            await self.tell(event["message"])

    async def answered(self, event):
        self.answers -= 1
        if event["join"]:
            self.topics.add(event["join"])
        self.topics.discard(event["leave"])
        await self.tell(event["message"])

    async def tell(self, message):
        if isinstance(message, str):
            await self.send(text_data=message)
        else:
            await self.send(bytes_data=message)


class RawEchoConsumer(AsyncWebsocketConsumer):
    async def receive(self, text_data=None, bytes_data=None):
        await self.send(text_data=text_data, bytes_data=bytes_data)
