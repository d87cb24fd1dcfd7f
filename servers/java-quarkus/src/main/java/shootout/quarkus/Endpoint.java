package shootout.quarkus;

import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.quarkus.websockets.next.CloseReason;
import io.quarkus.websockets.next.OnBinaryMessage;
import io.quarkus.websockets.next.OnError;
import io.quarkus.websockets.next.OnOpen;
import io.quarkus.websockets.next.OnTextMessage;
import io.quarkus.websockets.next.WebSocket;
import io.quarkus.websockets.next.WebSocketConnection;
import io.smallrye.common.annotation.NonBlocking;
import io.smallrye.mutiny.Uni;
import io.vertx.core.buffer.Buffer;
import jakarta.inject.Singleton;

/** The library's events of all connections. Nothing here waits, so all of it runs on the event loops. */
@WebSocket(path = "/ws")
@Singleton
public final class Endpoint {

    private static final int TOO_BIG = 1009;
    private static final int INTERNAL_ERROR = 1011;

    private final Handler handler;

    Endpoint(Handler handler) {
        this.handler = handler;
    }

    @OnOpen
    @NonBlocking
    void open(WebSocketConnection connection) {
        client(connection).open(connection);
    }

    @OnTextMessage
    @NonBlocking
    void text(String message, WebSocketConnection connection) {
        handler.onText(client(connection), message);
    }

    @OnBinaryMessage
    @NonBlocking
    void binary(Buffer message, WebSocketConnection connection) {
        handler.onBinary(client(connection), message);
    }

    /** The library leaves it to the endpoint to close a connection that broke the protocol. */
    @OnError
    @NonBlocking
    Uni<Void> error(Throwable failure, WebSocketConnection connection) {
        if (connection.isClosed()) {
            return Uni.createFrom().voidItem();
        }
        return connection.close(new CloseReason(code(failure))).onFailure().recoverWithNull();
    }

    private static int code(Throwable failure) {
        if (failure instanceof CorruptedWebSocketFrameException broken) {
            return broken.closeStatus().code();
        }
        // What Vert.x makes of a message that is too large in several frames.
        return failure instanceof IllegalStateException ? TOO_BIG : INTERNAL_ERROR;
    }

    private static Client client(WebSocketConnection connection) {
        return connection.userData().get(Client.KEY);
    }
}
