package shootout.jetty;

import org.eclipse.jetty.server.Request;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Every connection whose handshake is being answered or that is open. */
final class Hub {

    private final Set<Client> clients = ConcurrentHashMap.newKeySet();
    private final Topics topics = new Topics();

    /** Adds a client before it is told of its connection: no broadcast sent after that passes it by. */
    Client join(Client client, Request handshake) {
        clients.add(client);
        Request.addCompletionListener(handshake, failure -> {
            if (failure != null) {
                leave(client);
            }
        });
        return client;
    }

    void leave(Client client) {
        clients.remove(client);
        topics.leave(client);
    }

    Topics topics() {
        return topics;
    }

    /** Queues the message on every connection and then the result on the sender's. */
    void broadcast(Client sender, Message message, Message result) {
        clients.forEach(client -> client.send(message));
        sender.send(result);
    }

    void publish(Client sender, String topic, Message message, Message result) {
        topics.publish(topic, message);
        sender.send(result);
    }
}
