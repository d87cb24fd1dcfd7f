package shootout.boot;

/** Sends every message back as it came, for Autobahn|Testsuite. */
final class RawEcho extends Handler {

    @Override
    boolean join(Client client) {
        return true;
    }

    @Override
    void onText(Client client, String message) {
        client.send(Message.text(message));
    }

    @Override
    void onBinary(Client client, byte[] message) {
        client.send(Message.binary(message));
    }

    @Override
    void leave(Client client) {}
}
