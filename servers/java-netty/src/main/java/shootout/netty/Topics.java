package shootout.netty;

import io.netty.channel.Channel;
import io.netty.util.concurrent.EventExecutor;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The topics that connections of one event loop are subscribed to; for that loop alone. */
final class Topics {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,64}");

    private final EventExecutor loop;
    private final Map<String, Audience> audiences = new HashMap<>();
    private final Map<Channel, Set<String>> subscriptions = new HashMap<>();

    Topics(EventExecutor loop) {
        this.loop = loop;
    }

    static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }

    void subscribe(Channel channel, String topic) {
        if (subscriptions.computeIfAbsent(channel, first -> new HashSet<>()).add(topic)) {
            audiences.computeIfAbsent(topic, first -> new Audience(loop)).add(channel);
        }
    }

    void unsubscribe(Channel channel, String topic) {
        Set<String> subscribed = subscriptions.get(channel);
        if (subscribed != null && subscribed.remove(topic)) {
            leave(channel, topic);
            if (subscribed.isEmpty()) {
                subscriptions.remove(channel);
            }
        }
    }

    /** Ends all subscriptions of a connection that has closed. */
    void forget(Channel channel) {
        Set<String> subscribed = subscriptions.remove(channel);
        if (subscribed != null) {
            subscribed.forEach(topic -> leave(channel, topic));
        }
    }

    /** Those who get the topic's messages, or null. */
    Audience subscribers(String topic) {
        return audiences.get(topic);
    }

    private void leave(Channel channel, String topic) {
        Audience audience = audiences.get(topic);
        if (audience == null) {
            return; // closed connections have left the group: it was empty before the last of them came here
        }
        audience.remove(channel);
        if (audience.isEmpty()) {
            audiences.remove(topic);
        }
    }
}
