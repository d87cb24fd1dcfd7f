package shootout.undertow;

import io.undertow.websockets.core.AbstractReceiveListener;
import io.undertow.websockets.core.BufferedBinaryMessage;
import io.undertow.websockets.core.WebSocketChannel;
import io.undertow.websockets.core.WebSockets;
import org.xnio.Pooled;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Whole messages of at most 16 MiB; a longer one is refused with close code 1009 by the library. */
abstract class MessageListener extends AbstractReceiveListener {

    static final int LARGEST_MESSAGE = 16 * 1024 * 1024;

    abstract void onBinary(ByteBuffer message) throws IOException;

    @Override
    protected final void onFullBinaryMessage(WebSocketChannel channel, BufferedBinaryMessage message)
            throws IOException {
        // The pool's buffers would be held until the slowest client has taken them: copied out.
        try (Pooled<ByteBuffer[]> pooled = message.getData()) {
            onBinary(WebSockets.mergeBuffers(pooled.getResource()));
        }
    }

    @Override
    protected final long getMaxTextBufferSize() {
        return LARGEST_MESSAGE;
    }

    @Override
    protected final long getMaxBinaryBufferSize() {
        return LARGEST_MESSAGE;
    }

    /** No limit: the library stops reading from a client for whom more than 50 frames wait. */
    @Override
    protected final int getMaxPingsPerWindow() {
        return Integer.MAX_VALUE;
    }
}
