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

/** The requests of docs/protocol.md, text and binary, of one connection. */
final class ProtocolListener extends MessageListener {

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final String NO_TOPIC = "no topic of such a name";

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
        String type = request.path("type").asText();
        switch (type) {
            case "subscribe", "unsubscribe" -> onSubscription(type, request.path("topic"));
            default -> {
                if (!request.isObject() || payload == null) {
                    error("not an object with a payload");
                } else {
                    onPayload(type, request.path("topic"), payload);
                }
            }
        }
    }

    private void onSubscription(String type, JsonNode name) throws IOException {
        if (!isTopic(name)) {
            error(NO_TOPIC);
            return;
        }
        String topic = name.textValue();
        if (type.equals("subscribe")) {
            hub.topics(client).subscribe(client, topic);
        } else {
            hub.topics(client).unsubscribe(client, topic);
        }
        client.send(WebSocketFrameType.TEXT,
                json(JSON.createObjectNode().put("type", type + "d").put("topic", topic)));
    }

    private void onPayload(String type, JsonNode topic, JsonNode payload) throws IOException {
        switch (type) {
            case "echo" -> client.send(WebSocketFrameType.TEXT, text("echo", payload));
            case "broadcast" -> hub.broadcast(client, WebSocketFrameType.TEXT,
                    text("broadcast", payload), text("broadcastResult", payload));
            case "publish" -> {
                if (isTopic(topic)) {
                    String name = topic.textValue();
                    hub.publish(client, name, text("message", name, payload), text("publishResult", name, payload));
                } else {
                    error(NO_TOPIC);
                }
            }
            default -> error("unknown type");
        }
    }

    private static boolean isTopic(JsonNode name) {
        return name.isTextual() && Topics.isName(name.textValue());
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
        return json(JSON.createObjectNode().put("type", type).set("payload", payload));
    }

    private static ByteBuffer text(String type, String topic, JsonNode payload) throws IOException {
        return json(JSON.createObjectNode().put("type", type).put("topic", topic).set("payload", payload));
    }

    private static ByteBuffer json(JsonNode message) throws IOException {
        return ByteBuffer.wrap(JSON.writeValueAsBytes(message));
    }
}
