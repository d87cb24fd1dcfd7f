package shootout.quarkus;

import io.vertx.core.buffer.Buffer;

/** Sends every message back as it came, for Autobahn|Testsuite. */
final class RawEcho implements Handler {

    @Override
    public void join(Client client) {}

    @Override
    public void leave(Client client) {}

    @Override
    public void onText(Client client, String message) {
        client.send(Message.text(message));
    }

    @Override
    public void onBinary(Client client, Buffer message) {
        client.send(Message.binary(message));
    }
}
