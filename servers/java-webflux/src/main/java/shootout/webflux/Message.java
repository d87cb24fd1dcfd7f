package shootout.webflux;

import org.springframework.web.reactive.socket.WebSocketMessage;
import org.springframework.web.reactive.socket.WebSocketSession;

import java.nio.charset.StandardCharsets;

/** What is sent to one connection or to all, which share its bytes. */
record Message(WebSocketMessage.Type type, byte[] payload) {

    static Message text(byte[] utf8) {
        return new Message(WebSocketMessage.Type.TEXT, utf8);
    }

    static Message text(String text) {
        return text(text.getBytes(StandardCharsets.UTF_8));
    }

    static Message binary(byte[] payload) {
        return new Message(WebSocketMessage.Type.BINARY, payload);
    }

    /** In bytes. */
    int size() {
        return payload.length;
    }

    WebSocketMessage to(WebSocketSession session) {
        return new WebSocketMessage(type, session.bufferFactory().wrap(payload));
    }
}
