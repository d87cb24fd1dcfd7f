package shootout.vertx;

import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.MessageConsumer;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Pattern;

/**
 * The topics that connections of one verticle are subscribed to, for its own context alone. A topic is an
 * address of the event bus, with one consumer for all of the verticle's subscribers.
 */
final class Topics {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,64}");

    // It warns of each message that was on its way when the last subscriber left. Kept here, since the
    // log manager itself would forget the level.
    private static final Logger DISCARDED = Logger.getLogger("io.vertx.core.eventbus.impl.MessageConsumerImpl");

    static {
        DISCARDED.setLevel(Level.OFF);
    }

    private final EventBus bus;
    private final Map<String, Subscribers> topics = new HashMap<>();
    private final Map<Client, Set<String>> subscriptions = new HashMap<>();

    Topics(EventBus bus) {
        this.bus = bus;
    }

    static boolean isName(Object value) {
        return value instanceof String text && NAME.matcher(text).matches();
    }

    void subscribe(Client client, String topic) {
        if (subscriptions.computeIfAbsent(client, first -> new HashSet<>()).add(topic)) {
            topics.computeIfAbsent(topic, first -> new Subscribers(bus, topic)).clients.add(client);
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

    private void leave(Client client, String topic) {
        Subscribers subscribers = topics.get(topic);
        subscribers.clients.remove(client);
        if (subscribers.clients.isEmpty()) {
            topics.remove(topic);
            subscribers.consumer.unregister();
        }
    }

    private static final class Subscribers {
        private final Set<Client> clients = new HashSet<>();
        private final MessageConsumer<String> consumer;

        private Subscribers(EventBus bus, String topic) {
            consumer = bus.localConsumer(topic, message -> {
                String text = message.body();
                clients.forEach(client -> client.send(text));
            });
        }
    }
}
