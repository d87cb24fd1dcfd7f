package shootout.boot;

import org.springframework.http.HttpStatus;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.web.socket.WebSocketHandler;
import org.springframework.web.socket.server.HandshakeHandler;
import org.springframework.web.socket.server.support.DefaultHandshakeHandler;

import java.util.Map;
import java.util.concurrent.Executor;

/**
 * Adds a client before its handshake is answered: no broadcast sent after that passes it by. Tomcat tells
 * of the open session when the answer is on its way already.
 */
final class JoiningHandshake implements HandshakeHandler {

    private final HandshakeHandler standard = new DefaultHandshakeHandler();
    private final Handler handler;
    private final Executor executor;

    JoiningHandshake(Handler handler, Executor executor) {
        this.handler = handler;
        this.executor = executor;
    }

    @Override
    public boolean doHandshake(ServerHttpRequest request, ServerHttpResponse response,
            WebSocketHandler decorated, Map<String, Object> attributes) {
        Client client = new Client(executor);
        attributes.put(Handler.CLIENT, client);
        boolean upgraded = false;
        try {
            if (!handler.join(client)) {
                response.setStatusCode(HttpStatus.SERVICE_UNAVAILABLE);
                return false;
            }
            upgraded = standard.doHandshake(request, response, decorated, attributes);
        } finally {
            if (!upgraded) {
                handler.leave(client);
            }
        }
        return upgraded;
    }
}
