package shootout.undertow;

import io.undertow.websockets.core.WebSocketCallback;
import io.undertow.websockets.core.WebSocketChannel;
import io.undertow.websockets.core.WebSocketFrameType;
import io.undertow.websockets.core.WebSockets;
import org.xnio.IoUtils;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * A connection and what waits to be written to it; for its own I/O thread alone. As a callback it is
 * told the size of each message that has been written, or never will be.
 */
final class Client implements WebSocketCallback<Integer> {

    private static final long MOST_QUEUED = 64L * 1024 * 1024;

    /** Each flush of the library walks along all that it has been given. */
    private static final long MOST_HANDED_OVER = 1024 * 1024;

    private final WebSocketChannel channel;
    private final Queue<Message> waiting = new ArrayDeque<>();
    private long queued;
    private long handedOver;
    private boolean unflushed;

    Client(WebSocketChannel channel) {
        this.channel = channel;
    }

    WebSocketChannel channel() {
        return channel;
    }

    /** Queues a message and writes what the socket takes. The buffer is shared and stays as it is. */
    void send(WebSocketFrameType type, ByteBuffer message) {
        int size = message.remaining();
        // One message is always taken: JSON numbers may grow when they are written anew.
        if (queued > 0 && queued + size > MOST_QUEUED) {
            IoUtils.safeClose(channel);
            return;
        }
        queued += size;
        if (waiting.isEmpty() && hasRoomFor(size)) {
            handOver(type, message);
        } else {
            waiting.add(new Message(type, message));
        }
    }

    /** Queues a message for the next {@link #flush}, or for whatever is sent before that. */
    void queue(WebSocketFrameType type, ByteBuffer message) {
        channel.setRequireExplicitFlush(true);
        send(type, message);
        channel.setRequireExplicitFlush(false);
    }

    void flush() {
        if (unflushed) {
            unflushed = false;
            channel.flush();
        }
    }

    @Override
    public void complete(WebSocketChannel channel, Integer size) {
        settle(size);
        if (handedOver == 0 && !waiting.isEmpty()) {
            handOverWaiting();
        }
    }

    /** Leaves the closing to the library: what fails here may be sent during a closing handshake. */
    @Override
    public void onError(WebSocketChannel channel, Integer size, Throwable cause) {
        settle(size);
    }

    private void settle(int size) {
        queued -= size;
        handedOver -= size;
    }

    private void handOverWaiting() {
        channel.setRequireExplicitFlush(true);
        while (!waiting.isEmpty() && hasRoomFor(waiting.element().data().remaining())) {
            Message next = waiting.remove();
            handOver(next.type(), next.data());
        }
        channel.setRequireExplicitFlush(false);
        flush();
    }

    private boolean hasRoomFor(int size) {
        return handedOver == 0 || handedOver + size <= MOST_HANDED_OVER;
    }

    private void handOver(WebSocketFrameType type, ByteBuffer message) {
        Integer size = message.remaining();
        handedOver += size;
        unflushed = true;
        if (type == WebSocketFrameType.TEXT) {
            WebSockets.sendText(message.duplicate(), channel, this, size);
        } else {
            WebSockets.sendBinary(message.duplicate(), channel, this, size);
        }
    }

    private record Message(WebSocketFrameType type, ByteBuffer data) {}
}
