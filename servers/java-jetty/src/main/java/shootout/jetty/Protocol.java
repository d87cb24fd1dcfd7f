package shootout.jetty;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import org.eclipse.jetty.websocket.api.Callback;

import java.nio.ByteBuffer;

/** The requests of docs/protocol.md, text and binary, of one connection. */
public final class Protocol extends Client {

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final String NO_TOPIC = "no topic of such a name";

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

    private void onSubscription(String type, JsonNode name) {
        if (!isTopic(name)) {
            error(NO_TOPIC);
            return;
        }
        String topic = name.textValue();
        Message answer = json(JSON.createObjectNode().put("type", type + "d").put("topic", topic));
        if (type.equals("subscribe")) {
            hub.topics().subscribe(this, topic, answer);
        } else {
            hub.topics().unsubscribe(this, topic, answer);
        }
    }

    private void onPayload(String type, JsonNode topic, JsonNode payload) {
        switch (type) {
            case "echo" -> send(text("echo", payload));
            case "broadcast" -> hub.broadcast(this, text("broadcast", payload), text("broadcastResult", payload));
            case "publish" -> {
                if (isTopic(topic)) {
                    String name = topic.textValue();
                    hub.publish(this, name, text("message", name, payload), text("publishResult", name, payload));
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
        return json(JSON.createObjectNode().put("type", type).set("payload", payload));
    }

    private static Message text(String type, String topic, JsonNode payload) {
        return json(JSON.createObjectNode().put("type", type).put("topic", topic).set("payload", payload));
    }

    private static Message json(JsonNode message) {
        try {
            return Message.text(JSON.writeValueAsBytes(message));
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible); // what was read as a tree can be written
        }
    }
}
