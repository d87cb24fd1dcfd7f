package shootout.spring;

import jakarta.websocket.RemoteEndpoint;
import jakarta.websocket.SendHandler;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** What is sent to one connection or to all. */
interface Message {

    /** In bytes. */
    int size();

    void sendTo(RemoteEndpoint.Async remote, SendHandler done);

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
        public void sendTo(RemoteEndpoint.Async remote, SendHandler done) {
            remote.sendText(text, done);
        }
    }

    record Binary(byte[] payload) implements Message {
        @Override
        public int size() {
            return payload.length;
        }

        @Override
        public void sendTo(RemoteEndpoint.Async remote, SendHandler done) {
            remote.sendBinary(ByteBuffer.wrap(payload), done);
        }
    }
}
