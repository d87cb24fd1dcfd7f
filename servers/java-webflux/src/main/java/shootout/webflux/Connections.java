package shootout.webflux;

import io.netty.handler.codec.TooLongFrameException;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.web.reactive.socket.CloseStatus;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.WebSocketMessage;
import org.springframework.web.reactive.socket.WebSocketSession;
import reactor.core.publisher.Mono;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Hands what a connection receives to the handler, and sends what waits for it. */
record Connections(Handler handler) implements WebSocketHandler {

    /** The handler of one connection, whose client may be sent to from now on. */
    WebSocketHandler join() {
        Client client = new Client();
        handler.join(client);
        return session -> handle(client, session);
    }

    @Override
    public Mono<Void> handle(WebSocketSession session) {
        return join().handle(session);
    }

    private Mono<Void> handle(Client client, WebSocketSession session) {
        Mono<Void> received = session.receive()
                .doOnNext(message -> receive(client, message))
                .then()
                .onErrorResume(NotUtf8.class, bad -> session.close(CloseStatus.BAD_DATA))
                // Of several frames; the library answers a single one that is too long.
                .onErrorResume(TooLongFrameException.class, large -> session.close(CloseStatus.TOO_BIG_TO_PROCESS));
        return Mono.firstWithSignal(received, client.sendAll(session))
                .doFinally(ended -> handler.leave(client));
    }

    private void receive(Client client, WebSocketMessage message) {
        DataBuffer payload = message.getPayload();
        byte[] bytes = new byte[payload.readableByteCount()];
        payload.read(bytes);
        switch (message.getType()) {
            case TEXT -> handler.onText(client, text(bytes));
            case BINARY -> handler.onBinary(client, bytes);
            default -> { } // a ping or a pong, which the server answers by itself
        }
    }

    /** The library would put a replacement character in the place of what is no UTF-8. */
    private static String text(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException bad) {
            throw new NotUtf8(bad);
        }
    }

    private static final class NotUtf8 extends RuntimeException {
        NotUtf8(CharacterCodingException cause) {
            super(cause);
        }
    }
}
