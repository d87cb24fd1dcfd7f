package shootout.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.concurrent.EventExecutor;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * Every open connection and every subscription, apart for each event loop, so that a broadcast costs
 * each loop one task and not one per connection.
 */
final class Hub {

    private final Map<EventExecutor, Shard> shards = new HashMap<>();

    Hub(EventLoopGroup loops) {
        for (EventExecutor loop : loops) {
            shards.put(loop, new Shard(loop, new Audience(loop), new Topics(loop)));
        }
    }

    /** Adds a connection; it leaves by itself when it closes. */
    void join(Channel channel) {
        shards.get(channel.eventLoop()).all.add(channel);
    }

    /** The topics of a connection's loop. */
    Topics topics(Channel channel) {
        return shards.get(channel.eventLoop()).topics;
    }

    void broadcast(ChannelHandlerContext sender, WebSocketFrame message, WebSocketFrame result) {
        send(sender, Shard::all, message, result);
    }

    void publish(ChannelHandlerContext sender, String topic, WebSocketFrame message, WebSocketFrame result) {
        send(sender, shard -> shard.topics.subscribers(topic), message, result);
    }

    /**
     * Writes the message to the audience of every loop, and then the result to the sender: whichever
     * loop is the last to have queued its writes sends it (docs/protocol.md, the ack rule). Called on
     * the sender's loop. Takes over both frames.
     */
    private void send(
            ChannelHandlerContext sender,
            Function<Shard, Audience> audience,
            WebSocketFrame message,
            WebSocketFrame result) {
        AtomicInteger pending = new AtomicInteger(shards.size());
        for (Shard shard : shards.values()) {
            WebSocketFrame shared = message.retainedDuplicate();
            shard.loop.execute(() -> {
                Audience receivers = audience.apply(shard);
                if (receivers == null) {
                    shared.release();
                } else {
                    receivers.write(shared);
                }
                if (pending.decrementAndGet() == 0) {
                    sender.executor().execute(() -> sender.writeAndFlush(result));
                }
            });
        }
        message.release();
    }

    private record Shard(EventExecutor loop, Audience all, Topics topics) {}
}
