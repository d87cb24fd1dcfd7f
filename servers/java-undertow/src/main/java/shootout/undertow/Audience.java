package shootout.undertow;

import io.undertow.websockets.core.WebSocketFrameType;
import org.xnio.XnioIoThread;

import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Connections of one I/O thread that get the same messages; {@link #queue} is for that thread alone. */
final class Audience {

    private final XnioIoThread thread;
    private final Set<Client> clients = ConcurrentHashMap.newKeySet();
    private boolean flushPending;

    Audience(XnioIoThread thread) {
        this.thread = thread;
    }

    void add(Client client) {
        clients.add(client);
    }

    void remove(Client client) {
        clients.remove(client);
    }

    boolean isEmpty() {
        return clients.isEmpty();
    }

    /** Queues the message on every connection; all messages that wait in this thread share one flush. */
    void queue(WebSocketFrameType type, ByteBuffer message) {
        clients.forEach(client -> client.queue(type, message));
        if (!flushPending) {
            flushPending = true;
            thread.execute(() -> {
                flushPending = false;
                clients.forEach(Client::flush);
            });
        }
    }
}
