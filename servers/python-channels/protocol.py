"""The text and binary dialects of docs/protocol.md. Knows no connections.

A message is a str in text, and bytes in binary.
"""

import json
import re
from typing import NamedTuple

NAME = re.compile(r"[A-Za-z0-9._:-]{1,64}")


class Answer(NamedTuple):
    reply: str | bytes  # what the sender gets
    message: str | bytes | None = None  # what others get before it
    topic: str | None = None  # the topic of these others; None: all
    join: str | None = None  # the topic that the sender joins before the reply
    leave: str | None = None


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


# json reads and writes NaN and Infinity, which JSON does not have. ASCII is not
# enforced: "\u007f" for one byte would lift a legal message over the backlog's bound.
decoder = json.JSONDecoder(parse_constant=refuse)
encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def answer(message):
    return text(message) if isinstance(message, str) else binary(message)


def text(message):
    try:
        request = decoder.decode(message)
        if not isinstance(request, dict):
            return fail("the message is not a JSON object")
        kind = request.get("type")
        if kind in ("subscribe", "unsubscribe", "publish"):
            return topical(kind, request)
        if kind not in ("echo", "broadcast"):
            return fail('"type" is missing or unknown')
        if "payload" not in request:
            return fail('"payload" is missing')
        payload = request["payload"]
        if kind == "echo":
            return Answer(encode({"type": "echo", "payload": payload}))
        result = encode({"type": "broadcastResult", "payload": payload})
        return Answer(result, encode({"type": "broadcast", "payload": payload}))
    # Nested deeper than the parser goes; or malformed, or with a lone surrogate.
    except (RecursionError, ValueError) as error:
        return fail(f"the message cannot be read: {type(error).__name__}")


def topical(kind, request):
    topic = request.get("topic")
    if not is_topic(topic):
        return fail('"topic" is missing or no name')
    if kind == "subscribe":
        return Answer(encode({"type": "subscribed", "topic": topic}), join=topic)
    if kind == "unsubscribe":
        return Answer(encode({"type": "unsubscribed", "topic": topic}), leave=topic)
    if "payload" not in request:
        return fail('"payload" is missing')
    payload = request["payload"]
    result = encode({"type": "publishResult", "topic": topic, "payload": payload})
    return Answer(result, encode({"type": "message", "topic": topic, "payload": payload}), topic)


def is_topic(value):
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def binary(message):
    match message[:1]:
        case b"e":
            return Answer(message)
        case b"b":
            return Answer(b"r" + message[1:], message)
        case _:
            return fail('byte 0 of the binary message is neither "e" nor "b"')


def fail(words):
    return Answer(encode({"type": "error", "payload": words}))


def encode(content):
    message = encoder.encode(content)
    message.encode()  # refuses a lone surrogate here, where it can be answered
    return message
