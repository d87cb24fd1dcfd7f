package shootout.boot;

import jakarta.websocket.Session;
import org.springframework.web.socket.CloseStatus;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.adapter.NativeWebSocketSession;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A connection, the parts of the message that it is sending to us and the messages that wait for it. It
 * takes messages from any thread, from the handshake on. A thread of the executor sends them one by one.
 */
final class Client {

    private static final int LARGEST_MESSAGE = 16 * 1024 * 1024;
    private static final long MOST_QUEUED = 64L * 1024 * 1024;

    /** In ms, for one message. */
    private static final Long LONGEST_WAIT = 20_000L;

    /** Far more than a handshake takes: a client that is not open then has been lost on the way. */
    private static final long LONGEST_HANDSHAKE = TimeUnit.SECONDS.toNanos(10);

    final Subscriptions subscriptions = new Subscriptions();

    private final Executor executor;
    private final long created = System.nanoTime();
    private final StringBuilder text = new StringBuilder();
    private final ByteArrayOutputStream binary = new ByteArrayOutputStream(0);
    private long received;

    // under the lock of this object; the first is set once
    private WebSocketSession session;
    private final Queue<Message> waiting = new ArrayDeque<>();
    private long queued;
    private boolean sending;
    private boolean cutOff;
    private CloseStatus end;

    Client(Executor executor) {
        this.executor = executor;
    }

    void open(WebSocketSession opened) {
        ((NativeWebSocketSession) opened).getNativeSession(Session.class)
                .getUserProperties().put("org.apache.tomcat.websocket.BLOCKING_SEND_TIMEOUT", LONGEST_WAIT);
        synchronized (this) {
            session = opened;
            if (waiting.isEmpty() && end == null) {
                return;
            }
            sending = true;
        }
        executor.execute(this::sendWaiting);
    }

    /** The whole message when this was its last part, or null. */
    String complete(String part, int size, boolean last) {
        if (tooLarge(size, last)) {
            return null;
        }
        if (last && text.isEmpty()) {
            return part;
        }
        text.append(part);
        if (!last) {
            return null;
        }
        String whole = text.toString();
        text.setLength(0);
        text.trimToSize();
        return whole;
    }

    /** The whole message when this was its last part, or null. */
    byte[] complete(ByteBuffer part, boolean last) {
        if (tooLarge(part.remaining(), last)) {
            return null;
        }
        byte[] bytes = new byte[part.remaining()];
        part.get(bytes);
        if (last && binary.size() == 0) {
            return bytes;
        }
        binary.writeBytes(bytes);
        if (!last) {
            return null;
        }
        byte[] whole = binary.toByteArray();
        binary.reset();
        return whole;
    }

    private boolean tooLarge(int size, boolean last) {
        received += size;
        boolean tooLarge = received > LARGEST_MESSAGE;
        if (tooLarge) {
            close(CloseStatus.TOO_BIG_TO_PROCESS);
        } else if (last) {
            received = 0;
        }
        return tooLarge;
    }

    /** Never waits. False when this client is lost and takes no more messages. */
    boolean send(Message message) {
        synchronized (this) {
            if (end != null) {
                return false;
            }
            // One message is always taken: JSON numbers may grow when they are written anew.
            if (cutOff || lost() || queued > 0 && queued + message.size() > MOST_QUEUED) {
                cutOff();
                return false;
            }
            queued += message.size();
            waiting.add(message);
            if (sending || session == null) {
                return true;
            }
            sending = true;
        }
        executor.execute(this::sendWaiting);
        return true;
    }

    /** Closes the connection behind what waits. */
    void end(CloseStatus status) {
        synchronized (this) {
            end = status;
            if (sending || session == null) {
                return;
            }
            sending = true;
        }
        executor.execute(this::sendWaiting);
    }

    private boolean lost() {
        return session == null && System.nanoTime() - created > LONGEST_HANDSHAKE;
    }

    /** Sends what waits, with sends that wait for the peer. */
    private void sendWaiting() {
        try {
            for (Message message = next(); message != null; message = next()) {
                session.sendMessage(message.content());
                sent(message.size());
            }
            CloseStatus status = ending();
            if (status != null) {
                close(status);
            }
        } catch (IOException | IllegalStateException | UncheckedIOException broken) {
            return; // what waits goes with this object
        }
    }

    private synchronized Message next() {
        Message message = waiting.poll();
        sending = message != null;
        return message;
    }

    private synchronized CloseStatus ending() {
        return sending ? null : end;
    }

    private synchronized void sent(int size) {
        queued -= size;
    }

    private void cutOff() {
        if (cutOff) {
            return;
        }
        cutOff = true;
        waiting.clear();
        if (session != null) {
            // Tomcat's close waits for the message that is being sent.
            executor.execute(() -> close(CloseStatus.SESSION_NOT_RELIABLE));
        }
    }

    private void close(CloseStatus status) {
        try {
            session.close(status);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }
}
