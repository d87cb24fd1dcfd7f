package shootout.vertx;

import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.internal.http.WebSocketInternal;

/** A connection with the limits of docs/protocol.md; for its own context alone. */
final class Client {

    private static final int MOST_QUEUED = 64 * 1024 * 1024;

    private final ServerWebSocket socket;
    private final Context context;

    Client(ServerWebSocket socket, Context context) {
        this.socket = socket;
        this.context = context;
        socket.setWriteQueueMaxSize(MOST_QUEUED);
        // The library would close with 1000, whatever rule of the protocol was broken.
        socket.exceptionHandler(broken -> {
            if (broken instanceof CorruptedWebSocketFrameException violation) {
                socket.close((short) violation.closeStatus().code());
            }
        });
    }

    void onMessage(Handler<String> text, Handler<Buffer> binary) {
        socket.frameHandler(new Messages(socket, text, binary));
    }

    void onClose(Runnable handler) {
        socket.closeHandler(closed -> handler.run());
    }

    Context context() {
        return context;
    }

    void send(String text) {
        if (takesMore()) {
            socket.writeTextMessage(text);
        }
    }

    void send(Buffer binary) {
        if (takesMore()) {
            socket.writeBinaryMessage(binary);
        }
    }

    private boolean takesMore() {
        if (socket.isClosed()) {
            return false;
        }
        if (socket.writeQueueFull()) {
            // The library's own close would wait until its close frame is written, behind all that is queued.
            ((WebSocketInternal) socket).channelHandlerContext().close();
            return false;
        }
        return true;
    }
}
