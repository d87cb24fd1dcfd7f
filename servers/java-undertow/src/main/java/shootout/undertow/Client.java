package shootout.undertow;

import io.undertow.websockets.core.WebSocketCallback;
import io.undertow.websockets.core.WebSocketChannel;
import io.undertow.websockets.core.WebSocketFrameType;
import io.undertow.websockets.core.WebSockets;
import org.xnio.IoUtils;

import java.nio.ByteBuffer;

/**
 * A connection and the size of what waits to be written to it; for its own I/O thread alone. As a
 * callback it is told the size of each message that has been written, or never will be.
 */
final class Client implements WebSocketCallback<Integer> {

    private static final long MOST_QUEUED = 64L * 1024 * 1024;

    private final WebSocketChannel channel;
    private long queued;

    Client(WebSocketChannel channel) {
        this.channel = channel;
    }

    WebSocketChannel channel() {
        return channel;
    }

    /** Queues a message and writes what the socket takes. The buffer is shared and stays as it is. */
    void send(WebSocketFrameType type, ByteBuffer message) {
        Integer size = message.remaining();
        // One message is always taken: JSON numbers may grow when they are written anew.
        if (queued > 0 && queued + size > MOST_QUEUED) {
            IoUtils.safeClose(channel);
            return;
        }
        queued += size;
        if (type == WebSocketFrameType.TEXT) {
            WebSockets.sendText(message.duplicate(), channel, this, size);
        } else {
            WebSockets.sendBinary(message.duplicate(), channel, this, size);
        }
    }

    /** Queues a message for the next {@link #flush}, or for whatever is sent before that. */
    void queue(WebSocketFrameType type, ByteBuffer message) {
        channel.setRequireExplicitFlush(true);
        send(type, message);
        channel.setRequireExplicitFlush(false);
    }

    void flush() {
        channel.flush();
    }

    @Override
    public void complete(WebSocketChannel channel, Integer size) {
        queued -= size;
    }

    /** Leaves the closing to the library: what fails here may be sent during a closing handshake. */
    @Override
    public void onError(WebSocketChannel channel, Integer size, Throwable cause) {
        queued -= size;
    }
}
