package shootout.vertx;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;

/** The echo and broadcast requests of docs/protocol.md, text and binary, of one connection. */
final class Protocol {

    private final Client client;
    private final Hub hub;

    Protocol(Client client, Hub hub) {
        this.client = client;
        this.hub = hub;
    }

    void onText(String message) {
        Object request;
        try {
            request = Json.decodeValue(message);
        } catch (DecodeException malformed) {
            error("malformed JSON");
            return;
        }
        if (request instanceof JsonObject object && object.containsKey("payload")) {
            onRequest(object.getValue("type"), object.getValue("payload"));
        } else {
            error("not an object with a payload");
        }
    }

    private void onRequest(Object type, Object payload) {
        if ("echo".equals(type)) {
            client.send(text("echo", payload));
        } else if ("broadcast".equals(type)) {
            String message = text("broadcast", payload);
            String result = text("broadcastResult", payload);
            hub.broadcast(client, each -> each.send(message), sender -> sender.send(result));
        } else {
            error("unknown type");
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
                hub.broadcast(client, each -> each.send(message), sender -> sender.send(result));
            }
            default -> error("unknown type");
        }
    }

    private void error(String words) {
        client.send(text("error", words));
    }

    private static String text(String type, Object payload) {
        return new JsonObject().put("type", type).put("payload", payload).encode();
    }
}
