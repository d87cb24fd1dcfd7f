package shootout.jetty;

import java.nio.ByteBuffer;

/** Sends every message back as it came, for Autobahn|Testsuite. */
public final class RawEcho extends Client {

    @Override
    public void onWebSocketText(String message) {
        send(Message.text(message));
    }

    @Override
    void onBinary(ByteBuffer message) {
        send(Message.binary(message));
    }
}
