package shootout.helidon;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.regex.Pattern;

/** Who is subscribed to what. Holds no lock of its own while it sends, so that publications run side by side. */
final class Topics {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,64}");

    private final ConcurrentMap<String, Set<Subscription>> subscribers = new ConcurrentHashMap<>();

    static boolean isName(String text) {
        return NAME.matcher(text).matches();
    }

    /** Nothing of the topic comes before the answer. */
    void subscribe(Client client, String topic, Message answer) {
        Subscription subscription = client.subscriptions.begin(client, topic);
        if (subscription == null) {
            client.send(answer);
            return;
        }
        subscription.open(answer, () -> subscribers.compute(topic, (name, present) -> {
            Set<Subscription> all = present == null ? ConcurrentHashMap.newKeySet() : present;
            all.add(subscription);
            return all;
        }));
        if (client.subscriptions.over()) {
            remove(topic, subscription); // the client has closed meanwhile
        }
    }

    /** Nothing of the topic comes after the answer. */
    void unsubscribe(Client client, String topic, Message answer) {
        Subscription subscription = client.subscriptions.end(topic);
        if (subscription != null) {
            remove(topic, subscription);
            subscription.close();
        }
        client.send(answer);
    }

    /** Ends all subscriptions of a client that has closed. */
    void leave(Client client) {
        client.subscriptions.endAll().forEach(this::remove);
    }

    /** Queues the message on every subscriber's connection. */
    void publish(String topic, Message message) {
        subscribers.getOrDefault(topic, Set.of()).forEach(subscription -> subscription.send(message));
    }

    private void remove(String topic, Subscription subscription) {
        subscribers.computeIfPresent(topic, (name, all) -> {
            all.remove(subscription);
            return all.isEmpty() ? null : all;
        });
    }
}
