package shootout.vertx;

import io.vertx.core.Context;

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

    private final List<Shard> shards = new CopyOnWriteArrayList<>();

    /** Makes room for the connections of a verticle; to be called before it listens. */
    Shard shard(Context context) {
        Shard shard = new Shard(context);
        shards.add(shard);
        return shard;
    }

    /**
     * Does {@code send} to every connection and then {@code answer} to the sender: whichever loop is the
     * last to have queued calls for it (docs/protocol.md, the ack rule).
     */
    void broadcast(Client sender, Consumer<Client> send, Consumer<Client> answer) {
        List<Shard> all = List.copyOf(shards);
        AtomicInteger pending = new AtomicInteger(all.size());
        for (Shard shard : all) {
            shard.context.runOnContext(now -> {
                shard.clients.forEach(send);
                if (pending.decrementAndGet() == 0) {
                    sender.context().runOnContext(last -> answer.accept(sender));
                }
            });
        }
    }

    /** The connections of one verticle, for its own context alone. */
    static final class Shard {
        private final Context context;
        private final Set<Client> clients = new HashSet<>();

        private Shard(Context context) {
            this.context = context;
        }

        /** Adds a connection; it leaves by itself when it closes. */
        void join(Client client) {
            clients.add(client);
            client.onClose(() -> clients.remove(client));
        }
    }
}
