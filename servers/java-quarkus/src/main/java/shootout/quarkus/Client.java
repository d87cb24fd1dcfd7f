package shootout.quarkus;

import io.quarkus.websockets.next.CloseReason;
import io.quarkus.websockets.next.UserData.TypedKey;
import io.quarkus.websockets.next.WebSocketConnection;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A connection and the size of what waits to be written to it. It takes messages from any thread, and
 * before the library has opened it: they wait until then.
 */
final class Client {

    /** Where the library keeps it, from the handshake on. */
    static final TypedKey<Client> KEY = new TypedKey<>("client");

    private static final long MOST_QUEUED = 64L * 1024 * 1024;
    private static final int POLICY_VIOLATION = 1008;

    final Subscriptions subscriptions = new Subscriptions();

    private final AtomicLong queued = new AtomicLong();
    private final AtomicBoolean cutOff = new AtomicBoolean();
    private final List<Message> early = new ArrayList<>();
    private volatile WebSocketConnection connection;

    synchronized void open(WebSocketConnection opened) {
        early.forEach(message -> write(opened, message));
        early.clear();
        connection = opened;
        if (cutOff.get()) {
            close(opened);
        }
    }

    /** Never waits. */
    void send(Message message) {
        if (cutOff.get()) {
            return;
        }
        long size = message.size();
        long before = queued.getAndAdd(size);
        // One message is always taken: JSON numbers may grow when they are written anew.
        if (before > 0 && before + size > MOST_QUEUED) {
            cutOff();
        } else if (connection != null || !waits(message)) {
            write(connection, message);
        }
    }

    private synchronized boolean waits(Message message) {
        return connection == null && early.add(message);
    }

    private void write(WebSocketConnection to, Message message) {
        if (!to.isClosed()) {
            message.sendTo(to).subscribe().with(
                    sent -> queued.addAndGet(-message.size()),
                    failed -> queued.addAndGet(-message.size()));
        }
    }

    private synchronized void cutOff() {
        if (cutOff.compareAndSet(false, true)) {
            early.clear();
            if (connection != null) {
                close(connection);
            }
        }
    }

    /** The close frame goes behind what is queued: the library cannot end a connection at once. */
    private static void close(WebSocketConnection to) {
        if (!to.isClosed()) {
            to.close(new CloseReason(POLICY_VIOLATION)).subscribe().with(closed -> {}, failed -> {});
        }
    }
}
