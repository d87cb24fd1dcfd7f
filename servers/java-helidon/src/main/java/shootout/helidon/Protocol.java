package shootout.helidon;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.TextNode;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The requests of docs/protocol.md, text and binary, and who is connected. */
final class Protocol implements Handler {

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final String NO_TOPIC = "no topic of such a name";

    private final Set<Client> clients = ConcurrentHashMap.newKeySet();
    private final Topics topics = new Topics();

    @Override
    public void join(Client client) {
        clients.add(client);
    }

    @Override
    public void leave(Client client) {
        clients.remove(client);
        topics.leave(client);
    }

    @Override
    public void onText(Client client, String message) {
        JsonNode request;
        try {
            request = JSON.readTree(message);
        } catch (JsonProcessingException malformed) {
            error(client, "malformed JSON");
            return;
        }
        JsonNode payload = request.get("payload");
        String type = request.path("type").asText();
        switch (type) {
            case "subscribe", "unsubscribe" -> onSubscription(client, type, request.path("topic"));
            default -> {
                if (!request.isObject() || payload == null) {
                    error(client, "not an object with a payload");
                } else {
                    onPayload(client, type, request.path("topic"), payload);
                }
            }
        }
    }

    private void onSubscription(Client client, String type, JsonNode name) {
        if (!isTopic(name)) {
            error(client, NO_TOPIC);
            return;
        }
        String topic = name.textValue();
        Message answer = json(JSON.createObjectNode().put("type", type + "d").put("topic", topic));
        if (type.equals("subscribe")) {
            topics.subscribe(client, topic, answer);
        } else {
            topics.unsubscribe(client, topic, answer);
        }
    }

    private void onPayload(Client client, String type, JsonNode topic, JsonNode payload) {
        switch (type) {
            case "echo" -> client.send(text("echo", payload));
            case "broadcast" -> broadcast(client, text("broadcast", payload), text("broadcastResult", payload));
            case "publish" -> {
                if (isTopic(topic)) {
                    String name = topic.textValue();
                    topics.publish(name, text("message", name, payload));
                    client.send(text("publishResult", name, payload));
                } else {
                    error(client, NO_TOPIC);
                }
            }
            default -> error(client, "unknown type");
        }
    }

    private static boolean isTopic(JsonNode name) {
        return name.isTextual() && Topics.isName(name.textValue());
    }

    @Override
    public void onBinary(Client client, byte[] message) {
        switch (message.length == 0 ? 0 : message[0]) {
            case 'e' -> client.send(Message.binary(message));
            case 'b' -> {
                byte[] result = message.clone();
                result[0] = 'r';
                broadcast(client, Message.binary(message), Message.binary(result));
            }
            default -> error(client, "empty or of unknown type");
        }
    }

    /** Queues the message on every connection and then the result on the sender's. */
    private void broadcast(Client sender, Message message, Message result) {
        clients.forEach(client -> client.send(message));
        sender.send(result);
    }

    private static void error(Client client, String words) {
        client.send(text("error", TextNode.valueOf(words)));
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
