package shootout.undertow;

import io.undertow.websockets.core.BufferedTextMessage;
import io.undertow.websockets.core.WebSocketChannel;
import io.undertow.websockets.core.WebSocketFrameType;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Sends every message back as it came, for Autobahn|Testsuite. */
final class RawEchoListener extends MessageListener {

    private final Client client;

    RawEchoListener(Client client) {
        this.client = client;
    }

    @Override
    protected void onFullTextMessage(WebSocketChannel channel, BufferedTextMessage message) {
        client.send(WebSocketFrameType.TEXT, StandardCharsets.UTF_8.encode(message.getData()));
    }

    @Override
    void onBinary(ByteBuffer message) {
        client.send(WebSocketFrameType.BINARY, message);
    }
}
