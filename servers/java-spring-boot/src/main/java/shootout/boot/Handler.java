package shootout.boot;

import org.springframework.web.socket.BinaryMessage;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.handler.AbstractWebSocketHandler;

/**
 * Puts the parts of a message together. With whole messages Tomcat would keep room for the largest one
 * at every connection.
 */
abstract class Handler extends AbstractWebSocketHandler {

    /** The name of the attribute that holds the {@link Client}. */
    static final String CLIENT = Client.class.getName();

    /** False when the client cannot have what is broadcast, so that its handshake is refused. */
    abstract boolean join(Client client);

    abstract void leave(Client client);

    abstract void onText(Client client, String message);

    abstract void onBinary(Client client, byte[] message);

    @Override
    public final boolean supportsPartialMessages() {
        return true;
    }

    @Override
    public final void afterConnectionEstablished(WebSocketSession session) {
        Client client = client(session);
        client.open(session);
        join(client); // again: its handshake may have taken so long that it was given up
    }

    @Override
    protected final void handleTextMessage(WebSocketSession session, TextMessage part) {
        Client client = client(session);
        String whole = client.complete(part.getPayload(), part.getPayloadLength(), part.isLast());
        if (whole != null) {
            onText(client, whole);
        }
    }

    @Override
    protected final void handleBinaryMessage(WebSocketSession session, BinaryMessage part) {
        Client client = client(session);
        byte[] whole = client.complete(part.getPayload(), part.isLast());
        if (whole != null) {
            onBinary(client, whole);
        }
    }

    @Override
    public final void afterConnectionClosed(WebSocketSession session, CloseStatus status) {
        leave(client(session));
    }

    private static Client client(WebSocketSession session) {
        return (Client) session.getAttributes().get(CLIENT);
    }
}
