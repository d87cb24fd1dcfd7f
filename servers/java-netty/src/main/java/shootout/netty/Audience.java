package shootout.netty;

import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.ChannelMatchers;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.concurrent.EventExecutor;

/** Connections of one event loop that get the same messages; for that loop alone. */
final class Audience {

    private final EventExecutor loop;
    private final ChannelGroup group;
    private boolean flushPending;

    Audience(EventExecutor loop) {
        this.loop = loop;
        this.group = new DefaultChannelGroup(loop);
    }

    /** Adds a connection; it leaves by itself when it closes. */
    void add(Channel channel) {
        group.add(channel);
    }

    void remove(Channel channel) {
        group.remove(channel);
    }

    boolean isEmpty() {
        return group.isEmpty();
    }

    /** Queues the frame on every connection; all frames that wait in this loop share one flush. */
    void write(WebSocketFrame frame) {
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
