package shootout.vertx;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.eventbus.EventBus;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Every open connection, in one set per verticle and so per event loop: a broadcast costs each loop one
 * task and not one per connection.
 */
final class Hub {

    private final EventBus bus;
    private final Nodes nodes;
    private final List<Shard> shards = new CopyOnWriteArrayList<>();

    /** @param nodes the way to other nodes; null where there are none */
    Hub(EventBus bus, Nodes nodes) {
        this.bus = bus;
        this.nodes = nodes;
    }

    /** Takes what other nodes share; completes when they can find this one. */
    Future<Void> listen() {
        return nodes == null ? Future.succeededFuture() : nodes.listen(this);
    }

    /** Hands a broadcast to the other nodes; fails where the library says at once that it cannot. */
    Future<Void> share(Object message) {
        return nodes == null ? Future.succeededFuture() : nodes.share(message);
    }

    /** Does {@code send} to every connection. */
    void deliver(Consumer<Client> send) {
        for (Shard shard : shards) {
            shard.context.runOnContext(now -> shard.clients.forEach(send));
        }
    }

    /** Makes room for the connections of a verticle; to be called before it listens. */
    Shard shard(Context context) {
        Shard shard = new Shard(context, new Topics(bus));
        shards.add(shard);
        return shard;
    }

    /**
     * Does {@code send} to every connection and then {@code answer} to the sender: whichever loop is the
     * last to have queued calls for it (docs/protocol.md, the ack rule).
     */
    void broadcast(Client sender, Consumer<Client> send, Consumer<Client> answer) {
        inEach(shard -> shard.clients.forEach(send), sender, answer);
    }

    /**
     * Sends the text to every subscriber of the topic and then does {@code answer} to the sender. The bus
     * has given the text to each consumer's loop when {@code publish} returns; a task that comes after it
     * on each loop knows that it has been queued.
     */
    void publish(Client sender, String topic, String text, Consumer<Client> answer) {
        bus.publish(topic, text);
        inEach(shard -> {}, sender, answer);
    }

    private void inEach(Consumer<Shard> task, Client sender, Consumer<Client> answer) {
        List<Shard> all = List.copyOf(shards);
        AtomicInteger pending = new AtomicInteger(all.size());
        for (Shard shard : all) {
            shard.context.runOnContext(now -> {
                task.accept(shard);
                if (pending.decrementAndGet() == 0) {
                    sender.context().runOnContext(last -> answer.accept(sender));
                }
            });
        }
    }

    /** The connections of one verticle, for its own context alone. */
    static final class Shard {
        private final Context context;
        private final Topics topics;
        private final Set<Client> clients = new HashSet<>();

        private Shard(Context context, Topics topics) {
            this.context = context;
            this.topics = topics;
        }

        Topics topics() {
            return topics;
        }

        /** Adds a connection; it leaves by itself when it closes. */
        void join(Client client) {
            clients.add(client);
            client.onClose(() -> {
                clients.remove(client);
                topics.forget(client);
            });
        }
    }
}
