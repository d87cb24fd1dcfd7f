package shootout.vertx;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.net.OpenSSLEngineOptions;
import io.vertx.core.net.PemKeyCertOptions;

/** One event loop and its share of the connections: all verticles listen on the same port. */
final class WebSocketVerticle extends VerticleBase {

    /** The kernel lowers it to net.core.somaxconn. */
    private static final int BACKLOG = 4096;

    private final Options options;
    private final Hub hub;

    WebSocketVerticle(Options options, Hub hub) {
        this.options = options;
        this.hub = hub;
    }

    @Override
    public Future<?> start() {
        Hub.Shard shard = hub.shard(context);
        HttpServerOptions http = new HttpServerOptions()
                .setHost(options.host())
                .setPort(options.port())
                .setAcceptBacklog(BACKLOG)
                .setMaxWebSocketFrameSize(Messages.LARGEST)
                .setMaxWebSocketMessageSize(Messages.LARGEST)
                .setPerMessageWebSocketCompressionSupported(options.deflate())
                .setWebSocketAllowServerNoContext(true)
                .setWebSocketPreferredClientNoContext(true)
                .setPerFrameWebSocketCompressionSupported(false);
        if (options.tlsCert() != null) {
            // A WebSocket is HTTP/1.1 here, so that no other version is offered.
            http.setSsl(true)
                    .setUseAlpn(false)
                    .setSslEngineOptions(new OpenSSLEngineOptions())
                    .setKeyCertOptions(new PemKeyCertOptions()
                            .setCertPath(options.tlsCert())
                            .setKeyPath(options.tlsKey()));
        }
        return vertx.createHttpServer(http)
                .webSocketHandler(socket -> serve(socket, shard))
                .listen();
    }

    private void serve(ServerWebSocket socket, Hub.Shard shard) {
        Client client = new Client(socket, context);
        if (options.rawEcho()) {
            client.onMessage(client::send, client::send);
        } else {
            Protocol protocol = new Protocol(client, hub, shard.topics());
            client.onMessage(protocol::onText, protocol::onBinary);
            shard.join(client);
        }
    }
}
