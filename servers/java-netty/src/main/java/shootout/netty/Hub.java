package shootout.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.ChannelMatchers;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.concurrent.EventExecutor;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Every open connection, in one {@link ChannelGroup} per event loop, so that a broadcast costs each
 * loop one task and not one per connection.
 */
final class Hub {

    private final Map<EventExecutor, Shard> shards = new HashMap<>();

    Hub(EventLoopGroup loops) {
        for (EventExecutor loop : loops) {
            shards.put(loop, new Shard(loop));
        }
    }

    /** Adds a connection; it leaves by itself when it closes. */
    void join(Channel channel) {
        shards.get(channel.eventLoop()).group.add(channel);
    }

    /**
     * Writes the message to every connection, and then the result to the sender: whichever loop is
     * the last to have queued its writes sends it (docs/protocol.md, the ack rule). Called on the
     * sender's loop. Takes over both frames.
     */
    void broadcast(ChannelHandlerContext sender, WebSocketFrame message, WebSocketFrame result) {
        AtomicInteger pending = new AtomicInteger(shards.size());
        for (Shard shard : shards.values()) {
            WebSocketFrame shared = message.retainedDuplicate();
            shard.loop.execute(() -> {
                shard.write(shared);
                if (pending.decrementAndGet() == 0) {
                    sender.executor().execute(() -> sender.writeAndFlush(result));
                }
            });
        }
        message.release();
    }

    /** The connections of one event loop; {@link #write} runs on that loop alone. */
    private static final class Shard {
        private final EventExecutor loop;
        private final ChannelGroup group;
        private boolean flushPending;

        private Shard(EventExecutor loop) {
            this.loop = loop;
            this.group = new DefaultChannelGroup(loop);
        }

        /** Queues the frame on every connection; all broadcasts that wait in this loop share one flush. */
        private void write(WebSocketFrame frame) {
            group.write(frame, ChannelMatchers.all(), true);
            if (!flushPending) {
                flushPending = true;
                loop.execute(() -> {
                    flushPending = false;
                    group.flush();
                });
            }
        }
    }
}
