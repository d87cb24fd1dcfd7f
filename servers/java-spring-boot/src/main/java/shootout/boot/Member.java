package shootout.boot;

import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.simp.stomp.StompCommand;
import org.springframework.messaging.simp.stomp.StompHeaderAccessor;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.util.MimeType;
import org.springframework.util.MimeTypeUtils;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** A client's session with the broker: one subscription, and the broadcasts of the client. */
final class Member {

    /** What the relay passes on begins with this. */
    static final String TOPICS = "/topic/";

    private static final String EVERYONE = TOPICS + "all";
    private static final String SUBSCRIBED = "subscribed";

    /** A header of a broadcast, which comes back with it. */
    private static final String REQUEST = "request";

    private static final byte[] NOTHING = {};

    /** In seconds, for the broker's connection and the subscription. */
    private static final long LONGEST_JOIN = 10;

    final String session = UUID.randomUUID().toString();
    final Client client;

    private final MessageChannel toBroker;
    private final CompletableFuture<Boolean> joined = new CompletableFuture<>();

    private final Map<String, Message> results = Collections.synchronizedMap(new HashMap<>());
    private final AtomicLong requests = new AtomicLong();

    Member(Client client, MessageChannel toBroker) {
        this.client = client;
        this.toBroker = toBroker;
    }

    /** False when the broker has not confirmed the subscription. */
    boolean join() {
        StompHeaderAccessor connect = StompHeaderAccessor.create(StompCommand.CONNECT);
        connect.setAcceptVersion("1.2");
        send(connect, NOTHING);
        try {
            return joined.get(LONGEST_JOIN, TimeUnit.SECONDS);
        } catch (TimeoutException late) {
            return false;
        } catch (InterruptedException ending) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    void subscribe() {
        StompHeaderAccessor subscribe = StompHeaderAccessor.create(StompCommand.SUBSCRIBE);
        subscribe.setSubscriptionId("0");
        subscribe.setDestination(EVERYONE);
        subscribe.setReceipt(SUBSCRIBED);
        send(subscribe, NOTHING);
    }

    void refused() {
        joined.complete(false);
    }

    void leave() {
        send(StompHeaderAccessor.create(StompCommand.DISCONNECT), NOTHING);
    }

    /** Asks for no receipt: RabbitMQ's STOMP would end this session when another client's queue goes meanwhile. */
    void broadcast(Message message, Message result) {
        StompHeaderAccessor send = StompHeaderAccessor.create(StompCommand.SEND);
        send.setDestination(EVERYONE);
        send.setContentType(message.isText() ? MimeTypeUtils.APPLICATION_JSON : MimeTypeUtils.APPLICATION_OCTET_STREAM);
        String request = session + " " + requests.incrementAndGet();
        results.put(request, result);
        send.setNativeHeader(REQUEST, request);
        send(send, message.bytes());
    }

    void onReceipt(String receipt) {
        if (SUBSCRIBED.equals(receipt)) {
            joined.complete(true);
        }
    }

    /**
     * The sender's result follows its broadcast, which the broker has put into everyone's queue by then. False
     * when the client is lost and takes no more messages.
     */
    boolean onMessage(StompHeaderAccessor headers, byte[] payload) {
        MimeType type = headers.getContentType();
        boolean text = MimeTypeUtils.APPLICATION_JSON.equalsTypeAndSubtype(type);
        boolean taken = client.send(text ? Message.text(payload) : Message.binary(payload));
        Message result = results.remove(headers.getFirstNativeHeader(REQUEST));
        if (result != null) {
            client.send(result);
        }
        return taken;
    }

    private void send(StompHeaderAccessor headers, byte[] payload) {
        headers.setSessionId(session);
        toBroker.send(MessageBuilder.createMessage(payload, headers.getMessageHeaders()));
    }
}
