package shootout.undertow;

import io.undertow.websockets.core.WebSocketFrameType;
import org.xnio.XnioIoThread;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Every open connection, in one set per I/O thread, so that a broadcast costs each thread one task
 * and not one per connection.
 */
final class Hub {

    private final Map<XnioIoThread, Shard> shards = new ConcurrentHashMap<>();

    /**
     * To be called before a handshake is answered on that thread: a broadcast that comes between the
     * answer and {@link #join} then waits its turn on the thread, and finds the new connection.
     */
    void prepare(XnioIoThread thread) {
        shards.computeIfAbsent(thread, Shard::new);
    }

    /** Adds a connection; it leaves by itself when it closes. */
    void join(Client client) {
        Set<Client> clients = shards.get(client.channel().getIoThread()).clients;
        clients.add(client);
        client.channel().addCloseTask(channel -> clients.remove(client));
    }

    /**
     * Queues the message on every connection and then the result on the sender's: whichever thread is
     * the last to have queued sends it (docs/protocol.md, the ack rule).
     */
    void broadcast(Client sender, WebSocketFrameType type, ByteBuffer message, ByteBuffer result) {
        Shard[] all = shards.values().toArray(Shard[]::new);
        AtomicInteger pending = new AtomicInteger(all.length);
        for (Shard shard : all) {
            shard.thread.execute(() -> {
                shard.queue(type, message);
                if (pending.decrementAndGet() == 0) {
                    sender.channel().getIoThread().execute(() -> sender.send(type, result));
                }
            });
        }
    }

    /** The connections of one I/O thread; {@link #queue} runs on that thread alone. */
    private static final class Shard {
        private final XnioIoThread thread;
        private final Set<Client> clients = ConcurrentHashMap.newKeySet();
        private boolean flushPending;

        private Shard(XnioIoThread thread) {
            this.thread = thread;
        }

        /** Queues the message on every connection; all broadcasts that wait in this thread share one flush. */
        private void queue(WebSocketFrameType type, ByteBuffer message) {
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
}
