package shootout.boot;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.StringNode;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The requests of docs/protocol.md, text and binary, and who is connected. */
class Protocol extends Handler {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private static final String NO_TOPIC = "no topic of such a name";

    private final Set<Client> clients = ConcurrentHashMap.newKeySet();
    private final Topics topics = new Topics();

    @Override
    boolean join(Client client) {
        clients.add(client);
        return true;
    }

    @Override
    void leave(Client client) {
        clients.remove(client);
        topics.leave(client);
    }

    @Override
    final void onText(Client client, String message) {
        JsonNode request;
        try {
            request = JSON.readTree(message);
        } catch (JacksonException malformed) {
            error(client, "malformed JSON");
            return;
        }
        JsonNode payload = request.get("payload");
        String type = request.path("type").asString("");
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
        String topic = name.stringValue();
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
                    String name = topic.stringValue();
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
        return name.isString() && Topics.isName(name.stringValue());
    }

    @Override
    final void onBinary(Client client, byte[] message) {
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
    void broadcast(Client sender, Message message, Message result) {
        clients.removeIf(client -> !client.send(message));
        sender.send(result);
    }

    private static void error(Client client, String words) {
        client.send(text("error", StringNode.valueOf(words)));
    }

    private static Message text(String type, JsonNode payload) {
        return json(JSON.createObjectNode().put("type", type).set("payload", payload));
    }

    private static Message text(String type, String topic, JsonNode payload) {
        return json(JSON.createObjectNode().put("type", type).put("topic", topic).set("payload", payload));
    }

    private static Message json(JsonNode message) {
        return Message.text(JSON.writeValueAsBytes(message));
    }
}
