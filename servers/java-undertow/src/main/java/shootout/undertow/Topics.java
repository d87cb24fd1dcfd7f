package shootout.undertow;

import org.xnio.XnioIoThread;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The topics that connections of one I/O thread are subscribed to; for that thread alone. */
final class Topics {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,64}");

    private final XnioIoThread thread;
    private final Map<String, Audience> audiences = new HashMap<>();
    private final Map<Client, Set<String>> subscriptions = new HashMap<>();

    Topics(XnioIoThread thread) {
        this.thread = thread;
    }

    static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }

    void subscribe(Client client, String topic) {
        if (subscriptions.computeIfAbsent(client, first -> new HashSet<>()).add(topic)) {
            audiences.computeIfAbsent(topic, first -> new Audience(thread)).add(client);
        }
    }

    void unsubscribe(Client client, String topic) {
        Set<String> subscribed = subscriptions.get(client);
        if (subscribed != null && subscribed.remove(topic)) {
            leave(client, topic);
            if (subscribed.isEmpty()) {
                subscriptions.remove(client);
            }
        }
    }

    /** Ends all subscriptions of a connection that has closed. */
    void forget(Client client) {
        Set<String> subscribed = subscriptions.remove(client);
        if (subscribed != null) {
            subscribed.forEach(topic -> leave(client, topic));
        }
    }

    /** Those who get the topic's messages, or null. */
    Audience subscribers(String topic) {
        return audiences.get(topic);
    }

    private void leave(Client client, String topic) {
        Audience audience = audiences.get(topic);
        audience.remove(client);
        if (audience.isEmpty()) {
            audiences.remove(topic);
        }
    }
}
