package shootout.jetty;

import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A connection and the size of what waits to be written to it. It takes messages from any thread, and
 * before the library has opened it: they wait until then. Public, for the library calls it by reflection.
 */
public abstract class Client implements Session.Listener.AutoDemanding {

    private static final long MOST_QUEUED = 64L * 1024 * 1024;

    final Subscriptions subscriptions = new Subscriptions();

    private final AtomicLong queued = new AtomicLong();
    private final List<Message> early = new ArrayList<>();
    private volatile Session session;

    abstract void onBinary(ByteBuffer message);

    @Override
    public final void onWebSocketBinary(ByteBuffer payload, Callback callback) {
        // The library's buffer would be held until the slowest client has taken it: copied out.
        onBinary(ByteBuffer.allocate(payload.remaining()).put(payload).flip());
        callback.succeed();
    }

    @Override
    public final synchronized void onWebSocketOpen(Session opened) {
        early.forEach(message -> queue(opened, message));
        early.clear();
        session = opened;
    }

    /** The library has closed the connection, or will; without this method it would log each one. */
    @Override
    public final void onWebSocketError(Throwable cause) {}

    final void send(Message message) {
        if (session == null && waits(message)) {
            return;
        }
        queue(session, message);
    }

    private synchronized boolean waits(Message message) {
        return session == null && early.add(message);
    }

    private void queue(Session to, Message message) {
        long size = message.size();
        long before = queued.getAndAdd(size);
        // One message is always taken: JSON numbers may grow when they are written anew.
        if (before > 0 && before + size > MOST_QUEUED) {
            to.disconnect();
            return;
        }
        message.sendTo(to, Callback.from(() -> queued.addAndGet(-size), failure -> queued.addAndGet(-size)));
    }
}
