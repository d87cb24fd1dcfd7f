package shootout.helidon;

/** One client's place in one topic; its lock keeps what is published behind the answer to the request. */
final class Subscription {

    private final Client client;
    private boolean closed;

    Subscription(Client client) {
        this.client = client;
    }

    /** Does {@code join} and answers, before anything that is published meanwhile. */
    synchronized void open(Message answer, Runnable join) {
        join.run();
        client.send(answer);
    }

    /** Nothing is sent when this has returned. */
    synchronized void close() {
        closed = true;
    }

    synchronized void send(Message message) {
        if (!closed) {
            client.send(message);
        }
    }
}
