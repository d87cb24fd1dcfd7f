package shootout.helidon;

import io.helidon.common.buffers.BufferData;
import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.websocket.WsUpgrader;
import io.helidon.websocket.WsCloseCodes;
import io.helidon.websocket.WsListener;
import io.helidon.websocket.WsSession;
import io.helidon.websocket.WsUpgradeException;

import java.io.ByteArrayOutputStream;
import java.util.Base64;
import java.util.Optional;

/** The library's events of one connection, all of them in its own virtual thread: whole messages from fragments. */
final class Connection implements WsListener {

    private static final int LARGEST_MESSAGE = 16 * 1024 * 1024;
    private static final int LARGEST_CONTROL = 125;
    private static final int KEY_BYTES = 16;

    private final Handler handler;
    private final Client client = new Client();
    private final StringBuilder text = new StringBuilder();
    private final ByteArrayOutputStream binary = new ByteArrayOutputStream();

    Connection(Handler handler) {
        this.handler = handler;
    }

    /** Adds the client before its handshake is answered: no broadcast sent after that passes it by. */
    @Override
    public Optional<Headers> onHttpUpgrade(HttpPrologue prologue, Headers headers) throws WsUpgradeException {
        // The library looks at the key later, and serves the connection on when it has refused it.
        if (!isKey(headers.get(WsUpgrader.WS_KEY).get())) {
            throw new WsUpgradeException("no key of 16 bytes");
        }
        handler.join(client);
        // The library tells no listener of a connection that ends without a close frame; its thread ends with it.
        Thread connection = Thread.currentThread();
        Thread.ofVirtual().start(() -> leaveAfter(connection));
        return Optional.empty();
    }

    private static boolean isKey(String key) {
        try {
            return Base64.getDecoder().decode(key).length == KEY_BYTES;
        } catch (IllegalArgumentException notBase64) {
            return false;
        }
    }

    private void leaveAfter(Thread connection) {
        try {
            connection.join();
        } catch (InterruptedException never) {
            Thread.currentThread().interrupt();
        }
        handler.leave(client);
        client.end();
    }

    @Override
    public void onOpen(WsSession session) {
        client.open(session);
    }

    @Override
    public void onMessage(WsSession session, String fragment, boolean last) {
        text.append(fragment);
        if (text.length() > LARGEST_MESSAGE) {
            refuse(session, WsCloseCodes.TOO_BIG);
        }
        if (last) {
            String message = text.toString();
            text.setLength(0);
            text.trimToSize();
            handler.onText(client, message);
        }
    }

    @Override
    public void onMessage(WsSession session, BufferData fragment, boolean last) {
        binary.writeBytes(fragment.readBytes());
        if (binary.size() > LARGEST_MESSAGE) {
            refuse(session, WsCloseCodes.TOO_BIG);
        }
        if (last) {
            byte[] message = binary.toByteArray();
            binary.reset();
            handler.onBinary(client, message);
        }
    }

    private void refuse(WsSession session, int code) {
        client.close(code);
        session.terminate();
    }

    /** The library would answer any code with 1000, before what waits. */
    @Override
    public void onClose(WsSession session, int status, String reason) {
        client.close(isAllowed(status) ? status : WsCloseCodes.PROTOCOL_ERROR);
    }

    private static boolean isAllowed(int status) {
        return status >= 1000 && status <= 1003 || status >= 1007 && status <= 1014
                || status >= 3000 && status <= 4999;
    }

    @Override
    public void onPing(WsSession session, BufferData payload) {
        if (payload.available() > LARGEST_CONTROL) {
            refuse(session, WsCloseCodes.PROTOCOL_ERROR);
        }
        client.send(new Message.Pong(payload.readBytes()));
    }
}
