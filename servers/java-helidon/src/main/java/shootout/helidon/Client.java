package shootout.helidon;

import io.helidon.websocket.WsSession;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What waits to be written to one connection, and the virtual thread that writes it: a send of the
 * library waits for the peer. Takes messages from any thread, from the handshake on.
 */
final class Client {

    private static final long MOST_QUEUED = 64L * 1024 * 1024;

    /** What a message costs beside its payload, rounded up. */
    private static final int OVERHEAD = 64;

    private static final int POLICY_VIOLATION = 1008;

    /** For a peer that does not read before the close frame. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    final Subscriptions subscriptions = new Subscriptions();

    private final BlockingQueue<Message> queue = new LinkedBlockingQueue<>();
    private final AtomicLong queued = new AtomicLong();
    private volatile boolean cutOff;
    private volatile Thread writer;

    void open(WsSession session) {
        writer = Thread.ofVirtual().start(() -> write(session));
    }

    /** Never waits. */
    void send(Message message) {
        if (cutOff) {
            return;
        }
        long size = message.size() + OVERHEAD;
        long before = queued.getAndAdd(size);
        // One message is always taken: JSON numbers may grow when they are written anew.
        if (before > 0 && before + size > MOST_QUEUED) {
            cutOff();
        } else {
            queue.add(message);
        }
    }

    /** The JDK closes the socket of a virtual thread that is interrupted while it writes. */
    private void cutOff() {
        cutOff = true;
        queue.clear();
        end();
    }

    /** Nothing is written when the connection is over. */
    void end() {
        Thread writing = writer;
        if (writing != null) {
            writing.interrupt();
        }
    }

    /** Writes a close frame behind all that waits, unless the peer takes too long to read it. */
    void close(int code) {
        queue.add(new Message.Close(code));
        cutOff = true;
        try {
            if (!writer.join(GRACE)) {
                end();
            }
        } catch (InterruptedException never) {
            Thread.currentThread().interrupt();
        }
    }

    private void write(WsSession session) {
        try {
            Message message;
            do {
                message = queue.take();
                message.sendTo(session);
                queued.addAndGet(-message.size() - OVERHEAD);
            } while (!(message instanceof Message.Close));
        } catch (InterruptedException over) {
            // not while it wrote
            if (cutOff) {
                session.close(POLICY_VIOLATION, "");
            }
        } catch (RuntimeException broken) {
            // the connection's own thread meets the same
        }
    }
}
