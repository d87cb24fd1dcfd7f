package shootout.helidon;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** What one client is subscribed to. It may close in one thread while another reads its last message. */
final class Subscriptions {

    private final ConcurrentMap<String, Subscription> own = new ConcurrentHashMap<>();
    private volatile boolean over;

    /** The new subscription, or null where there is one. */
    Subscription begin(Client client, String topic) {
        Subscription subscription = new Subscription(client);
        return own.putIfAbsent(topic, subscription) == null ? subscription : null;
    }

    /** The subscription that was there, or null. */
    Subscription end(String topic) {
        return own.remove(topic);
    }

    Map<String, Subscription> endAll() {
        over = true;
        return own;
    }

    boolean over() {
        return over;
    }
}
