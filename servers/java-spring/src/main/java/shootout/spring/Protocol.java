package shootout.spring;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.StringNode;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The echo and broadcast requests of docs/protocol.md, text and binary, and who is connected. */
final class Protocol extends Handler {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final Set<Client> clients = ConcurrentHashMap.newKeySet();

    @Override
    void join(Client client) {
        clients.add(client);
    }

    @Override
    void leave(Client client) {
        clients.remove(client);
    }

    @Override
    void onText(Client client, String message) {
        JsonNode request;
        try {
            request = JSON.readTree(message);
        } catch (JacksonException malformed) {
            error(client, "malformed JSON");
            return;
        }
        JsonNode payload = request.get("payload");
        if (!request.isObject() || payload == null) {
            error(client, "not an object with a payload");
            return;
        }
        switch (request.path("type").asString("")) {
            case "echo" -> client.send(text("echo", payload));
            case "broadcast" -> broadcast(client, text("broadcast", payload), text("broadcastResult", payload));
            default -> error(client, "unknown type");
        }
    }

    @Override
    void onBinary(Client client, byte[] message) {
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
        clients.removeIf(client -> !client.send(message));
        sender.send(result);
    }

    private static void error(Client client, String words) {
        client.send(text("error", StringNode.valueOf(words)));
    }

    private static Message text(String type, JsonNode payload) {
        return Message.text(JSON.writeValueAsBytes(
                JSON.createObjectNode().put("type", type).set("payload", payload)));
    }
}
