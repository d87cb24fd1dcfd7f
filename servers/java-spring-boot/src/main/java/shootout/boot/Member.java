package shootout.boot;

import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.simp.stomp.StompCommand;
import org.springframework.messaging.simp.stomp.StompHeaderAccessor;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.util.MimeType;
import org.springframework.util.MimeTypeUtils;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

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

    // under the lock of this object
    private final Map<String, Message> unconfirmed = new HashMap<>();
    private final Map<String, Message> undelivered = new HashMap<>();
    private long requests;

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

    void broadcast(Message message, Message result) {
        StompHeaderAccessor send = StompHeaderAccessor.create(StompCommand.SEND);
        send.setDestination(EVERYONE);
        send.setContentType(message.isText() ? MimeTypeUtils.APPLICATION_JSON : MimeTypeUtils.APPLICATION_OCTET_STREAM);
        String request;
        synchronized (this) {
            request = session + " " + ++requests;
            unconfirmed.put(request, result);
            undelivered.put(request, result);
        }
        send.setNativeHeader(REQUEST, request);
        send.setReceipt(request);
        send(send, message.bytes());
    }

    void onReceipt(String receipt) {
        if (SUBSCRIBED.equals(receipt)) {
            joined.complete(true);
            return;
        }
        answer(receipt, unconfirmed, undelivered);
    }

    /** False when the client is lost and takes no more messages. */
    boolean onMessage(StompHeaderAccessor headers, byte[] payload) {
        MimeType type = headers.getContentType();
        boolean text = MimeTypeUtils.APPLICATION_JSON.equalsTypeAndSubtype(type);
        boolean taken = client.send(text ? Message.text(payload) : Message.binary(payload));
        answer(headers.getFirstNativeHeader(REQUEST), undelivered, unconfirmed);
        return taken;
    }

    /** Sends the result when the broker has confirmed the broadcast and the sender has it. */
    private void answer(String request, Map<String, Message> happened, Map<String, Message> awaited) {
        Message result;
        synchronized (this) {
            result = happened.remove(request);
            if (awaited.containsKey(request)) {
                return;
            }
        }
        if (result != null) {
            client.send(result);
        }
    }

    private void send(StompHeaderAccessor headers, byte[] payload) {
        headers.setSessionId(session);
        toBroker.send(MessageBuilder.createMessage(payload, headers.getMessageHeaders()));
    }
}
