package shootout.undertow;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import io.undertow.websockets.core.BufferedTextMessage;
import io.undertow.websockets.core.WebSocketChannel;
import io.undertow.websockets.core.WebSocketFrameType;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The echo and broadcast requests of docs/protocol.md, text and binary, of one connection. */
final class ProtocolListener extends MessageListener {

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final Client client;
    private final Hub hub;

    ProtocolListener(Client client, Hub hub) {
        this.client = client;
        this.hub = hub;
    }

    @Override
    protected void onFullTextMessage(WebSocketChannel channel, BufferedTextMessage message) throws IOException {
        try {
            onText(JSON.readTree(message.getData()));
        } catch (JsonProcessingException malformed) {
            error("malformed JSON");
        }
    }

    private void onText(JsonNode request) throws IOException {
        JsonNode payload = request.get("payload");
        if (!request.isObject() || payload == null) {
            error("not an object with a payload");
            return;
        }
        switch (request.path("type").asText()) {
            case "echo" -> client.send(WebSocketFrameType.TEXT, text("echo", payload));
            case "broadcast" -> hub.broadcast(client, WebSocketFrameType.TEXT,
                    text("broadcast", payload), text("broadcastResult", payload));
            default -> error("unknown type");
        }
    }

    @Override
    void onBinary(ByteBuffer message) throws IOException {
        if (!message.hasRemaining()) {
            error("empty binary message");
            return;
        }
        switch (message.get(message.position())) {
            case 'e' -> client.send(WebSocketFrameType.BINARY, message);
            case 'b' -> {
                ByteBuffer result = ByteBuffer.allocate(message.remaining()).put(message.duplicate()).flip();
                result.put(0, (byte) 'r');
                hub.broadcast(client, WebSocketFrameType.BINARY, message, result);
            }
            default -> error("unknown type");
        }
    }

    private void error(String words) throws IOException {
        client.send(WebSocketFrameType.TEXT, text("error", TextNode.valueOf(words)));
    }

    private static ByteBuffer text(String type, JsonNode payload) throws IOException {
        return ByteBuffer.wrap(JSON.writeValueAsBytes(
                JSON.createObjectNode().put("type", type).set("payload", payload)));
    }
}
