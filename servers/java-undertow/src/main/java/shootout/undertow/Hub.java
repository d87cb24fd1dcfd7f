package shootout.undertow;

import io.undertow.websockets.core.WebSocketFrameType;
import org.xnio.XnioIoThread;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * Every open connection and every subscription, apart for each I/O thread, so that a broadcast costs
 * each thread one task and not one per connection.
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
        Shard shard = shard(client);
        shard.all.add(client);
        client.channel().addCloseTask(channel -> {
            shard.all.remove(client);
            shard.thread.execute(() -> shard.topics.forget(client));
        });
    }

    /** The topics of a connection's thread. */
    Topics topics(Client client) {
        return shard(client).topics;
    }

    void broadcast(Client sender, WebSocketFrameType type, ByteBuffer message, ByteBuffer result) {
        send(sender, Shard::all, type, message, result);
    }

    void publish(Client sender, String topic, ByteBuffer message, ByteBuffer result) {
        send(sender, shard -> shard.topics.subscribers(topic), WebSocketFrameType.TEXT, message, result);
    }

    /**
     * Queues the message on the audience of every thread and then the result on the sender's connection:
     * whichever thread is the last to have queued sends it (docs/protocol.md, the ack rule).
     */
    private void send(
            Client sender,
            Function<Shard, Audience> audience,
            WebSocketFrameType type,
            ByteBuffer message,
            ByteBuffer result) {
        Shard[] all = shards.values().toArray(Shard[]::new);
        AtomicInteger pending = new AtomicInteger(all.length);
        for (Shard shard : all) {
            shard.thread.execute(() -> {
                Audience receivers = audience.apply(shard);
                if (receivers != null) {
                    receivers.queue(type, message);
                }
                if (pending.decrementAndGet() == 0) {
                    sender.channel().getIoThread().execute(() -> sender.send(type, result));
                }
            });
        }
    }

    private Shard shard(Client client) {
        return shards.get(client.channel().getIoThread());
    }

    private record Shard(XnioIoThread thread, Audience all, Topics topics) {

        private Shard(XnioIoThread thread) {
            this(thread, new Audience(thread), new Topics(thread));
        }
    }
}
