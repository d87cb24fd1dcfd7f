package shootout.webflux;

import org.springframework.web.reactive.socket.CloseStatus;
import org.springframework.web.reactive.socket.WebSocketSession;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A connection and the messages that wait for it, which any thread may send from its handshake on. */
final class Client {

    private static final long MOST_QUEUED = 64L * 1024 * 1024;

    final Subscriptions subscriptions = new Subscriptions();

    // under the lock of this object
    private final Sinks.Many<Message> waiting = Sinks.unsafe().many().unicast().onBackpressureBuffer();
    private long queued;
    private boolean cutOff;

    /** Never waits. False when this client takes no more messages. */
    synchronized boolean send(Message message) {
        // One message is always taken: JSON numbers may grow when they are written anew.
        if (!cutOff && queued > 0 && queued + message.size() > MOST_QUEUED) {
            cutOff = true;
            waiting.tryEmitError(new IllegalStateException("too much waits"));
        }
        if (cutOff) {
            return false;
        }
        queued += message.size();
        waiting.tryEmitNext(message);
        return true;
    }

    private synchronized void sent(Message message) {
        queued -= message.size();
    }

    /** Sends what waits, until the connection ends. */
    Mono<Void> sendAll(WebSocketSession session) {
        return waiting.asFlux()
                .concatMap(message -> session.send(Mono.just(message.to(session)))
                        .doOnSuccess(done -> sent(message)), 1)
                .then()
                .onErrorResume(IllegalStateException.class, tooMuch -> session.close(CloseStatus.POLICY_VIOLATION));
    }
}
