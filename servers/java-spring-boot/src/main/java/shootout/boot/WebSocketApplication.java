package shootout.boot;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketHandlerRegistry;

import java.util.concurrent.Executor;

/** Maps every path to the one handler. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableWebSocket
class WebSocketApplication implements WebSocketConfigurer {

    private final Options options;
    private final Executor executor;

    WebSocketApplication(Options options, @Qualifier("applicationTaskExecutor") Executor executor) {
        this.options = options;
        this.executor = executor;
    }

    @Override
    public void registerWebSocketHandlers(WebSocketHandlerRegistry registry) {
        register(registry, options.rawEcho() ? new RawEcho() : new Protocol(), executor);
    }

    static void register(WebSocketHandlerRegistry registry, Handler handler, Executor executor) {
        registry.addHandler(handler, "/**")
                .setHandshakeHandler(new JoiningHandshake(handler, executor))
                .setAllowedOrigins("*");
    }
}
