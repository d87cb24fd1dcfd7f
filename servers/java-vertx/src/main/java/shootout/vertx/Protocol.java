package shootout.vertx;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;

/** The requests of docs/protocol.md, text and binary, of one connection. */
final class Protocol {

    private static final String NO_TOPIC = "no topic of such a name";

    private final Client client;
    private final Hub hub;
    private final Topics topics;

    Protocol(Client client, Hub hub, Topics topics) {
        this.client = client;
        this.hub = hub;
        this.topics = topics;
    }

    void onText(String message) {
        Object request;
        try {
            request = Json.decodeValue(message);
        } catch (DecodeException malformed) {
            error("malformed JSON");
            return;
        }
        if (!(request instanceof JsonObject object)) {
            error("not an object");
        } else if (!(object.getValue("type") instanceof String type)) {
            error("no type");
        } else if (type.equals("subscribe") || type.equals("unsubscribe")) {
            onSubscription(type, object.getValue("topic"));
        } else if (object.containsKey("payload")) {
            onPayload(type, object.getValue("topic"), object.getValue("payload"));
        } else {
            error("no payload");
        }
    }

    private void onSubscription(String type, Object name) {
        if (!Topics.isName(name)) {
            error(NO_TOPIC);
            return;
        }
        String topic = (String) name;
        if (type.equals("subscribe")) {
            topics.subscribe(client, topic);
        } else {
            topics.unsubscribe(client, topic);
        }
        client.send(new JsonObject().put("type", type + "d").put("topic", topic).encode());
    }

    private void onPayload(String type, Object topic, Object payload) {
        switch (type) {
            case "echo" -> client.send(text("echo", payload));
            case "broadcast" -> {
                String message = text("broadcast", payload);
                String result = text("broadcastResult", payload);
                hub.share(message)
                        .onSuccess(shared -> hub.broadcast(
                                client, each -> each.send(message), sender -> sender.send(result)))
                        .onFailure(this::notPublished);
            }
            case "publish" -> {
                if (Topics.isName(topic)) {
                    String result = text("publishResult", topic, payload);
                    hub.publish(client, (String) topic, text("message", topic, payload), sender -> sender.send(result));
                } else {
                    error(NO_TOPIC);
                }
            }
            default -> error("unknown type");
        }
    }

    void onBinary(Buffer message) {
        if (message.length() == 0) {
            error("empty binary message");
            return;
        }
        switch (message.getByte(0)) {
            case 'e' -> client.send(message);
            case 'b' -> {
                Buffer result = message.copy().setByte(0, (byte) 'r');
                hub.share(message)
                        .onSuccess(shared -> hub.broadcast(
                                client, each -> each.send(message), sender -> sender.send(result)))
                        .onFailure(this::notPublished);
            }
            default -> error("unknown type");
        }
    }

    private void notPublished(Throwable cause) {
        error("not published: " + cause.getMessage());
    }

    private void error(String words) {
        client.send(text("error", words));
    }

    private static String text(String type, Object topic, Object payload) {
        return new JsonObject().put("type", type).put("topic", topic).put("payload", payload).encode();
    }

    private static String text(String type, Object payload) {
        return new JsonObject().put("type", type).put("payload", payload).encode();
    }
}
