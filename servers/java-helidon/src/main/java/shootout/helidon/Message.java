package shootout.helidon;

import io.helidon.common.buffers.BufferData;
import io.helidon.websocket.WsSession;

import java.nio.charset.StandardCharsets;

/** What is sent to one connection or to all. */
sealed interface Message {

    /** In bytes. */
    int size();

    /** Waits until the socket has taken it. */
    void sendTo(WsSession session);

    static Message text(byte[] utf8) {
        return new Text(new String(utf8, StandardCharsets.UTF_8), utf8.length);
    }

    static Message text(String text) {
        return text(text.getBytes(StandardCharsets.UTF_8));
    }

    static Message binary(byte[] payload) {
        return new Binary(payload);
    }

    record Text(String text, int size) implements Message {
        @Override
        public void sendTo(WsSession session) {
            session.send(text, true);
        }
    }

    record Binary(byte[] payload) implements Message {
        @Override
        public int size() {
            return payload.length;
        }

        @Override
        public void sendTo(WsSession session) {
            session.send(BufferData.create(payload), true);
        }
    }

    record Pong(byte[] payload) implements Message {
        @Override
        public int size() {
            return payload.length;
        }

        @Override
        public void sendTo(WsSession session) {
            session.pong(BufferData.create(payload));
        }
    }

    record Close(int code) implements Message {
        @Override
        public int size() {
            return 2;
        }

        @Override
        public void sendTo(WsSession session) {
            session.close(code, "");
        }
    }
}
