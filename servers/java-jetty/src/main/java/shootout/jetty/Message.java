package shootout.jetty;

import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** What is sent to one connection or to all. */
interface Message {

    /** In bytes. */
    int size();

    void sendTo(Session session, Callback done);

    static Message text(byte[] utf8) {
        return new Text(new String(utf8, StandardCharsets.UTF_8), utf8.length);
    }

    static Message text(String text) {
        return text(text.getBytes(StandardCharsets.UTF_8));
    }

    static Message binary(ByteBuffer payload) {
        return new Binary(payload);
    }

    record Text(String text, int size) implements Message {
        @Override
        public void sendTo(Session session, Callback done) {
            session.sendText(text, done);
        }
    }

    record Binary(ByteBuffer payload) implements Message {
        @Override
        public int size() {
            return payload.remaining();
        }

        @Override
        public void sendTo(Session session, Callback done) {
            session.sendBinary(payload.slice(), done);
        }
    }
}
