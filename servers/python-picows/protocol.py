"""The text and binary dialects of docs/protocol.md. Knows no connections.

A message is a str in text, and bytes in binary.
"""

import json


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


# json reads and writes NaN and Infinity, which JSON does not have. ASCII is not
# enforced: "\u007f" for one byte would lift a legal message over the backlog's bound.
decoder = json.JSONDecoder(parse_constant=refuse)
encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def answer(message):
    """What the sender gets, and what every client gets before it (or None)."""
    return text(message) if isinstance(message, str) else binary(message)


def text(message):
    try:
        request = decoder.decode(message)
        if not isinstance(request, dict):
            return fail("the message is not a JSON object")
        kind = request.get("type")
        if kind not in ("echo", "broadcast"):
            return fail('"type" is neither "echo" nor "broadcast"')
        if "payload" not in request:
            return fail('"payload" is missing')
        payload = request["payload"]
        if kind == "echo":
            return encode("echo", payload), None
        return encode("broadcastResult", payload), encode("broadcast", payload)
    # Nested deeper than the parser goes; or malformed, or with a lone surrogate.
    except (RecursionError, ValueError) as error:
        return fail(f"the message cannot be read: {type(error).__name__}")


def binary(message):
    match message[:1]:
        case b"e":
            return message, None
        case b"b":
            return b"r" + message[1:], message
        case _:
            return fail('byte 0 of the binary message is neither "e" nor "b"')


def fail(words):
    return encode("error", words), None


def encode(kind, payload):
    message = encoder.encode({"type": kind, "payload": payload})
    message.encode()  # refuses a lone surrogate here, where it can be answered
    return message
