package shootout.jetty;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import org.eclipse.jetty.websocket.api.Callback;

import java.nio.ByteBuffer;

/** The echo and broadcast requests of docs/protocol.md, text and binary, of one connection. */
public final class Protocol extends Client {

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final Hub hub;

    Protocol(Hub hub) {
        this.hub = hub;
    }

    @Override
    public void onWebSocketClose(int code, String reason, Callback callback) {
        hub.leave(this);
        callback.succeed();
    }

    @Override
    public void onWebSocketText(String message) {
        try {
            onJson(JSON.readTree(message));
        } catch (JsonProcessingException malformed) {
            error("malformed JSON");
        }
    }

    private void onJson(JsonNode request) {
        JsonNode payload = request.get("payload");
        if (!request.isObject() || payload == null) {
            error("not an object with a payload");
            return;
        }
        switch (request.path("type").asText()) {
            case "echo" -> send(text("echo", payload));
            case "broadcast" -> hub.broadcast(this, text("broadcast", payload), text("broadcastResult", payload));
            default -> error("unknown type");
        }
    }

    @Override
    void onBinary(ByteBuffer message) {
        if (!message.hasRemaining()) {
            error("empty binary message");
            return;
        }
        switch (message.get(0)) {
            case 'e' -> send(Message.binary(message));
            case 'b' -> {
                ByteBuffer result = ByteBuffer.wrap(message.array().clone()).put(0, (byte) 'r');
                hub.broadcast(this, Message.binary(message), Message.binary(result));
            }
            default -> error("unknown type");
        }
    }

    private void error(String words) {
        send(text("error", TextNode.valueOf(words)));
    }

    private static Message text(String type, JsonNode payload) {
        try {
            return Message.text(JSON.writeValueAsBytes(
                    JSON.createObjectNode().put("type", type).set("payload", payload)));
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible); // what was read as a tree can be written
        }
    }
}
