"""Who is subscribed to what. Knows no connections: a client is any object.

A topic without subscribers, and a client without topics, take no memory.
"""

import re

NAME = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def is_topic(value):
    return isinstance(value, str) and NAME.fullmatch(value) is not None


class Topics:
    def __init__(self):
        self.clients = {}  # of each topic
        self.topics = {}  # of each client

    def subscribe(self, client, topic):
        self.clients.setdefault(topic, set()).add(client)
        self.topics.setdefault(client, set()).add(topic)

    def unsubscribe(self, client, topic):
        discard(self.clients, topic, client)
        discard(self.topics, client, topic)

    def leave(self, client):
        """Ends all subscriptions of a client."""
        for topic in self.topics.pop(client, ()):
            discard(self.clients, topic, client)

    def subscribers(self, topic):
        return self.clients.get(topic, ())


def discard(sets, key, value):
    values = sets.get(key)
    if values is not None:
        values.discard(value)
        if not values:
            del sets[key]
