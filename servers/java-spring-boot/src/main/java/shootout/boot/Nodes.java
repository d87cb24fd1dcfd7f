package shootout.boot;

import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.simp.stomp.StompHeaderAccessor;
import org.springframework.messaging.support.MessageHeaderAccessor;
import org.springframework.web.socket.CloseStatus;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The requests of docs/protocol.md on one of several nodes: a broadcast goes to the broker, which has it for
 * the clients of all nodes. Topics stay within their node.
 */
final class Nodes extends Protocol {

    private final MessageChannel toBroker;
    private final Map<Client, Member> members = new ConcurrentHashMap<>();
    private final Map<String, Member> bySession = new ConcurrentHashMap<>();

    Nodes(MessageChannel toBroker) {
        this.toBroker = toBroker;
    }

    /** Waits until the broker has confirmed the client's subscription. */
    @Override
    boolean join(Client client) {
        if (members.containsKey(client)) {
            return true;
        }
        Member member = new Member(client, toBroker);
        members.put(client, member);
        bySession.put(member.session, member);
        return member.join();
    }

    @Override
    void leave(Client client) {
        super.leave(client);
        Member member = members.remove(client);
        if (member != null) {
            bySession.remove(member.session);
            member.leave();
        }
    }

    @Override
    void broadcast(Client sender, Message message, Message result) {
        Member member = members.get(sender);
        if (member != null) {
            member.broadcast(message, result);
        }
    }

    /** What the relay has for a client; the frames of one client come one after the other. */
    void onFrame(org.springframework.messaging.Message<?> frame) {
        StompHeaderAccessor headers = MessageHeaderAccessor.getAccessor(frame, StompHeaderAccessor.class);
        if (headers == null || headers.getCommand() == null || headers.getSessionId() == null) {
            return;
        }
        Member member = bySession.get(headers.getSessionId());
        if (member == null) {
            return;
        }
        switch (headers.getCommand()) {
            case CONNECTED -> member.subscribe();
            case RECEIPT -> member.onReceipt(headers.getReceiptId());
            case MESSAGE -> {
                if (!member.onMessage(headers, (byte[]) frame.getPayload())) {
                    leave(member.client);
                }
            }
            case ERROR -> {
                member.refused();
                member.client.end(CloseStatus.SERVER_ERROR);
            }
            default -> { }
        }
    }
}
