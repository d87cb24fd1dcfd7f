"""Messages out of the frames that picows hands over. It leaves fragments, reserved
bits and UTF-8 to the application; knows no connections."""

from picows import WSCloseCode, WSMsgType, WSProtocolError

MAX_MESSAGE = 16 << 20  # bytes; docs/protocol.md, "Limits"


class Assembler:
    """Raises WSProtocolError, which picows turns into a close frame."""

    def __init__(self):
        self.kind = None
        self.data = bytearray()

    def add(self, frame):
        """The message that this data frame ends (str or bytes), or None."""
        if frame.rsv1 or frame.rsv2 or frame.rsv3:
            raise WSProtocolError(WSCloseCode.PROTOCOL_ERROR, "a reserved bit is set")
        if frame.msg_type == WSMsgType.CONTINUATION:
            if self.kind is None:
                raise WSProtocolError(WSCloseCode.PROTOCOL_ERROR, "nothing to continue")
        elif self.kind is not None:
            raise WSProtocolError(WSCloseCode.PROTOCOL_ERROR, "a message within a message")
        else:
            self.kind = frame.msg_type
        if len(self.data) + frame.payload_size > MAX_MESSAGE:
            raise WSProtocolError(WSCloseCode.MESSAGE_TOO_BIG, "more than 16 MiB")
        self.data += frame.get_payload_as_memoryview()
        if not frame.fin:
            return None
        kind, data = self.kind, bytes(self.data)
        self.kind = None
        self.data = bytearray()
        return decode(data) if kind == WSMsgType.TEXT else data


def decode(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise WSProtocolError(WSCloseCode.INVALID_TEXT, "not UTF-8") from None
