package shootout.webflux;

import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.server.support.HandshakeWebSocketService;
import org.springframework.web.reactive.socket.server.upgrade.ReactorNettyRequestUpgradeStrategy;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.WebsocketServerSpec;

/**
 * Adds a client before its handshake is answered: no broadcast sent after that passes it by. The handler
 * is called when the answer is on its way already.
 */
final class JoiningService extends HandshakeWebSocketService {

    private static final int LARGEST_MESSAGE = 16 * 1024 * 1024;

    JoiningService() {
        super(new ReactorNettyRequestUpgradeStrategy(
                () -> WebsocketServerSpec.builder().maxFramePayloadLength(LARGEST_MESSAGE)));
    }

    @Override
    public Mono<Void> handleRequest(ServerWebExchange exchange, WebSocketHandler handler) {
        return super.handleRequest(exchange, ((Connections) handler).join());
    }
}
