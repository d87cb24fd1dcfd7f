"""The text and binary dialects of docs/protocol.md. Knows no connections.

A message is a str in text, and bytes in binary.
"""

import json
import re

EVERYONE = "/everyone"  # the topic of all clients, which is no name that a client could give
NAME = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


# json reads and writes NaN and Infinity, which JSON does not have. ASCII is not
# enforced: "\u007f" for one byte would lift a legal message over the backlog's bound.
decoder = json.JSONDecoder(parse_constant=refuse)
encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def answer(message, client):
    """What the sender gets; what goes to a topic before it (or None); that topic.

    The client, which has subscribe and unsubscribe, has done so when this returns.
    """
    return text(message, client) if isinstance(message, str) else binary(message)


def text(message, client):
    try:
        request = decoder.decode(message)
        if not isinstance(request, dict):
            return fail("the message is not a JSON object")
        kind = request.get("type")
        if kind in ("subscribe", "unsubscribe", "publish"):
            return topical(kind, request, client)
        if kind not in ("echo", "broadcast"):
            return fail('"type" is missing or unknown')
        if "payload" not in request:
            return fail('"payload" is missing')
        payload = request["payload"]
        if kind == "echo":
            return encode({"type": "echo", "payload": payload}), None, None
        result = encode({"type": "broadcastResult", "payload": payload})
        return result, encode({"type": "broadcast", "payload": payload}), EVERYONE
    # Nested deeper than the parser goes; or malformed, or with a lone surrogate.
    except (RecursionError, ValueError) as error:
        return fail(f"the message cannot be read: {type(error).__name__}")


def topical(kind, request, client):
    topic = request.get("topic")
    if not isinstance(topic, str) or not NAME.fullmatch(topic):
        return fail('"topic" is missing or no name')
    if kind == "subscribe":
        client.subscribe(topic)
        return encode({"type": "subscribed", "topic": topic}), None, None
    if kind == "unsubscribe":
        client.unsubscribe(topic)
        return encode({"type": "unsubscribed", "topic": topic}), None, None
    if "payload" not in request:
        return fail('"payload" is missing')
    payload = request["payload"]
    result = encode({"type": "publishResult", "topic": topic, "payload": payload})
    return result, encode({"type": "message", "topic": topic, "payload": payload}), topic


def binary(message):
    match message[:1]:
        case b"e":
            return message, None, None
        case b"b":
            return b"r" + message[1:], message, EVERYONE
        case _:
            return fail('byte 0 of the binary message is neither "e" nor "b"')


def fail(words):
    return encode({"type": "error", "payload": words}), None, None


def encode(content):
    message = encoder.encode(content)
    message.encode()  # refuses a lone surrogate here, where it can be answered
    return message
