package shootout.quarkus;

import io.quarkus.websockets.next.WebSocketConnection;
import io.smallrye.mutiny.Uni;
import io.vertx.core.buffer.Buffer;

import java.nio.charset.StandardCharsets;

/** What is sent to one connection or to all. */
interface Message {

    /** In bytes. */
    int size();

    Uni<Void> sendTo(WebSocketConnection connection);

    static Message text(byte[] utf8) {
        return new Text(new String(utf8, StandardCharsets.UTF_8), utf8.length);
    }

    static Message text(String text) {
        return text(text.getBytes(StandardCharsets.UTF_8));
    }

    static Message binary(Buffer payload) {
        return new Binary(payload);
    }

    record Text(String text, int size) implements Message {
        @Override
        public Uni<Void> sendTo(WebSocketConnection connection) {
            return connection.sendText(text);
        }
    }

    record Binary(Buffer payload) implements Message {
        @Override
        public int size() {
            return payload.length();
        }

        @Override
        public Uni<Void> sendTo(WebSocketConnection connection) {
            return connection.sendBinary(payload);
        }
    }
}
