package shootout.boot;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.SubscribableChannel;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketHandlerRegistry;

import java.util.concurrent.Executor;

/** Maps every path to the handler of one of several nodes, which hears what the broker has for its clients. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableWebSocket
@Import(RelayConfiguration.class)
class NodesApplication implements WebSocketConfigurer {

    private final Nodes handler;
    private final Executor executor;

    NodesApplication(@Qualifier("clientInboundChannel") MessageChannel toBroker,
            @Qualifier("clientOutboundChannel") SubscribableChannel fromBroker,
            @Qualifier("applicationTaskExecutor") Executor executor) {
        this.handler = new Nodes(toBroker);
        this.executor = executor;
        fromBroker.subscribe(handler::onFrame);
    }

    @Override
    public void registerWebSocketHandlers(WebSocketHandlerRegistry registry) {
        WebSocketApplication.register(registry, handler, executor);
    }
}
