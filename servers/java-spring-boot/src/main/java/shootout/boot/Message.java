package shootout.boot;

import org.springframework.web.socket.BinaryMessage;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketMessage;

/** What is sent to one connection or to all. */
interface Message {

    /** In bytes. */
    int size();

    boolean isText();

    /** The payload, to be left as it is; text as UTF-8. */
    byte[] bytes();

    /** For one connection. */
    WebSocketMessage<?> content();

    static Message text(byte[] utf8) {
        return new Text(new TextMessage(utf8), utf8.length);
    }

    static Message text(String text) {
        TextMessage message = new TextMessage(text);
        return new Text(message, message.getPayloadLength());
    }

    static Message binary(byte[] payload) {
        return new Binary(payload);
    }

    record Text(TextMessage content, int size) implements Message {
        @Override
        public boolean isText() {
            return true;
        }

        @Override
        public byte[] bytes() {
            return content.asBytes();
        }
    }

    record Binary(byte[] bytes) implements Message {
        @Override
        public boolean isText() {
            return false;
        }

        @Override
        public int size() {
            return bytes.length;
        }

        /** A new one each time: sending moves the position of its buffer. */
        @Override
        public BinaryMessage content() {
            return new BinaryMessage(bytes);
        }
    }
}
