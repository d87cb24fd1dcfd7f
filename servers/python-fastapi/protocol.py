"""The text and binary dialects of docs/protocol.md. Knows no connections.

A message is a str in text, and bytes in binary.
"""

import json

from topics import is_topic


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


# json reads and writes NaN and Infinity, which JSON does not have. ASCII is not
# enforced: "\u007f" for one byte would lift a legal message over the backlog's bound.
decoder = json.JSONDecoder(parse_constant=refuse)
encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def answer(message, client, topics):
    """What the sender gets; what others get before it (or None); their topic (or None: all).

    A client that subscribes or unsubscribes has done so when this returns.
    """
    return text(message, client, topics) if isinstance(message, str) else binary(message)


def text(message, client, topics):
    try:
        request = decoder.decode(message)
        if not isinstance(request, dict):
            return fail("the message is not a JSON object")
        kind = request.get("type")
        if kind in ("subscribe", "unsubscribe", "publish"):
            return topical(kind, request, client, topics)
        if kind not in ("echo", "broadcast"):
            return fail('"type" is missing or unknown')
        if "payload" not in request:
            return fail('"payload" is missing')
        payload = request["payload"]
        if kind == "echo":
            return encode({"type": "echo", "payload": payload}), None, None
        result = encode({"type": "broadcastResult", "payload": payload})
        return result, encode({"type": "broadcast", "payload": payload}), None
    # Nested deeper than the parser goes; or malformed, or with a lone surrogate.
    except (RecursionError, ValueError) as error:
        return fail(f"the message cannot be read: {type(error).__name__}")


def topical(kind, request, client, topics):
    topic = request.get("topic")
    if not is_topic(topic):
        return fail('"topic" is missing or no name')
    if kind == "subscribe":
        topics.subscribe(client, topic)
        return encode({"type": "subscribed", "topic": topic}), None, None
    if kind == "unsubscribe":
        topics.unsubscribe(client, topic)
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
            return b"r" + message[1:], message, None
        case _:
            return fail('byte 0 of the binary message is neither "e" nor "b"')


def fail(words):
    return refusal(words), None, None


def refusal(words):
    return encode({"type": "error", "payload": words})


def encode(content):
    message = encoder.encode(content)
    message.encode()  # refuses a lone surrogate here, where it can be answered
    return message
